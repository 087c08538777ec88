// A sign-in whose password was right and whose second factor is missing: an encrypted cookie of five
// minutes, good only as long as what it was given for is the same.
import { createHash } from 'node:crypto';
import { randomBase62 } from '../../accounts/keys.ts';
import type { Context } from '../../http/state.ts';
import type { SessionDocument, UserDocument } from '../../store/store.ts';
import type { Cookies } from '../kit/cookies.ts';
import { createEncryption } from '../security/encryption.ts';
import type { Users } from '../users/users.ts';

const LASTS_MS = 5 * 60_000;

type Method = SessionDocument['method'];

export interface PendingTwoFactor {
  /** `method`: how the first step was done. */
  begin(ctx: Context, user: UserDocument, method: Method): void;
  /**
   * Who has done the first step; undefined when it is too long ago, or the password or the second
   * factor was changed since.
   */
  waiting(ctx: Context): Promise<{ user: UserDocument; id: string; method: Method } | undefined>;
  end(ctx: Context): void;
}

/** What a sign-in stands on: another password or another second factor has another one. */
export const credentialsHash = ({ password, twoFactor }: UserDocument): string =>
  createHash('sha256')
    .update(JSON.stringify([password ?? null, twoFactor?.secret ?? null]))
    .digest('base64url');

export function createPendingTwoFactor(
  secret: string,
  cookies: Cookies,
  users: Users,
  now = () => Date.now(),
): PendingTwoFactor {
  const encryption = createEncryption(secret, 'second step');

  async function waiting(ctx: Context) {
    const cookie = cookies.passing(ctx, 'second-factor');
    const text = cookie && encryption.decrypt(cookie);
    if (!text) return undefined;
    const [id, userId, method, until, given] = JSON.parse(text) as [
      string,
      string,
      Method,
      number,
      string,
    ];
    if (until <= now()) return undefined;
    const user = await users.byId(userId);
    return user?.twoFactor && !user.disabled && credentialsHash(user) === given
      ? { user, id, method }
      : undefined;
  }

  return {
    begin: (ctx, user, method) => {
      const text = JSON.stringify([
        randomBase62(20),
        user._id,
        method,
        now() + LASTS_MS,
        credentialsHash(user),
      ]);
      cookies.setPassing(ctx, 'second-factor', encryption.encrypt(text), LASTS_MS);
    },
    waiting,
    end: ctx => cookies.clear(ctx, 'second-factor'),
  };
}
