// How often somebody may try to sign in. Owns the counting: strangers are slowed down without
// keeping a person out of their own account.
import { subscriberOf } from '../../../common/addresses.ts';
import { ApiError } from '../../../common/contract/errors.ts';
import type { Store } from '../../store/store.ts';
import { createStoredCount } from '../kit/stored-count.ts';
import { createDigest } from './encryption.ts';

/** One after the other without a pause; a person who mistypes needs three. */
const FREE_TRIES = 5;
const FIRST_PAUSE_MS = 30_000;
/** Each pause is twice the one before, up to this: some thirty tries a day. */
const LONGEST_PAUSE_MS = 3600e3;
/** Without a try for so long, all is forgotten. */
const FORGOTTEN_AFTER_MS = 24 * 3600e3;
/** All people behind one address together. */
const OF_SUBSCRIBER = { max: 20, windowMs: 60_000 };
/**
 * From devices that never signed in before, over all addresses: what a guesser with many machines
 * gets.
 */
const OF_EMAIL = { max: 100, windowMs: 3600e3 };
/**
 * Guesses of codes by who knows the password already. Of a million codes three are good at any
 * time: ten a day find one in ninety years.
 */
const OF_SECOND_FACTOR = { max: 10, windowMs: 24 * 3600e3 };
/**
 * Ways back from the company's provider, of which each makes us ask it. A whole office comes from
 * one address in the morning.
 */
const OF_SSO_CALLBACKS = { max: 100, windowMs: 60_000 };
const OF_PASSING = { max: 5, windowMs: 600_000 };

export type Confirmation = 'password' | 'code';

export interface SignInLimits {
  /**
   * Counts a try before it is looked at. `device`: the id of one on which this very person signed
   * in before; it has a count of its own, so that no stranger's tries are counted against it.
   * Rejects with ApiError `rate_limited`, the same whether there is such a person or not.
   */
  password(attempt: { email: string; ip: string; device: string | undefined }): Promise<void>;
  /** The password was right: mistypings are forgotten. */
  passwordWasRight(attempt: {
    email: string;
    ip: string;
    device: string | undefined;
  }): Promise<void>;
  /**
   * Counts a try of a code. `start over`: this sign-in has had its five. Rejects with ApiError
   * `rate_limited` when the person has had too many.
   */
  secondFactor(attempt: {
    user: string;
    passing: string;
    device: string | undefined;
  }): Promise<'go on' | 'start over'>;
  /** The code was right. */
  secondFactorWasRight(attempt: { user: string; device: string | undefined }): Promise<void>;
  /**
   * Counts a try to confirm something inside a session. Each kind has its count: who knows the
   * password could else forget wrong codes by typing it in between. Rejects with ApiError
   * `rate_limited`.
   */
  again(user: string, what: Confirmation): Promise<void>;
  againWasRight(user: string, what: Confirmation): Promise<void>;
  /** Counts a way back from the company's provider. Rejects with ApiError `rate_limited`. */
  ssoCallback(ip: string): Promise<void>;
}

export const pauseAfterMs = (tries: number): number =>
  tries < FREE_TRIES
    ? 0
    : Math.min(FIRST_PAUSE_MS * 2 ** Math.min(tries - FREE_TRIES, 20), LONGEST_PAUSE_MS);

function tooMany(waitMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const time = seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  return new ApiError('rate_limited', `Too many tries. Wait ${time}, then try again.`, {
    retryAfterS: seconds,
  });
}

export function createSignInLimits(
  store: Store,
  secret: string,
  now = () => Date.now(),
): SignInLimits {
  const { change, within, forget } = createStoredCount(store, now);
  const digest = createDigest(secret, 'sign-in limits');

  /**
   * How long to wait, or 0: pauses that grow. A try during a pause is refused and does not prolong
   * it.
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
          // Without a pause a time long ago: who looks at a clock that is a little behind would
          // wait otherwise.
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

  async function hold(...waits: (() => Promise<number>)[]): Promise<void> {
    for (const wait of waits) {
      const ms = await wait();
      if (ms > 0) throw tooMany(ms);
    }
  }

  const pair = (email: string, ip: string, device: string | undefined) =>
    device === undefined
      ? digest('pair', email, subscriberOf(ip))
      : digest('device', email, device);
  const codes = (user: string, device: string | undefined) => digest('codes', user, device ?? '');

  return {
    password: ({ email, ip, device }) =>
      hold(
        ...(device === undefined
          ? [
              () => within(digest('subscriber', subscriberOf(ip)), OF_SUBSCRIBER),
              () => within(digest('email', email), OF_EMAIL),
            ]
          : []),
        () => growing(pair(email, ip, device)),
      ),
    passwordWasRight: ({ email, ip, device }) => forget(pair(email, ip, device)),
    secondFactor: async ({ user, passing, device }) => {
      await hold(() => within(codes(user, device), OF_SECOND_FACTOR));
      return (await within(digest('passing', passing), OF_PASSING)) > 0 ? 'start over' : 'go on';
    },
    secondFactorWasRight: ({ user, device }) => forget(codes(user, device)),
    again: (user, what) => hold(() => growing(digest('again', what, user))),
    againWasRight: (user, what) => forget(digest('again', what, user)),
    ssoCallback: ip => hold(() => within(digest('company', subscriberOf(ip)), OF_SSO_CALLBACKS)),
  };
}
