// Sessions of people in a browser: a random token in a cookie, its hash in MongoDB. Owns their
// limits in time; who may open one is for others to decide.

import { ApiError } from '../../../common/contract/errors.ts';
import { randomBase62 } from '../../accounts/keys.ts';
import type { SessionDocument, Store } from '../../store/store.ts';
import type { SignedIn } from '../kit/route.ts';
import { createToken, hashToken, isToken } from '../security/tokens.ts';

/** Without a click for so long the session is over, */
export const SESSION_IDLE_MS = 24 * 3600e3;
/** and so it is after this whatever was done in it. */
export const SESSION_MAX_MS = 14 * 24 * 3600e3;
/** `lastSeenAt` is written at most so often: each call of the page would be a write otherwise. */
const TOUCH_EVERY_MS = 60_000;
const MAX_USER_AGENT = 300;
/** The oldest goes when there is one more. */
const MAX_SESSIONS = 50;

export interface NewSession {
  user: string;
  method: SessionDocument['method'];
  ip: string;
  userAgent: string;
}

export interface Sessions {
  /** The token for the cookie, which is stored nowhere, and how long it can last. */
  open(session: NewSession): Promise<{ token: string; publicId: string; maxAgeMs: number }>;
  /**
   * Who that is, or undefined when the session is over or the person disabled. Keeps the session
   * alive.
   */
  find(token: string): Promise<SignedIn | undefined>;
  listOf(user: string): Promise<SessionDocument[]>;
  /** By its public id. False when there is none. */
  end(user: string, publicId: string): Promise<boolean>;
  /** All of them, or all but one. */
  endAll(user: string, exceptPublicId?: string): Promise<number>;
}

/** The same whether there never was one, it is over, or its person is gone. */
export const notSignedIn = () =>
  new ApiError('unauthorized', 'You are not signed in, or your session is over. Sign in again.');

export function createSessions(store: Store, now = () => Date.now()): Sessions {
  const { sessions, users } = store.console;
  const { limits, limited } = store;

  async function open({ user, method, ip, userAgent }: NewSession) {
    const token = createToken();
    const publicId = randomBase62(16);
    const at = now();
    await limited(
      sessions.insertOne(
        {
          _id: hashToken(token),
          publicId,
          user,
          method,
          createdAt: new Date(at),
          lastSeenAt: new Date(at),
          endsAt: new Date(at + SESSION_MAX_MS),
          expiresAt: new Date(at + Math.min(SESSION_IDLE_MS, SESSION_MAX_MS)),
          ip,
          userAgent: userAgent.slice(0, MAX_USER_AGENT),
        },
        limits,
      ),
    );
    const surplus = await limited(
      sessions
        .find(
          { user },
          { sort: { createdAt: -1 }, skip: MAX_SESSIONS, projection: { _id: 1 }, ...limits },
        )
        .toArray(),
    );
    if (surplus.length > 0)
      await limited(sessions.deleteMany({ _id: { $in: surplus.map(({ _id }) => _id) } }, limits));
    return { token, publicId, maxAgeMs: SESSION_MAX_MS };
  }

  async function find(token: string): Promise<SignedIn | undefined> {
    if (!isToken(token)) return undefined;
    const _id = hashToken(token);
    const at = now();
    const session = await limited(
      sessions.findOne({ _id, expiresAt: { $gt: new Date(at) } }, limits),
    );
    if (!session) return undefined;
    const user = await limited(
      users.findOne(
        { _id: session.user, disabled: { $ne: true } },
        { projection: { email: 1, name: 1, operator: 1 }, ...limits },
      ),
    );
    if (!user) return undefined;
    if (at - session.lastSeenAt.getTime() > TOUCH_EVERY_MS) {
      const expiresAt = new Date(Math.min(at + SESSION_IDLE_MS, session.endsAt.getTime()));
      await limited(
        sessions.updateOne({ _id }, { $set: { lastSeenAt: new Date(at), expiresAt } }, limits),
      );
    }
    return {
      sessionId: session.publicId,
      user: { id: user._id, email: user.email, name: user.name, operator: user.operator },
    };
  }

  return {
    open,
    find,
    listOf: user =>
      limited(
        sessions
          .find(
            { user, expiresAt: { $gt: new Date(now()) } },
            { sort: { lastSeenAt: -1 }, ...limits },
          )
          .toArray(),
      ),
    end: async (user, publicId) =>
      (await limited(sessions.deleteOne({ user, publicId }, limits))).deletedCount > 0,
    endAll: async (user, exceptPublicId) =>
      (
        await limited(
          sessions.deleteMany(
            { user, ...(exceptPublicId && { publicId: { $ne: exceptPublicId } }) },
            limits,
          ),
        )
      ).deletedCount,
  };
}
