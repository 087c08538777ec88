// Two-factor authentication: one-time codes of an authenticator app (RFC 6238) and recovery codes.
// Owns the rule that each code works once.
import { createHash, randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { renderSVG } from 'uqr';
import { ApiError, invalid } from '../../../common/contract/errors.ts';
import { createEncryption, type Encryption } from '../../../common/encryption.ts';
import type { Store, UserDocument } from '../../store/store.ts';

const PERIOD_S = 30;
/** Supported by every authenticator app. The secret has 160 bits (RFC 4226, section 4). */
const CODE = { algorithm: 'SHA1', digits: 6, period: PERIOD_S };
const SECRET_BYTES = 20;
/** Clocks may differ by one step in either direction. */
const WINDOW = 1;
const RECOVERY_CODES = 10;
/** 79 random bits: a stolen hash cannot be reversed. Without letters that look alike. */
const RECOVERY_ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz';
const RECOVERY_LENGTH = 16;
/** How long a new secret can be confirmed. */
const PENDING_MS = 15 * 60_000;

/** Also used by the command line, for a user who lost the app and the recovery codes. */
export async function twoFactorOff(store: Store, userId: string): Promise<void> {
  await store.limited(
    store.console.users.updateOne(
      { _id: userId },
      { $unset: { twoFactor: 1, twoFactorPending: 1 } },
      store.limits,
    ),
  );
}

type UpdateArguments = Parameters<Store['console']['users']['updateOne']>;

const recoveryHash = (code: string) =>
  createHash('sha256')
    .update(code.toLowerCase().replace(/[^0-9a-z]/g, ''))
    .digest('base64url');

const newRecoveryCode = () =>
  Array.from(
    { length: RECOVERY_LENGTH },
    () => RECOVERY_ALPHABET[randomInt(RECOVERY_ALPHABET.length)],
  )
    .join('')
    .replace(/(.{4})(?=.)/g, '$1-');

const newRecoveryCodes = () => Array.from({ length: RECOVERY_CODES }, newRecoveryCode);

/** The time step of a correct code; undefined for a wrong one. */
function stepOf(secret: string, code: string, atMs: number): number | undefined {
  const delta = TOTP.validate({
    token: code,
    secret: Secret.fromBase32(secret),
    ...CODE,
    window: WINDOW,
    timestamp: atMs,
  });
  return delta === null ? undefined : TOTP.counter({ period: PERIOD_S, timestamp: atMs }) + delta;
}

export class TwoFactor {
  readonly #store: Store;
  readonly #label: string;
  readonly #now: () => number;
  readonly #encryption: Encryption;

  /** `label`: the name of the installation in the authenticator app. */
  constructor(
    store: Store,
    { secret, label }: { secret: string; label: string },
    now = () => Date.now(),
  ) {
    this.#store = store;
    this.#label = label;
    this.#now = now;
    this.#encryption = createEncryption(secret, 'two-factor');
  }

  /**
   * Creates a secret, which takes effect once it is confirmed. Rejects with ApiError `conflict`
   * when two-factor authentication is already on.
   */
  async begin(user: UserDocument): Promise<{ secret: string; uri: string; qrSvg: string }> {
    const secret = new Secret({ size: SECRET_BYTES });
    const begun = await this.#update(
      { _id: user._id, twoFactor: { $exists: false } },
      {
        $set: {
          twoFactorPending: {
            secret: this.#encryption.encrypt(secret.base32, user._id),
            at: new Date(this.#now()),
          },
        },
      },
    );
    if (begun.matchedCount === 0)
      throw new ApiError(
        'conflict',
        'Two-factor authentication is already on. Turn it off before you set it up again.',
      );
    const uri = new TOTP({ issuer: this.#label, label: user.email, secret, ...CODE }).toString();
    return { secret: secret.base32, uri, qrSvg: renderSVG(uri, { border: 2 }) };
  }

  /**
   * Turns it on and returns the recovery codes. Rejects with ApiError `validation_error` for a
   * wrong code, `conflict` when no secret is pending.
   */
  async confirm(user: UserDocument, code: string): Promise<string[]> {
    const pending = user.twoFactorPending;
    if (!pending || this.#now() - pending.at.getTime() > PENDING_MS)
      throw new ApiError(
        'conflict',
        'The two-factor setup was not started or has expired. Start again.',
      );
    const secret = this.#decrypt(pending.secret, user);
    const lastStep = stepOf(secret, code.replaceAll(' ', ''), this.#now());
    if (lastStep === undefined)
      throw invalid("`code` is incorrect. Check your device's clock and try the next code.");
    const codes = newRecoveryCodes();
    const confirmed = await this.#update(
      { _id: user._id, 'twoFactorPending.secret': pending.secret, twoFactor: { $exists: false } },
      {
        $set: {
          twoFactor: {
            secret: pending.secret,
            recoveryCodes: codes.map(recoveryHash),
            lastStep,
            confirmedAt: new Date(this.#now()),
          },
        },
        $unset: { twoFactorPending: 1 },
      },
    );
    if (confirmed.matchedCount === 0)
      throw new ApiError(
        'conflict',
        'The two-factor settings were changed at the same time. Reload the page.',
      );
    return codes;
  }

  /** Consumes a code of the app or a recovery code. False when it is wrong or was used. */
  async use(user: UserDocument, typed: string): Promise<false | 'app' | 'recovery'> {
    if (!user.twoFactor) return false;
    const code = typed.replace(/[\s-]/g, '');
    if (/^\d{6}$/.test(code))
      return (await this.#consumeAppCode(user, user.twoFactor.secret, code)) && 'app';
    return (await this.#consumeRecoveryCode(user._id, code)) && 'recovery';
  }

  /** Replaces the recovery codes. */
  async renewRecoveryCodes(userId: string): Promise<string[]> {
    const codes = newRecoveryCodes();
    const renewed = await this.#update(
      { _id: userId, twoFactor: { $exists: true } },
      { $set: { 'twoFactor.recoveryCodes': codes.map(recoveryHash) } },
    );
    if (renewed.matchedCount === 0)
      throw new ApiError(
        'conflict',
        'Two-factor authentication is off, so there are no recovery codes.',
      );
    return codes;
  }

  off(userId: string): Promise<void> {
    return twoFactorOff(this.#store, userId);
  }

  async #consumeAppCode(user: UserDocument, encrypted: string, code: string): Promise<boolean> {
    const step = stepOf(this.#decrypt(encrypted, user), code, this.#now());
    if (step === undefined) return false;
    // Of concurrent requests with the same code only one advances the step.
    const used = await this.#update(
      { _id: user._id, 'twoFactor.secret': encrypted, 'twoFactor.lastStep': { $lt: step } },
      { $set: { 'twoFactor.lastStep': step } },
    );
    return used.matchedCount > 0;
  }

  async #consumeRecoveryCode(userId: string, code: string): Promise<boolean> {
    const hash = recoveryHash(code);
    const used = await this.#update(
      { _id: userId, 'twoFactor.recoveryCodes': hash },
      { $pull: { 'twoFactor.recoveryCodes': hash } },
    );
    return used.modifiedCount > 0;
  }

  #decrypt(encrypted: string, user: UserDocument): string {
    const text = this.#encryption.decrypt(encrypted, user._id);
    if (text === undefined)
      throw new ApiError(
        'conflict',
        'Codes of the app cannot be checked because PRESSROOM_SECRET has changed. Use a recovery code, or ask your administrator to restore the previous secret.',
      );
    return text;
  }

  #update(filter: UpdateArguments[0], update: UpdateArguments[1]) {
    const { console, limited, limits } = this.#store;
    return limited(console.users.updateOne(filter, update, limits));
  }
}
