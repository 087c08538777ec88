// Account rules as MongoDB expressions, so that one atomic operation decides with the server's
// clock. Pure.
import type { AccountState, Document, KeyScope } from '../store/store.ts';
import { type BillingMode, LIMITS_OF_UNKNOWN_PLAN, type Plan, type PlanLimits } from './plans.ts';

const NEVER = new Date(8.64e15);

/** Of a key without the field. */
export const SCOPES_BY_DEFAULT: readonly KeyScope[] = ['render'];

/** All keys of the account. */
export const allKeys: Document = {
  $concatArrays: ['$keys', { $ifNull: ['$restrictedKeys', []] }],
};

/** The array of the one key, or none, that has one of the hashes and has not expired. */
const goodKeys = (hashes: readonly string[]): Document => ({
  $filter: {
    input: allKeys,
    as: 'key',
    cond: {
      $and: [
        { $in: ['$$key.hash', { $literal: hashes }] },
        { $gt: [{ $ifNull: ['$$key.expiresAt', NEVER] }, '$$NOW'] },
      ],
    },
  },
});

/** Evaluates `then` with `$$good` set to the caller's key, or missing when the key is invalid. */
export const withKey = (hashes: readonly string[], then: Document): Document => ({
  $let: { vars: { good: { $first: goodKeys(hashes) } }, in: then },
});

/** True when the caller's key is valid. For use inside `withKey`. */
export const keyIsGood: Document = { $ne: [{ $type: '$$good' }, 'missing'] };

/** The scopes of the caller's key. For use inside `withKey`. */
export const scopes: Document = { $ifNull: ['$$good.scopes', SCOPES_BY_DEFAULT] };

/** True when the caller's key is valid and has the scope `render`. For use inside `withKey`. */
export const keyMayRender: Document = { $and: [keyIsGood, { $in: ['render', scopes] }] };

/** True when the caller's key is a test key, else missing. For use inside `withKey`. */
export const testKey: Document = { $ifNull: ['$$good.test', '$$REMOVE'] };

/** Networks that may use the caller's key; empty means any. For use inside `withKey`. */
export const allowedIps: Document = { $ifNull: ['$$good.allowedIps', []] };

/** Which subscriptions may render. */
export interface ServedRules {
  /** How long a past_due subscription may still render. */
  pastDueGraceMs: number;
  /** With `none`, accounts in every state may render. */
  billing: BillingMode;
}

const ALWAYS_SERVED: readonly AccountState[] = ['active', 'trialing'];

/** True when the account's subscription may render. */
export const isServed = ({ pastDueGraceMs, billing }: ServedRules): Document => ({
  $or: [
    billing === 'none',
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
 * A limit of the account's plan. It is not stored in the account, so that a change of the
 * configuration applies to all accounts.
 */
const ofPlan = (plans: readonly Plan[], limit: keyof PlanLimits): Document => ({
  $switch: {
    // biome-ignore lint/suspicious/noThenProperty: MongoDB's syntax; the value is a number
    branches: plans.map(plan => ({ case: { $eq: ['$plan', plan.name] }, then: plan[limit] })),
    default: LIMITS_OF_UNKNOWN_PLAN[limit],
  },
});

/** The concurrency limit of the account's plan. */
export const capOf = (plans: readonly Plan[]): Document => ofPlan(plans, 'parallel');

/** Most asynchronous renders of the account that may run at once. */
export const asyncCapOf = (plans: readonly Plan[]): Document => ofPlan(plans, 'asyncParallel');

/** Most asynchronous renders of the account that may wait. */
export const maxWaitingOf = (plans: readonly Plan[]): Document => ofPlan(plans, 'maxWaiting');

const textOf = (date: string, format: string): Document => ({
  $dateToString: { date, format, timezone: 'UTC' },
});

/**
 * If Stripe has reported no renewal this long after the period's end, the subscription is over and
 * usage is counted by calendar month.
 */
const RENEWAL_OVERDUE_MS = 35 * 86_400_000;

/** True until Stripe has reported the end of the account's subscription. */
export const hasSubscription: Document = {
  $lt: [{ $subtract: ['$$NOW', RENEWAL_OVERDUE_MS] }, '$billing.periodEnd'],
};

/**
 * The current billing period as a text that sorts by time: the month (`2026-11`), or the first day
 * of Stripe's period (`2026-11-15`). The next period begins at the end of the last reported one,
 * even if Stripe's report of it is late: the report has the same date, so the count continues.
 */
export const periodNow: Document = {
  $switch: {
    // biome-ignore-start lint/suspicious/noThenProperty: MongoDB's syntax; the value is a document
    branches: [
      {
        case: { $lt: ['$$NOW', '$billing.periodEnd'] },
        then: textOf('$billing.periodStart', '%Y-%m-%d'),
      },
      {
        case: hasSubscription,
        then: textOf('$billing.periodEnd', '%Y-%m-%d'),
      },
    ],
    // biome-ignore-end lint/suspicious/noThenProperty: MongoDB's syntax; the value is a document
    default: textOf('$$NOW', '%Y-%m'),
  },
};

/**
 * The usage after one more render. Periods only move forward: neither a clock that is slightly
 * behind nor the end of a subscription resets the count of a newer period.
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

/** The count of the current period. The count of an older period is shown as zero. */
export const usageNow: Document = {
  $cond: [{ $gte: ['$usage.period', periodNow] }, '$usage.count', 0],
};
