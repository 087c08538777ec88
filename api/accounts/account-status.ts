// The state of an account as its members and its API keys read it: plan, subscription, running
// renders and usage.
import type { AccountDocument, AccountState, Document } from '../store/store.ts';
import { periodNow, usageNow } from './account-rules.ts';
import { runningLeases } from './lease-rules.ts';
import { LIMITS_OF_UNKNOWN_PLAN, type Plan } from './plans.ts';

export type FoundStatus = Pick<AccountDocument, '_id' | 'name' | 'plan' | 'state'> & {
  running: number;
  used: number;
  period: string;
};

/** The projection for `statusOf`. */
export const STATUS_FIELDS: Document = {
  name: 1,
  plan: 1,
  state: 1,
  running: runningLeases,
  used: usageNow,
  period: { $max: ['$usage.period', periodNow] },
};

export interface AccountStatus {
  id: string;
  name: string;
  plan: string;
  state: AccountState;
  /** Concurrency limit of the plan. */
  parallel: number;
  monthlyQuota: number | null;
  running: number;
  usage: { period: string; count: number };
}

export function statusOf(found: FoundStatus, plans: readonly Plan[]): AccountStatus {
  const plan = plans.find(({ name }) => name === found.plan);
  return {
    id: found._id,
    name: found.name,
    plan: found.plan,
    state: found.state,
    parallel: plan?.parallel ?? LIMITS_OF_UNKNOWN_PLAN.parallel,
    monthlyQuota: plan?.monthlyQuota ?? null,
    running: found.running,
    usage: { period: found.period, count: found.used },
  };
}
