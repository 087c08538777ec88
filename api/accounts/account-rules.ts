// The rules about an account as MongoDB expressions, so that one atomic operation decides by the server's clock. Pure; runs nothing.
import type { Document } from '../store/store.ts';
import { PARALLEL_OF_UNKNOWN_PLAN, type Plan } from './plans.ts';

const NEVER = new Date(8.64e15);

/** Arrays of the one key (or none) that has one of the hashes and has not expired. */
const goodKeys = (hashes: readonly string[]): Document => ({
  $filter: {
    input: '$keys',
    as: 'key',
    cond: { $and: [{ $in: ['$$key.hash', { $literal: hashes }] }, { $gt: [{ $ifNull: ['$$key.expiresAt', NEVER] }, '$$NOW'] }] },
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

/** True when the subscription is served: past_due is, for a grace. */
export const isServed = (pastDueGraceMs: number): Document => ({
  $or: [
    { $in: ['$state', ['active', 'trialing']] },
    {
      $and: [{ $eq: ['$state', 'past_due'] }, { $gt: [{ $add: [{ $ifNull: ['$pastDueSince', '$$NOW'] }, pastDueGraceMs] }, '$$NOW'] }],
    },
  ],
});

/** Renders at once of the account's plan. The document holds no cap: a change of configuration is a change of all accounts. */
export const capOf = (plans: readonly Plan[]): Document => ({
  $switch: {
    // biome-ignore lint/suspicious/noThenProperty: it is MongoDB's word, and a number is no promise
    branches: plans.map(plan => ({ case: { $eq: ['$plan', plan.name] }, then: plan.parallel })),
    default: PARALLEL_OF_UNKNOWN_PLAN,
  },
});

/** Leases whose end is later than `ms` ago. */
export const leasesYoungerThan = (ms: number): Document => ({
  $filter: { input: '$leases', as: 'lease', cond: { $gt: ['$$lease.expires', { $subtract: ['$$NOW', ms] }] } },
});

export const runningLeases: Document = { $size: leasesYoungerThan(0) };

const month: Document = { $dateToString: { date: '$$NOW', format: '%Y-%m', timezone: 'UTC' } };

/** The usage after one more render. A clock that is a little behind at the turn of a month must not set a new month's count back. */
export const usagePlusOne: Document = {
  $cond: [
    { $gte: ['$usage.period', month] },
    { period: '$usage.period', count: { $add: ['$usage.count', 1] } },
    { period: month, count: 1 },
  ],
};

/** The count of the running month: an older period counts as zero. */
export const usageNow: Document = { $cond: [{ $gte: ['$usage.period', month] }, '$usage.count', 0] };
