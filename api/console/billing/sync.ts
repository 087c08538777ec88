// Synchronizes an account with its customer at the payment provider: reads the subscriptions, and
// writes the result unless a newer one was written in the meantime.
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../../common/contract/errors.ts';
import type { Log } from '../../../common/log.ts';
import type { AccountDocument, Document, Store } from '../../store/store.ts';
import type { Audit } from '../security/audit.ts';
import { type Payments, UnknownCustomer } from './payments.ts';
import type { Prices } from './prices.ts';
import {
  relevantSubscription,
  type SubscriptionChange,
  type SubscriptionFacts,
  subscriptionChange,
} from './subscription.ts';

/** The provider's name in audit entries. */
const ACTOR = 'Stripe';

/**
 * Of concurrent synchronizations one writes and the others try again: a burst is about ten events
 * of one customer, and each may lose to every other once.
 */
const TRIES = 24;
/** Times the number of tries and a random factor, so that the same ones do not collide again. */
const PAUSE_MS = 40;

type SyncedAccount = Pick<AccountDocument, '_id' | 'name' | 'plan' | 'state' | 'billing'>;

export type Sync = ReturnType<typeof createSync>;

interface SyncDeps {
  store: Store;
  payments: Payments;
  prices: Prices;
  audit: Audit;
  log: Log;
}

/** `paused` by the operator and not by the provider: no payment resumes the account. */
const pausedByOperator: Document = {
  $and: [{ $eq: ['$state', 'paused'] }, { $ne: ['$billing.state', 'paused'] }],
};

/** The update of the account, by the server's clock. */
function updateOf({
  subscription,
  state,
  plan,
  period,
  cancelAtPeriodEnd,
}: SubscriptionChange): Document[] {
  const after = { $cond: [pausedByOperator, '$state', state ?? '$state'] };
  return [
    {
      $set: {
        ...(plan !== undefined && { plan: { $literal: plan } }),
        state: after,
        // The grace period starts when the state is first stored.
        pastDueSince: {
          $cond: [
            { $eq: [after, 'past_due'] },
            { $ifNull: ['$pastDueSince', '$$NOW'] },
            '$$REMOVE',
          ],
        },
        'billing.subscription': { $literal: subscription },
        'billing.state': state ?? '$billing.state',
        'billing.periodStart': period?.start ?? '$$REMOVE',
        'billing.periodEnd': period?.end ?? '$$REMOVE',
        'billing.cancelAtPeriodEnd': cancelAtPeriodEnd,
        // A pending checkout is synchronized again.
        'billing.checkoutAt': state === undefined ? '$billing.checkoutAt' : '$$REMOVE',
      },
    },
    ...MARK_SYNCED,
  ];
}

const MARK_SYNCED: Document[] = [
  {
    $set: {
      'billing.revision': { $add: ['$billing.revision', 1] },
      'billing.syncedAt': '$$NOW',
      'billing.claimedUntil': '$$REMOVE',
    },
  },
];

const PROJECTION = { name: 1, plan: 1, state: 1, billing: 1 } as const;

const PROBLEMS: Record<SubscriptionChange['problems'][number]['what'], string> = {
  'unknown status': 'a subscription has an unknown status: the state of the account is unchanged',
  'price without a plan':
    'a subscription has a price without a plan: the plan of the account is unchanged',
};

export function createSync({ store, payments, prices, audit, log }: SyncDeps) {
  const { accounts, limits } = store;

  /** Null when another process wrote since `before` was read. */
  async function write(before: SyncedAccount, change: Document[]): Promise<SyncedAccount | null> {
    const filter = { _id: before._id, 'billing.revision': before.billing!.revision };
    return store.limited(
      accounts.findOneAndUpdate(filter, change, {
        returnDocument: 'after',
        projection: PROJECTION,
        ...limits,
      }) as Promise<SyncedAccount | null>,
    );
  }

  async function noteChanges(before: SyncedAccount, after: SyncedAccount): Promise<void> {
    for (const field of ['plan', 'state'] as const) {
      if (before[field] === after[field]) continue;
      const details = { before: before[field], after: after[field] };
      await audit.note(
        { account: before._id, actor: ACTOR },
        { action: `billing.${field}_changed`, target: before.name, details },
      );
    }
  }

  /** With a wrong secret key every customer is unknown; that must not end paid subscriptions. */
  async function subscriptionsOf({
    _id: accountId,
    billing,
  }: SyncedAccount): Promise<SubscriptionFacts[]> {
    try {
      return await payments.subscriptionsOf(billing!.customer);
    } catch (error) {
      if (!(error instanceof UnknownCustomer)) throw error;
      log.error(
        { accountId, customer: billing!.customer },
        'a customer is unknown to the payment provider: plan and state are unchanged',
      );
      return [];
    }
  }

  /** False when another process wrote since the account was read. */
  async function trySync(before: SyncedAccount): Promise<boolean> {
    const { _id: accountId, billing } = before;
    const context = {
      accountId,
      before: { subscription: billing!.subscription, state: billing!.state },
      plans: prices.plans,
    };
    const found = relevantSubscription(await subscriptionsOf(before), context);
    if (!found) return (await write(before, MARK_SYNCED)) !== null;
    const change = subscriptionChange(found, context);
    for (const { what, value } of change.problems)
      log.error({ accountId, subscription: found.id, value }, PROBLEMS[what]);
    const after = await write(before, updateOf(change));
    if (after) await noteChanges(before, after);
    return after !== null;
  }

  /**
   * Resolves when the account matches the provider. Throws ApiError `unavailable` or `conflict`
   * (see Payments).
   */
  async function account(accountId: string): Promise<void> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const before = await store.limited(
        accounts.findOne<SyncedAccount>({ _id: accountId }, { projection: PROJECTION, ...limits }),
      );
      if (!before?.billing) return;
      if (await trySync(before)) return;
      await sleep(PAUSE_MS * tries * Math.random());
    }
    throw new ApiError(
      'unavailable',
      'Too many concurrent changes to this account. Try again in a minute.',
      { retryAfterS: 60 },
    );
  }

  /** The same for the account of a customer. Returns false when no account has this customer. */
  async function customer(id: string): Promise<boolean> {
    const found = await store.limited(
      accounts.findOne({ 'billing.customer': id }, { projection: { _id: 1 }, ...limits }),
    );
    if (found) await account(found._id);
    return found !== null;
  }

  return { account, customer };
}
