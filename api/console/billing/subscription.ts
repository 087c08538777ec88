// What Stripe's subscriptions of one customer mean for an account: which of them counts, and the
// state, plan and period it gives. Pure.
import type { Stripe } from 'stripe';
import { ACCOUNT_STATES, type AccountState } from '../../store/store.ts';

/** The part of a subscription that is read. */
export type SubscriptionFacts = Pick<
  Stripe.Subscription,
  'id' | 'status' | 'created' | 'cancel_at' | 'cancel_at_period_end' | 'metadata'
> & {
  items: {
    data: {
      id: string;
      price: { id: string };
      current_period_start: number;
      current_period_end: number;
    }[];
  };
};

/** In the metadata of customers and subscriptions: which account they are of. */
export const ACCOUNT_METADATA = 'pressroom_account';

/** What an account takes over. Without `state` or `plan` it keeps what it has. */
export interface Taken {
  subscription: string;
  state?: AccountState;
  plan?: string;
  period?: { start: Date; end: Date };
  cancelAtPeriodEnd: boolean;
  /** To be logged, for the operator to fix. */
  problems: { what: 'a status that is not known' | 'a price that is no plan’s'; value: string }[];
}

/** Statuses that a subscription never leaves. */
export const ENDED: ReadonlySet<string> = new Set(['canceled', 'incomplete_expired']);

/** A subscription whose first payment is still on its way stands behind one that works. */
const rank = ({ status }: SubscriptionFacts) =>
  ENDED.has(status) ? 2 : status === 'incomplete' ? 1 : 0;

const planOf = (
  { items }: SubscriptionFacts,
  plans: ReadonlyMap<string, string>,
): string | undefined =>
  items.data.map(({ price }) => plans.get(price.id)).find(plan => plan !== undefined);

interface About {
  accountId: string;
  /** The subscription and the state that the account took last. */
  before: { subscription?: string | undefined; state?: AccountState | undefined };
  /** The plan of each price. */
  plans: ReadonlyMap<string, string>;
}

/**
 * The newest of the account's that has not ended, else the newest. A customer may have bought
 * something else of the same company.
 */
export function relevant(
  subscriptions: readonly SubscriptionFacts[],
  { accountId, before, plans }: About,
): SubscriptionFacts | undefined {
  return subscriptions
    .filter(
      each =>
        planOf(each, plans) !== undefined ||
        each.metadata?.[ACCOUNT_METADATA] === accountId ||
        each.id === before.subscription,
    )
    .sort((one, other) => rank(one) - rank(other) || other.created - one.created)[0];
}

const date = (seconds: number) => new Date(seconds * 1_000);

/** https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses */
function stateOf(
  { id, status }: SubscriptionFacts,
  before: About['before'],
): AccountState | undefined | 'unknown' {
  // The end is applied once: what the operator sets afterwards stays.
  if (ENDED.has(status) && before.subscription === id && before.state === 'canceled')
    return undefined;
  if (status === 'incomplete') return undefined;
  // Of an account that never had a subscription: its first payment did not come, and it goes on
  // with what it has.
  if (status === 'incomplete_expired') return before.state === undefined ? undefined : 'canceled';
  // An ended subscription is `canceled`, which is not served. The plan stays, for who pays again;
  // the free plan would be the operator's gift.
  return ACCOUNT_STATES.find(state => state === status) ?? 'unknown';
}

/** What the account takes of `subscription`, which is `relevant`. */
export function taken(subscription: SubscriptionFacts, about: About): Taken {
  const { id, status, items } = subscription;
  const ended = ENDED.has(status);
  const state = stateOf(subscription, about.before);
  const plan = planOf(subscription, about.plans);
  const paid = items.data.find(({ price }) => about.plans.has(price.id)) ?? items.data[0];
  const problems: Taken['problems'] = [];
  if (state === 'unknown') problems.push({ what: 'a status that is not known', value: status });
  if (plan === undefined)
    problems.push({ what: 'a price that is no plan’s', value: items.data[0]?.price.id ?? 'none' });
  return {
    subscription: id,
    ...(state !== undefined && state !== 'unknown' && { state }),
    // Not before it is paid for the first time, and not again after its end.
    ...(plan !== undefined && state !== undefined && status !== 'incomplete_expired' && { plan }),
    ...(paid &&
      !ended &&
      status !== 'incomplete' && {
        period: { start: date(paid.current_period_start), end: date(paid.current_period_end) },
      }),
    cancelAtPeriodEnd:
      !ended && (subscription.cancel_at_period_end || subscription.cancel_at !== null),
    problems,
  };
}
