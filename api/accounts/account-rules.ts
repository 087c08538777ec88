// The rules about an account as MongoDB expressions, so that one atomic operation decides by the
// server's clock. Pure; runs nothing.
import type { AccountState, Document } from '../store/store.ts';
import { PARALLEL_OF_UNKNOWN_PLAN, type Plan } from './plans.ts';

const NEVER = new Date(8.64e15);

/** Arrays of the one key (or none) that has one of the hashes and has not expired. */
const goodKeys = (hashes: readonly string[]): Document => ({
  $filter: {
    input: '$keys',
    as: 'key',
    cond: {
      $and: [
        { $in: ['$$key.hash', { $literal: hashes }] },
        { $gt: [{ $ifNull: ['$$key.expiresAt', NEVER] }, '$$NOW'] },
      ],
    },
  },
});

/** Evaluates `then` with `$$good` = the caller's key, which is missing when there is none. */
export const withKey = (hashes: readonly string[], then: Document): Document => ({
  $let: { vars: { good: { $first: goodKeys(hashes) } }, in: then },
});

/** True when the caller's key is there. Inside `withKey`. */
export const keyIsGood: Document = { $ne: [{ $type: '$$good' }, 'missing'] };

/** The networks that the caller's key may be used from; empty means anywhere. Inside `withKey`. */
export const allowedIps: Document = { $ifNull: ['$$good.allowedIps', []] };

/** Which subscriptions are served. */
export interface ServedRules {
  /** How long a past_due subscription still is. */
  pastDueGraceMs: number;
  /** Every account is, whatever its state says: an installation without billing. */
  everyStateServed?: boolean;
}

/** States that are served whatever the time is. */
const ALWAYS_SERVED: readonly AccountState[] = ['active', 'trialing'];

/** True when the subscription is served: past_due is, for a grace. */
export const isServed = ({ pastDueGraceMs, everyStateServed = false }: ServedRules): Document => ({
  $or: [
    everyStateServed,
    { $in: ['$state', ALWAYS_SERVED] },
    {
      $and: [
        { $eq: ['$state', 'past_due'] },
        { $gt: [{ $add: [{ $ifNull: ['$pastDueSince', '$$NOW'] }, pastDueGraceMs] }, '$$NOW'] },
      ],
    },
  ],
});

/**
 * Renders at once of the account's plan. The document holds no cap: a change of configuration is a
 * change of all accounts.
 */
export const capOf = (plans: readonly Plan[]): Document => ({
  $switch: {
    // biome-ignore lint/suspicious/noThenProperty: it is MongoDB's word, and a number is no promise
    branches: plans.map(plan => ({ case: { $eq: ['$plan', plan.name] }, then: plan.parallel })),
    default: PARALLEL_OF_UNKNOWN_PLAN,
  },
});

const leasesWhere = (...conditions: Document[]): Document => ({
  $filter: { input: '$leases', as: 'lease', cond: { $and: conditions } },
});

const endsAfter = (ms: number): Document => ({
  $gt: ['$$lease.expires', ms === 0 ? '$$NOW' : { $subtract: ['$$NOW', ms] }],
});

export const unexpiredLeases: Document = leasesWhere(endsAfter(0));

export const runningLeases: Document = { $size: unexpiredLeases };

/**
 * Every write of an account writes all of its leases: with 1,280 expired ones, which crashes in a
 * row leave of a plan of 32 in ten minutes, 32 callers got through a fifteenth of what they did
 * with none. One outage leaves at most one for each place, so this is room for several; of a plan
 * of one all are kept, however often its renders crash.
 */
export const EXPIRED_KEPT = { forEachPlace: 4, atLeast: 64 } as const;

/**
 * The unexpired leases, after the newest of those that expired within `ms`. Those come first so
 * that the order in which they expired is kept.
 */
export const leasesKept = (ms: number, cap: Document): Document => {
  const expired = leasesWhere(endsAfter(ms), { $not: [endsAfter(0)] });
  const most = { $max: [EXPIRED_KEPT.atLeast, { $multiply: [EXPIRED_KEPT.forEachPlace, cap] }] };
  return { $concatArrays: [{ $slice: [expired, { $multiply: [-1, most] }] }, unexpiredLeases] };
};

const textOf = (date: string, format: string): Document => ({
  $dateToString: { date, format, timezone: 'UTC' },
});

/**
 * A renewal of which nothing was heard for so long is none: Stripe is no longer asked, and the
 * account counts by months.
 */
const RENEWAL_UNHEARD_MS = 35 * 86_400_000;

/**
 * The running period as a text that grows from one to the next: the month (`2026-11`), or the first
 * day of Stripe's period (`2026-11-15`). Whoever pays for a period pays for the next one from its
 * end on, whether Stripe's word of it is there already or late: that word names the same day, so
 * that the count goes on.
 */
export const periodNow: Document = {
  $switch: {
    // biome-ignore-start lint/suspicious/noThenProperty: it is MongoDB's word, and a document is no promise
    branches: [
      {
        case: { $lt: ['$$NOW', '$billing.periodEnd'] },
        then: textOf('$billing.periodStart', '%Y-%m-%d'),
      },
      {
        case: { $lt: [{ $subtract: ['$$NOW', RENEWAL_UNHEARD_MS] }, '$billing.periodEnd'] },
        then: textOf('$billing.periodEnd', '%Y-%m-%d'),
      },
    ],
    // biome-ignore-end lint/suspicious/noThenProperty: it is MongoDB's word, and a document is no promise
    default: textOf('$$NOW', '%Y-%m'),
  },
};

/**
 * The usage after one more render. A clock that is a little behind at the turn of a period must not
 * set a new period's count back; nor does a subscription's end, after which the account counts by
 * months again.
 */
export const usagePlusOne: Document = {
  $let: {
    vars: { period: periodNow },
    in: {
      $cond: [
        { $gte: ['$usage.period', '$$period'] },
        { period: '$usage.period', count: { $add: ['$usage.count', 1] } },
        { period: '$$period', count: 1 },
      ],
    },
  },
};

/** The count of the running period: an older period counts as zero. */
export const usageNow: Document = {
  $cond: [{ $gte: ['$usage.period', periodNow] }, '$usage.count', 0],
};
