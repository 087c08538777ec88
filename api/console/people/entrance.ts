// The one way into a session: whoever has proved who they are, by whatever means, comes through here.
import type { Network } from '../../../common/addresses.ts';
import { clientIp } from '../../http/client-ip.ts';
import type { Context } from '../../http/state.ts';
import type { SessionDocument, UserDocument } from '../../store/store.ts';
import type { Cookies } from '../http/cookies.ts';
import type { Audit } from './audit.ts';
import type { Devices } from './devices.ts';
import type { Sessions } from './sessions.ts';
import type { Users } from './users.ts';

export interface Entrance {
  /** Opens a session with a token of its own, ends the one that the browser had, and notes it. */
  enter(ctx: Context, user: Pick<UserDocument, '_id' | 'email'>, method: SessionDocument['method']): Promise<void>;
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

export function createEntrance({ sessions, cookies, users, audit, devices, trustedProxies }: Deps): Entrance {
  const ipOf = (ctx: Context) => clientIp(ctx.req.socket.remoteAddress ?? '', ctx.get('X-Forwarded-For') || undefined, trustedProxies);

  async function enter(
    ctx: Context,
    { _id, email }: Pick<UserDocument, '_id' | 'email'>,
    method: SessionDocument['method'],
  ): Promise<void> {
    const ip = ipOf(ctx);
    // A token that stood in the browser before may be known to whoever put it there.
    const former = cookies.session(ctx);
    const whose = former && (await sessions.find(former));
    if (whose) await sessions.end(whose.user.id, whose.sessionId);
    const { token, maxAgeMs } = await sessions.open({ user: _id, method, ip, userAgent: ctx.get('User-Agent') });
    cookies.setSession(ctx, token, maxAgeMs);
    devices.remember(ctx, _id);
    await users.signedIn(_id);
    await audit.note({ user: _id, actor: email, ip }, { action: 'person.signed_in', details: { method } });
  }

  return { enter, ipOf };
}
