// Brings an account to what the payment provider says of its customer: asks, and writes the answer
// unless a newer one was written meanwhile.
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../../common/contract/errors.ts';
import type { Log } from '../../../common/log.ts';
import type { AccountDocument, Document, Store } from '../../store/store.ts';
import type { Audit } from '../security/audit.ts';
import { type Payments, UnknownCustomer } from './payments.ts';
import type { Prices } from './prices.ts';
import { relevant, type SubscriptionFacts, type Taken, taken } from './subscription.ts';

/** What audit entries call the provider. */
const ACTOR = 'Stripe';

/**
 * Of all that meet, one writes and the others ask again: a burst of events about one customer is
 * ten, and each may lose to every other once.
 */
const TRIES = 24;
/** Times a random share and the number of tries, so that those who met do not meet again. */
const PAUSE_MS = 40;

type Asked = Pick<AccountDocument, '_id' | 'name' | 'plan' | 'state' | 'billing'>;

export interface Sync {
  /**
   * Resolves when the account is what the provider says now. Throws ApiError `unavailable` or
   * `conflict` (see Payments).
   */
  account(accountId: string): Promise<void>;
  /** The same for the account of a customer; false when there is none. */
  customer(customer: string): Promise<boolean>;
}

interface SyncDeps {
  store: Store;
  payments: Payments;
  prices: Prices;
  audit: Audit;
  log: Log;
}

/**
 * A state that the provider did not give is the operator's: an account that is `paused` so stays
 * it, whatever is paid.
 */
const pausedByOperator: Document = {
  $and: [{ $eq: ['$state', 'paused'] }, { $ne: ['$billing.state', 'paused'] }],
};

/**
 * The change of the document, by the server's clock; it must find the revision that was read before
 * the provider was asked.
 */
function changeOf({ subscription, state, plan, period, cancelAtPeriodEnd }: Taken): Document[] {
  const after = { $cond: [pausedByOperator, '$state', state ?? '$state'] };
  return [
    {
      $set: {
        ...(plan !== undefined && { plan: { $literal: plan } }),
        state: after,
        // The grace runs from the first word of it.
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
        // Whoever still is on the way to paying is asked about again.
        'billing.checkoutAt': state === undefined ? '$billing.checkoutAt' : '$$REMOVE',
      },
    },
    ...ASKED,
  ];
}

const ASKED: Document[] = [
  {
    $set: {
      'billing.revision': { $add: ['$billing.revision', 1] },
      'billing.syncedAt': '$$NOW',
      'billing.claimedUntil': '$$REMOVE',
    },
  },
];

const SEEN = { name: 1, plan: 1, state: 1, billing: 1 } as const;

export function createSync({ store, payments, prices, audit, log }: SyncDeps): Sync {
  const { accounts, limits } = store;

  async function write(before: Asked, change: Document[]): Promise<Asked | null> {
    const filter = { _id: before._id, 'billing.revision': before.billing!.revision };
    return store.limited(
      accounts.findOneAndUpdate(filter, change, {
        returnDocument: 'after',
        projection: SEEN,
        ...limits,
      }) as Promise<Asked | null>,
    );
  }

  async function noteChanges(before: Asked, after: Asked): Promise<void> {
    for (const field of ['plan', 'state'] as const) {
      if (before[field] === after[field]) continue;
      const details = { before: before[field], after: after[field] };
      await audit.note(
        { account: before._id, actor: ACTOR },
        { action: `billing.${field}_changed`, target: before.name, details },
      );
    }
  }

  /** With a wrong secret key nobody is known: that must not end what everybody has paid. */
  async function subscriptionsOf({ _id: accountId, billing }: Asked): Promise<SubscriptionFacts[]> {
    try {
      return await payments.subscriptionsOf(billing!.customer);
    } catch (error) {
      if (!(error instanceof UnknownCustomer)) throw error;
      log.error(
        { accountId, customer: billing!.customer },
        'the payment provider does not know a customer; the account keeps what it had',
      );
      return [];
    }
  }

  /** False when another answer was written since the account was read. */
  async function once(before: Asked): Promise<boolean> {
    const { _id: accountId, billing } = before;
    const about = {
      accountId,
      before: { subscription: billing!.subscription, state: billing!.state },
      plans: prices.plans,
    };
    const found = relevant(await subscriptionsOf(before), about);
    if (!found) return (await write(before, ASKED)) !== null;
    const answer = taken(found, about);
    for (const { what, value } of answer.problems)
      log.error(
        { accountId, subscription: found.id, value },
        `a subscription has ${what}; the account keeps what it had`,
      );
    const after = await write(before, changeOf(answer));
    if (after) await noteChanges(before, after);
    return after !== null;
  }

  async function account(accountId: string): Promise<void> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const before = await store.limited(
        accounts.findOne<Asked>({ _id: accountId }, { projection: SEEN, ...limits }),
      );
      if (!before?.billing) return;
      if (await once(before)) return;
      await sleep(PAUSE_MS * tries * Math.random());
    }
    throw new ApiError(
      'unavailable',
      'The account is being changed by many at once. Try again in a minute.',
      { retryAfterS: 60 },
    );
  }

  async function customer(name: string): Promise<boolean> {
    const found = await store.limited(
      accounts.findOne({ 'billing.customer': name }, { projection: { _id: 1 }, ...limits }),
    );
    if (found) await account(found._id);
    return found !== null;
  }

  return { account, customer };
}
