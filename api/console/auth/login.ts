// Opens the session of a user who has authenticated by any method, and sets the session cookie.
import type { Network } from '../../../common/addresses.ts';
import { ApiError } from '../../../common/contract/errors.ts';
import { callerIp } from '../../http/caller.ts';
import type { Context } from '../../http/state.ts';
import type { SessionDocument, UserDocument } from '../../store/store.ts';
import type { Cookies } from '../kit/cookies.ts';
import type { SignedIn } from '../kit/route.ts';
import type { Audit } from '../security/audit.ts';
import type { Users } from '../users/users.ts';
import type { Devices } from './devices.ts';
import { credentialsHash } from './pending-two-factor.ts';
import type { Sessions } from './sessions.ts';

interface Deps {
  sessions: Sessions;
  cookies: Cookies;
  users: Users;
  audit: Audit;
  devices: Devices;
  trustedProxies: readonly Network[];
}

export function createLogin({ sessions, cookies, users, audit, devices, trustedProxies }: Deps) {
  const ipOf = (ctx: Context) => callerIp(ctx, trustedProxies);

  /** The user who is signed in in this browser. */
  async function signedIn(ctx: Context): Promise<SignedIn | undefined> {
    const token = cookies.session(ctx);
    return token === undefined ? undefined : sessions.find(token);
  }

  /**
   * Opens a session with a new token, ends the previous one of the browser, and writes to the audit
   * log. `user`: as read before the credentials were checked. Rejects with ApiError `unauthorized`
   * when the credentials have changed since, or the user was disabled.
   */
  async function openSession(
    ctx: Context,
    user: UserDocument,
    method: SessionDocument['method'],
  ): Promise<void> {
    const { _id, email } = user;
    const ip = ipOf(ctx);
    // Session fixation: another party may know the token that the browser already had.
    const previous = await signedIn(ctx);
    if (previous) await sessions.end(previous.user.id, previous.sessionId);
    const { token, publicId, maxAgeMs } = await sessions.open({
      user: _id,
      method,
      ip,
      userAgent: ctx.get('User-Agent'),
    });
    // Hashing a password takes time. A change of credentials in the meantime ended all sessions,
    // but not this one, which did not exist yet.
    const current = await users.byId(_id);
    if (!current || current.disabled || credentialsHash(current) !== credentialsHash(user)) {
      await sessions.end(_id, publicId);
      throw new ApiError(
        'unauthorized',
        'Your credentials changed while you were signing in. Sign in again.',
      );
    }
    cookies.setSession(ctx, token, maxAgeMs);
    devices.remember(ctx, _id);
    await users.signedIn(_id);
    await audit.note(
      { user: _id, actor: email, ip },
      { action: 'person.signed_in', details: { method } },
    );
  }

  return { openSession, signedIn, ipOf };
}
