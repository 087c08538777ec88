// The billing overview of an account, in every mode.
import type { z } from 'zod';
import { ApiError } from '../../../common/contract/errors.ts';
import type { BillingMode, Plan } from '../../accounts/plans.ts';
import type { AccountDocument, Store } from '../../store/store.ts';
import type { billing } from '../contract/accounts.ts';
import type { PlanPrice } from './price-list.ts';

export type BilledAccount = Pick<
  AccountDocument,
  '_id' | 'name' | 'plan' | 'state' | 'pastDueSince' | 'billing'
>;

/** The fields of the account that billing reads. Throws ApiError `not_found`. */
export async function billedAccount(store: Store, id: string): Promise<BilledAccount> {
  const projection = { name: 1, plan: 1, state: 1, pastDueSince: 1, billing: 1 } as const;
  const found = await store.limited(
    store.accounts.findOne({ _id: id }, { projection, ...store.limits }),
  );
  if (!found) throw new ApiError('not_found', 'Account not found.');
  return found;
}

export interface OverviewOptions {
  mode: BillingMode;
  plans: readonly Plan[];
  pastDueGraceMs: number;
  /** Plans for sale. */
  sold?: ReadonlyMap<string, unknown>;
  prices?: ReadonlyMap<string, PlanPrice>;
  notice?: string | null;
}

/** The response of `GET /console/accounts/:id/billing`. Pure. */
export function billingOverview(
  account: BilledAccount,
  { mode, plans, pastDueGraceMs, sold, prices, notice = null }: OverviewOptions,
) {
  const { plan, state, pastDueSince, billing: paid } = account;
  return {
    mode,
    plan,
    state,
    graceUntil:
      state === 'past_due' && pastDueSince
        ? new Date(pastDueSince.getTime() + pastDueGraceMs).toISOString()
        : null,
    periodEnd: paid?.periodEnd?.toISOString() ?? null,
    cancelAtPeriodEnd: paid?.cancelAtPeriodEnd ?? false,
    canManage: mode === 'stripe' && paid !== undefined,
    notice,
    plans: plans.map(({ name, parallel, monthlyQuota }) => ({
      name,
      parallel,
      monthlyQuota: monthlyQuota ?? null,
      title: prices?.get(name)?.title || null,
      price: prices?.get(name)?.amount ?? null,
      sold: sold?.has(name) ?? false,
      current: name === plan,
    })),
  } satisfies z.input<typeof billing>;
}
