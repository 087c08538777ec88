// Browser sessions of users: their random tokens, stored as hashes in MongoDB, and their lifetime.
// login.ts sets the session cookie and decides who gets one.

import { ApiError } from '../../../common/contract/errors.ts';
import { randomBase62 } from '../../accounts/keys.ts';
import type { SessionDocument, Store } from '../../store/store.ts';
import type { SignedIn } from '../kit/route.ts';
import { createToken, hashToken, isToken } from '../security/tokens.ts';

/** A session ends after this time without a request. */
export const SESSION_IDLE_MS = 24 * 3600e3;
/** A session ends after this time in any case. */
export const SESSION_MAX_MS = 14 * 24 * 3600e3;
/** Bounds the writes of `lastSeenAt`, which every request would cause otherwise. */
const TOUCH_EVERY_MS = 60_000;
const MAX_USER_AGENT = 300;
/** Of one user; a new session beyond this ends the oldest. */
const MAX_SESSIONS = 50;

export interface NewSession {
  user: string;
  method: SessionDocument['method'];
  ip: string;
  userAgent: string;
}

export type Sessions = ReturnType<typeof createSessions>;

/** The same message for an unknown session, an ended one and a deleted user. */
export const notSignedIn = () =>
  new ApiError(
    'unauthorized',
    'You are not signed in, or your session has expired. Sign in again.',
  );

export function createSessions(store: Store, now = () => Date.now()) {
  const { sessions, users } = store.console;
  const { limits, limited } = store;

  /** Returns the token for the cookie, of which only the hash is stored, and its lifetime. */
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

  /**
   * The signed-in user; undefined when the session has ended or the user is disabled. Extends the
   * session.
   */
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
    listOf: (user: string) =>
      limited(
        sessions
          .find(
            { user, expiresAt: { $gt: new Date(now()) } },
            { sort: { lastSeenAt: -1 }, ...limits },
          )
          .toArray(),
      ),
    /** By its public id. False when it does not exist. */
    end: async (user: string, publicId: string) =>
      (await limited(sessions.deleteOne({ user, publicId }, limits))).deletedCount > 0,
    /** Ends all sessions, or all but one. Returns how many. */
    endAll: async (user: string, exceptPublicId?: string) =>
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
