// Billing by Stripe, as a person of an account uses it: what stands where, the page to pay on, the
// page with the invoices.

import { ApiError, invalid } from '../../../common/contract/errors.ts';
import type { Log } from '../../../common/log.ts';
import type { Store } from '../../store/store.ts';
import type { Billing } from './billing.ts';
import { type BilledAccount, billedAccount, billingOverview, type OverviewOf } from './overview.ts';
import { type Payments, UnknownCustomer } from './payments.ts';
import type { PriceList } from './price-list.ts';
import type { Prices } from './prices.ts';
import { ENDED, relevant, type SubscriptionFacts } from './subscription.ts';
import type { Sync } from './sync.ts';

export interface StripeBillingDeps {
  store: Store;
  payments: Payments;
  prices: Prices;
  priceList: PriceList;
  sync: Pick<Sync, 'account'>;
  /** Where the provider's pages lead back to. */
  backUrl: string;
  of: Pick<OverviewOf, 'plans' | 'pastDueGraceMs'>;
  log: Log;
}

/**
 * Who comes back from paying sees it at once, also where the event is late: for so long the
 * provider is asked when the page is opened,
 */
const ON_THE_WAY_MS = 86_400e3;
/** and not more often than this. */
const ASKED_EVERY_MS = 3e3;

const AWAY =
  'The payment provider does not answer at the moment: prices may be missing, and the state may be old.';

const suspended = ({ state, billing }: BilledAccount) =>
  state === 'paused' && billing?.state !== 'paused';

const isOnTheWay = ({ billing }: BilledAccount, now: number) =>
  billing?.checkoutAt !== undefined &&
  now - billing.checkoutAt.getTime() < ON_THE_WAY_MS &&
  now - billing.syncedAt.getTime() > ASKED_EVERY_MS;

export function stripeBilling(deps: StripeBillingDeps): Billing {
  const { store, payments, prices, priceList, sync, backUrl, of, log } = deps;
  const { accounts, limits } = store;

  /** False when the provider is away. */
  async function catchUp(account: BilledAccount): Promise<boolean> {
    if (!isOnTheWay(account, Date.now())) return true;
    try {
      await sync.account(account._id);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      log.warn(
        { accountId: account._id, reason: error.message },
        'the state of an account could not be asked for',
      );
      return false;
    }
  }

  async function show(accountId: string) {
    const before = await billedAccount(store, accountId);
    const [caughtUp, { prices: known, complete }] = await Promise.all([
      catchUp(before),
      priceList.read(),
    ]);
    const account = await billedAccount(store, accountId);
    return billingOverview(account, {
      ...of,
      mode: 'stripe',
      sold: prices.sold,
      prices: known,
      notice: caughtUp && complete ? null : AWAY,
    });
  }

  /**
   * Of two people who go to pay at once, the later takes the customer of the other: the provider
   * gives both the same.
   */
  async function newCustomer(
    { _id, name, billing: before }: BilledAccount,
    email: string,
  ): Promise<string> {
    const customer = await payments.createCustomer(_id, before?.customer);
    const billing = { customer, revision: (before?.revision ?? 0) + 1, syncedAt: new Date() };
    const asRead = before
      ? { 'billing.customer': before.customer }
      : { billing: { $exists: false } };
    const made = await store.limited(
      accounts.updateOne({ _id, ...asRead }, { $set: { billing } }, limits),
    );
    if (made.matchedCount > 0) await payments.nameCustomer(customer, { name, email });
    return (await billedAccount(store, _id)).billing!.customer;
  }

  const leaves = (accountId: string) =>
    store.limited(
      accounts.updateOne(
        { _id: accountId },
        { $set: { 'billing.checkoutAt': new Date() } },
        limits,
      ),
    );

  /** Where a subscription that has not ended gets another price. */
  async function change(
    customer: string,
    { id, status, items }: SubscriptionFacts,
    price: string,
  ): Promise<string> {
    if (status !== 'active' && status !== 'trialing')
      throw new ApiError(
        'conflict',
        'There is a subscription whose payment is open. Pay it first: open the invoices, then change the plan.',
      );
    const item = items.data.find(each => prices.plans.has(each.price.id)) ?? items.data[0];
    if (!item)
      throw new ApiError(
        'conflict',
        'The subscription has nothing in it that could be changed. Ask who runs this installation.',
      );
    if (item.price.id === price)
      throw new ApiError('conflict', 'The account has this plan already.');
    return payments.portalPage({
      customer,
      backUrl,
      change: { subscription: id, item: item.id, price },
    });
  }

  async function wayToPay(
    { _id: accountId, billing }: BilledAccount,
    customer: string,
    price: string,
  ): Promise<string> {
    const about = {
      accountId,
      before: { subscription: billing?.subscription },
      plans: prices.plans,
    };
    const found = relevant(await payments.subscriptionsOf(customer), about);
    const current =
      found && !ENDED.has(found.status) && found.status !== 'incomplete' ? found : undefined;
    return current
      ? change(customer, current, price)
      : payments.checkoutPage({ customer, accountId, price, backUrl });
  }

  async function checkout(accountId: string, plan: string, email: string) {
    const price = prices.sold.get(plan);
    if (price === undefined)
      throw invalid(
        `\`plan\`: \`${plan}\` can not be bought; what can be is ${[...prices.sold.keys()].join(', ')}. To end a subscription, open the invoices.`,
      );
    const account = await billedAccount(store, accountId);
    if (suspended(account))
      throw new ApiError(
        'conflict',
        'The account was suspended by who runs this installation. Ask them first.',
      );
    const url = await wayToPay(
      account,
      account.billing?.customer ?? (await newCustomer(account, email)),
      price,
    ).catch(async error => {
      if (!(error instanceof UnknownCustomer) || !account.billing) throw error;
      return wayToPay(account, await newCustomer(account, email), price);
    });
    await leaves(accountId);
    return { url };
  }

  async function portal(accountId: string) {
    const { billing } = await billedAccount(store, accountId);
    if (!billing)
      throw new ApiError(
        'conflict',
        'Nothing was bought for this account yet. Choose a plan first.',
      );
    const url = await payments.portalPage({ customer: billing.customer, backUrl });
    await leaves(accountId);
    return { url };
  }

  return { mode: 'stripe', show, checkout, portal };
}
