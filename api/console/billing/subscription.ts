// Maps the Stripe subscriptions of a customer to an account: which subscription is relevant, and
// the state, plan and period that follow from it. Pure.
import type { Stripe } from 'stripe';
import { ACCOUNT_STATES, type AccountState } from '../../store/store.ts';

/** The fields of a subscription that are read. */
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

/** The metadata key of customers and subscriptions that holds the account id. */
export const ACCOUNT_METADATA = 'pressroom_account';

/** The change of an account. Without `state` or `plan` it keeps its own. */
export interface SubscriptionChange {
  subscription: string;
  state?: AccountState;
  plan?: string;
  period?: { start: Date; end: Date };
  cancelAtPeriodEnd: boolean;
  /** Logged, for the operator to fix. */
  problems: { what: 'unknown status' | 'price without a plan'; value: string }[];
}

/** Statuses that a subscription never leaves. */
export const ENDED: ReadonlySet<string> = new Set(['canceled', 'incomplete_expired']);

/** A subscription that awaits its first payment ranks behind one that is paid. */
const rank = ({ status }: SubscriptionFacts) =>
  ENDED.has(status) ? 2 : status === 'incomplete' ? 1 : 0;

const planOf = (
  { items }: SubscriptionFacts,
  plans: ReadonlyMap<string, string>,
): string | undefined =>
  items.data.map(({ price }) => plans.get(price.id)).find(plan => plan !== undefined);

interface Context {
  accountId: string;
  /** The subscription and the state that the account got last. */
  before: { subscription?: string | undefined; state?: AccountState | undefined };
  /** The plan of each price. */
  plans: ReadonlyMap<string, string>;
}

/**
 * The account's newest subscription that has not ended, else its newest. Others are ignored, since
 * a customer may buy other products of the same company.
 */
export function relevantSubscription(
  subscriptions: readonly SubscriptionFacts[],
  { accountId, before, plans }: Context,
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
  before: Context['before'],
): AccountState | undefined | 'unknown' {
  // The end is applied once, so that it does not undo a later change by the operator.
  if (ENDED.has(status) && before.subscription === id && before.state === 'canceled')
    return undefined;
  if (status === 'incomplete') return undefined;
  // The first payment failed: an account that never had a subscription keeps its state.
  if (status === 'incomplete_expired') return before.state === undefined ? undefined : 'canceled';
  // An account with an ended subscription is `canceled` and keeps its plan. Moving it to the free
  // plan is the operator's decision.
  return ACCOUNT_STATES.find(state => state === status) ?? 'unknown';
}

/** The change of the account by its relevant subscription. */
export function subscriptionChange(
  subscription: SubscriptionFacts,
  context: Context,
): SubscriptionChange {
  const { id, status, items } = subscription;
  const ended = ENDED.has(status);
  const state = stateOf(subscription, context.before);
  const plan = planOf(subscription, context.plans);
  const paid = items.data.find(({ price }) => context.plans.has(price.id)) ?? items.data[0];
  const problems: SubscriptionChange['problems'] = [];
  if (state === 'unknown') problems.push({ what: 'unknown status', value: status });
  if (plan === undefined)
    problems.push({ what: 'price without a plan', value: items.data[0]?.price.id ?? 'none' });
  return {
    subscription: id,
    ...(state !== undefined && state !== 'unknown' && { state }),
    // The plan applies from the first payment on, and is not set again after the end.
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
