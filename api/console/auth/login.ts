// Opens the session of a user who has authenticated, by whatever method.
import type { Network } from '../../../common/addresses.ts';
import { ApiError } from '../../../common/contract/errors.ts';
import { callerIp } from '../../http/client-ip.ts';
import type { Context } from '../../http/state.ts';
import type { SessionDocument, UserDocument } from '../../store/store.ts';
import type { Cookies } from '../kit/cookies.ts';
import type { SignedIn } from '../kit/route.ts';
import type { Audit } from '../security/audit.ts';
import type { Users } from '../users/users.ts';
import type { Devices } from './devices.ts';
import { credentialsHash } from './pending-two-factor.ts';
import type { Sessions } from './sessions.ts';

export interface Login {
  /**
   * Opens a session with a token of its own, ends the one that the browser had, and notes it.
   * `user`: as it was when the person proved who they are. Rejects with ApiError `unauthorized`
   * when password, second factor or the right to sign in is another one by now.
   */
  enter(ctx: Context, user: UserDocument, method: SessionDocument['method']): Promise<void>;
  /** Who is signed in in that browser. */
  signedIn(ctx: Context): Promise<SignedIn | undefined>;
  ipOf(ctx: Context): string;
}

interface Deps {
  sessions: Sessions;
  cookies: Cookies;
  users: Users;
  audit: Audit;
  devices: Devices;
  trustedProxies: readonly Network[];
}

export function createLogin({
  sessions,
  cookies,
  users,
  audit,
  devices,
  trustedProxies,
}: Deps): Login {
  const ipOf = (ctx: Context) => callerIp(ctx, trustedProxies);

  async function signedIn(ctx: Context): Promise<SignedIn | undefined> {
    const token = cookies.session(ctx);
    return token === undefined ? undefined : sessions.find(token);
  }

  async function enter(
    ctx: Context,
    user: UserDocument,
    method: SessionDocument['method'],
  ): Promise<void> {
    const { _id, email } = user;
    const ip = ipOf(ctx);
    // A token that stood in the browser before may be known to whoever put it there.
    const whose = await signedIn(ctx);
    if (whose) await sessions.end(whose.user.id, whose.sessionId);
    const { token, publicId, maxAgeMs } = await sessions.open({
      user: _id,
      method,
      ip,
      userAgent: ctx.get('User-Agent'),
    });
    // Checking a password takes its time. A change meanwhile has ended all sessions that there
    // were, and this one was not there yet.
    const current = await users.byId(_id);
    if (!current || current.disabled || credentialsHash(current) !== credentialsHash(user)) {
      await sessions.end(_id, publicId);
      throw new ApiError(
        'unauthorized',
        'How you sign in was changed in this moment. Sign in again.',
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

  return { enter, signedIn, ipOf };
}
