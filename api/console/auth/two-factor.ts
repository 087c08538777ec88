// The second factor: one-time codes of an app (RFC 6238), and recovery codes for when the app is
// gone. Owns that each code works once.
import { createHash, randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { renderSVG } from 'uqr';
import { ApiError, invalid } from '../../../common/contract/errors.ts';
import type { Store, UserDocument } from '../../store/store.ts';
import { createEncryption } from '../security/encryption.ts';

const PERIOD_S = 30;
/** What every app understands. The secret has 160 bits (RFC 4226, section 4). */
const CODE = { algorithm: 'SHA1', digits: 6, period: PERIOD_S };
const SECRET_BYTES = 20;
/** One step of difference between two clocks, either way. */
const WINDOW = 1;
const RECOVERY_CODES = 10;
/** 80 random bits: a stolen hash cannot be guessed back. Without letters that look alike. */
const RECOVERY_ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz';
const RECOVERY_LENGTH = 16;
/** For as long as a secret that was shown may be confirmed. */
const PENDING_MS = 15 * 60_000;

/** Also for who has lost everything: whoever holds the database may. */
export async function twoFactorOff(store: Store, userId: string): Promise<void> {
  await store.limited(
    store.console.users.updateOne(
      { _id: userId },
      { $unset: { twoFactor: 1, twoFactorPending: 1 } },
      store.limits,
    ),
  );
}

export interface TwoFactor {
  /**
   * A new secret, which counts when it is confirmed. Rejects with ApiError `conflict` when the
   * second factor is on.
   */
  begin(user: UserDocument): Promise<{ secret: string; uri: string; qrSvg: string }>;
  /**
   * Switches it on and returns the recovery codes. Rejects with ApiError `validation_error` for a
   * wrong code, `conflict` when nothing waits for one.
   */
  confirm(user: UserDocument, code: string): Promise<string[]>;
  /** Uses up a code of the app or a recovery code. False when it is wrong or was used. */
  use(user: UserDocument, code: string): Promise<false | 'app' | 'recovery'>;
  /** New recovery codes; the former ones are void. */
  renewRecoveryCodes(userId: string): Promise<string[]>;
  off(userId: string): Promise<void>;
}

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

/** The time step of a right code, else undefined. */
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

/** `label`: which installation it is, for the list in the app. */
export function createTwoFactor(
  store: Store,
  { secret, label }: { secret: string; label: string },
  now = () => Date.now(),
): TwoFactor {
  const { users } = store.console;
  const { limits, limited } = store;
  const encryption = createEncryption(secret, 'two-factor');

  function opened(encrypted: string, user: UserDocument): string {
    const text = encryption.decrypt(encrypted, user._id);
    if (text === undefined)
      throw new ApiError(
        'conflict',
        'Codes of the app cannot be checked: PRESSROOM_SECRET is not the one that they were set up with. Use a recovery code, or have the former secret restored.',
      );
    return text;
  }

  async function begin(user: UserDocument) {
    const made = new Secret({ size: SECRET_BYTES });
    const pending = { secret: encryption.encrypt(made.base32, user._id), at: new Date(now()) };
    const begun = await limited(
      users.updateOne(
        { _id: user._id, twoFactor: { $exists: false } },
        { $set: { twoFactorPending: pending } },
        limits,
      ),
    );
    if (begun.matchedCount === 0)
      throw new ApiError(
        'conflict',
        'The second factor is on. Switch it off before you set it up anew.',
      );
    const uri = new TOTP({ issuer: label, label: user.email, secret: made, ...CODE }).toString();
    return { secret: made.base32, uri, qrSvg: renderSVG(uri, { border: 2 }) };
  }

  async function confirm(user: UserDocument, code: string): Promise<string[]> {
    const pending = user.twoFactorPending;
    if (!pending || now() - pending.at.getTime() > PENDING_MS)
      throw new ApiError(
        'conflict',
        'Nothing waits for a code, or it waited for too long. Begin again.',
      );
    const lastStep = stepOf(opened(pending.secret, user), code.replaceAll(' ', ''), now());
    if (lastStep === undefined)
      throw invalid(
        '`code` is not the one that the app shows now. Check the clock of your device, then try the next one.',
      );
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    const confirmed = await limited(
      users.updateOne(
        { _id: user._id, 'twoFactorPending.secret': pending.secret, twoFactor: { $exists: false } },
        {
          $set: {
            twoFactor: {
              secret: pending.secret,
              recoveryCodes: codes.map(recoveryHash),
              lastStep,
              confirmedAt: new Date(now()),
            },
          },
          $unset: { twoFactorPending: 1 },
        },
        limits,
      ),
    );
    if (confirmed.matchedCount === 0)
      throw new ApiError(
        'conflict',
        'The second factor was changed at the same time. Load the page again.',
      );
    return codes;
  }

  async function takeAppCode(
    user: UserDocument,
    encrypted: string,
    code: string,
  ): Promise<boolean> {
    const step = stepOf(opened(encrypted, user), code, now());
    if (step === undefined) return false;
    // Of two who send the same code at once, one moves the step.
    const used = await limited(
      users.updateOne(
        { _id: user._id, 'twoFactor.secret': encrypted, 'twoFactor.lastStep': { $lt: step } },
        { $set: { 'twoFactor.lastStep': step } },
        limits,
      ),
    );
    return used.matchedCount > 0;
  }

  async function takeRecoveryCode(userId: string, code: string): Promise<boolean> {
    const hash = recoveryHash(code);
    const used = await limited(
      users.updateOne(
        { _id: userId, 'twoFactor.recoveryCodes': hash },
        { $pull: { 'twoFactor.recoveryCodes': hash } },
        limits,
      ),
    );
    return used.modifiedCount > 0;
  }

  return {
    begin,
    confirm,
    use: async (user, typed) => {
      if (!user.twoFactor) return false;
      const code = typed.replace(/[\s-]/g, '');
      if (/^\d{6}$/.test(code))
        return (await takeAppCode(user, user.twoFactor.secret, code)) && 'app';
      return (await takeRecoveryCode(user._id, code)) && 'recovery';
    },
    renewRecoveryCodes: async userId => {
      const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
      const renewed = await limited(
        users.updateOne(
          { _id: userId, twoFactor: { $exists: true } },
          { $set: { 'twoFactor.recoveryCodes': codes.map(recoveryHash) } },
          limits,
        ),
      );
      if (renewed.matchedCount === 0)
        throw new ApiError('conflict', 'The second factor is off: there are no recovery codes.');
      return codes;
    },
    off: userId => twoFactorOff(store, userId),
  };
}
