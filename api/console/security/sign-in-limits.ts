// Rate limits of sign-in attempts, counted in the database. They slow down guesses without locking
// users out of their own logins.
import { subscriberOf } from '../../../common/addresses.ts';
import { ApiError } from '../../../common/contract/errors.ts';
import { createDigest } from '../../../common/encryption.ts';
import type { Store } from '../../store/store.ts';
import { createStoredCount } from '../kit/stored-count.ts';

/** Attempts without a pause; mistyped passwords rarely need more than three. */
const FREE_TRIES = 5;
const FIRST_PAUSE_MS = 30_000;
/** Each pause doubles up to this, which allows about thirty attempts per day. */
const LONGEST_PAUSE_MS = 3600e3;
/** The count is deleted after this time without an attempt. */
const FORGOTTEN_AFTER_MS = 24 * 3600e3;
/** Of all users behind one address. */
const OF_SUBSCRIBER = { max: 20, windowMs: 60_000 };
/** Of one email from unknown devices at any address: the limit of a distributed attack. */
const OF_EMAIL = { max: 100, windowMs: 3600e3 };
/**
 * Of codes after a correct password. At any time 3 of 1,000,000 codes are valid, so ten guesses per
 * day take about ninety years.
 */
const OF_SECOND_FACTOR = { max: 10, windowMs: 24 * 3600e3 };
/** SSO callbacks, each of which calls the provider. A whole office may share one address. */
const OF_SSO_CALLBACKS = { max: 100, windowMs: 60_000 };
/** Of one pending two-factor login. */
const OF_PENDING = { max: 5, windowMs: 600_000 };

type Confirmation = 'password' | 'code';

/**
 * `device`: the id of one on which this user signed in before; it has its own count, which attempts
 * from elsewhere do not affect.
 */
interface PasswordAttempt {
  email: string;
  ip: string;
  device: string | undefined;
}

interface CodeAttempt {
  user: string;
  /** The id of the sign-in. */
  passing: string;
  device: string | undefined;
}

export const pauseAfterMs = (tries: number): number =>
  tries < FREE_TRIES
    ? 0
    : Math.min(FIRST_PAUSE_MS * 2 ** Math.min(tries - FREE_TRIES, 20), LONGEST_PAUSE_MS);

function tooMany(waitMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const time = seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  return new ApiError('rate_limited', `Too many attempts. Try again in ${time}.`, {
    retryAfterS: seconds,
  });
}

export function createSignInLimits(store: Store, secret: string, now = () => Date.now()) {
  const { change, within, forget } = createStoredCount(store, now);
  const digest = createDigest(secret, 'sign-in limits');

  /**
   * The remaining pause in milliseconds, or 0. Pauses grow with each attempt; attempts during a
   * pause do not prolong it.
   */
  async function growing(id: string): Promise<number> {
    const at = new Date(now());
    const runs = { $gt: ['$expires', at] };
    const pausing = { $and: [runs, { $gt: ['$until', at] }] };
    const pauses = Array.from({ length: 16 }, (_, tries) => pauseAfterMs(tries));
    const next = { $cond: [runs, { $add: ['$count', 1] }, 1] };
    const pause = { $arrayElemAt: [pauses, { $min: [next, pauses.length - 1] }] };
    const before = await change(id, [
      {
        $set: {
          count: { $cond: [pausing, '$count', next] },
          // Without a pause a time long ago, so that a process whose clock is behind does not wait.
          until: {
            $cond: [
              pausing,
              '$until',
              { $cond: [{ $gt: [pause, 0] }, { $add: [at, pause] }, new Date(0)] },
            ],
          },
          expires: new Date(at.getTime() + FORGOTTEN_AFTER_MS),
        },
      },
    ]);
    return before?.until && before.expires > at && before.until > at
      ? before.until.getTime() - at.getTime()
      : 0;
  }

  async function checkAll(...waits: (() => Promise<number>)[]): Promise<void> {
    for (const wait of waits) {
      const ms = await wait();
      if (ms > 0) throw tooMany(ms);
    }
  }

  const pair = ({ email, ip, device }: PasswordAttempt) =>
    device === undefined
      ? digest('pair', email, subscriberOf(ip))
      : digest('device', email, device);
  const codes = ({ user, device }: Pick<CodeAttempt, 'user' | 'device'>) =>
    digest('codes', user, device ?? '');

  return {
    /**
     * Counts an attempt before it is checked. Rejects with ApiError `rate_limited`, whether the
     * user exists or not.
     */
    password: (attempt: PasswordAttempt) =>
      checkAll(
        ...(attempt.device === undefined
          ? [
              () => within(digest('subscriber', subscriberOf(attempt.ip)), OF_SUBSCRIBER),
              () => within(digest('email', attempt.email), OF_EMAIL),
            ]
          : []),
        () => growing(pair(attempt)),
      ),
    /** Resets the count after a correct password. */
    passwordWasRight: (attempt: PasswordAttempt) => forget(pair(attempt)),
    /**
     * Counts an attempt with a code. `start over`: this sign-in has used its five attempts. Rejects
     * with ApiError `rate_limited` after too many attempts for this user.
     */
    secondFactor: async (attempt: CodeAttempt): Promise<'go on' | 'start over'> => {
      await checkAll(() => within(codes(attempt), OF_SECOND_FACTOR));
      const waitMs = await within(digest('passing', attempt.passing), OF_PENDING);
      return waitMs > 0 ? 'start over' : 'go on';
    },
    /** Resets the count after a correct code. */
    secondFactorWasRight: (attempt: Pick<CodeAttempt, 'user' | 'device'>) => forget(codes(attempt)),
    /**
     * Counts an attempt to confirm an action inside a session. Passwords and codes are counted
     * separately: otherwise a correct password would reset the count of wrong codes. Rejects with
     * ApiError `rate_limited`.
     */
    again: (user: string, what: Confirmation) =>
      checkAll(() => growing(digest('again', what, user))),
    againWasRight: (user: string, what: Confirmation) => forget(digest('again', what, user)),
    /** Counts an SSO callback. Rejects with ApiError `rate_limited`. */
    ssoCallback: (ip: string) =>
      checkAll(() => within(digest('company', subscriberOf(ip)), OF_SSO_CALLBACKS)),
  };
}
