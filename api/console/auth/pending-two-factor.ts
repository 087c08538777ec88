// A sign-in between a correct password and the second factor: an encrypted cookie that lasts five
// minutes and is void once the credentials change.
import { createHash } from 'node:crypto';
import { createEncryption } from '../../../common/encryption.ts';
import { randomBase62 } from '../../accounts/keys.ts';
import type { Context } from '../../http/state.ts';
import type { SessionDocument, UserDocument } from '../../store/store.ts';
import type { Cookies } from '../kit/cookies.ts';
import type { Users } from '../users/users.ts';

const LASTS_MS = 5 * 60_000;

type Method = SessionDocument['method'];

/** Changes with the password and with the second factor. */
export const credentialsHash = ({ password, twoFactor }: UserDocument): string =>
  createHash('sha256')
    .update(JSON.stringify([password ?? null, twoFactor?.secret ?? null]))
    .digest('base64url');

export function createPendingTwoFactor(
  secret: string,
  cookies: Cookies,
  users: Users,
  now = () => Date.now(),
) {
  const encryption = createEncryption(secret, 'second step');

  /**
   * The user who completed the first step. Undefined when it expired, or when the password or the
   * second factor has changed since.
   */
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
    /** `method`: of the first step. */
    begin: (ctx: Context, user: UserDocument, method: Method) => {
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
    end: (ctx: Context) => cookies.clear(ctx, 'second-factor'),
  };
}
