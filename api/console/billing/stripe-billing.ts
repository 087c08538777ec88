// Billing by Stripe for the members of an account: the overview, the checkout page and the
// customer portal.
import { ApiError, invalid } from '../../../common/contract/errors.ts';
import type { Log } from '../../../common/log.ts';
import type { Store } from '../../store/store.ts';
import type { Billing } from './billing.ts';
import {
  type BilledAccount,
  billedAccount,
  billingOverview,
  type OverviewOptions,
} from './overview.ts';
import { type Payments, UnknownCustomer } from './payments.ts';
import type { PriceList } from './price-list.ts';
import type { Prices } from './prices.ts';
import { ENDED, relevantSubscription, type SubscriptionFacts } from './subscription.ts';
import type { Sync } from './sync.ts';

export interface StripeBillingDeps {
  store: Store;
  payments: Payments;
  prices: Prices;
  priceList: PriceList;
  sync: Pick<Sync, 'account'>;
  /** Where Stripe's pages lead back to. */
  backUrl: string;
  /** What every overview shows, whatever the account. */
  overview: Pick<OverviewOptions, 'plans' | 'pastDueGraceMs'>;
  log: Log;
}

/**
 * For this long after a checkout was opened, opening the billing page synchronizes the account, so
 * that a new plan appears even where the event is late.
 */
const CHECKOUT_PENDING_MS = 86_400e3;
/** The least time between two of these synchronizations. */
const SYNC_EVERY_MS = 3e3;

const STRIPE_UNAVAILABLE =
  'The payment provider is not responding. Prices may be missing, and the billing status may be out of date.';

const isSuspendedByOperator = ({ state, billing }: BilledAccount) =>
  state === 'paused' && billing?.state !== 'paused';

const isCheckoutPending = ({ billing }: BilledAccount, now: number) =>
  billing?.checkoutAt !== undefined &&
  now - billing.checkoutAt.getTime() < CHECKOUT_PENDING_MS &&
  now - billing.syncedAt.getTime() > SYNC_EVERY_MS;

const conflict = (message: string) => new ApiError('conflict', message);

export class StripeBilling implements Billing {
  readonly mode = 'stripe';
  readonly #deps: StripeBillingDeps;

  constructor(deps: StripeBillingDeps) {
    this.#deps = deps;
  }

  async show(accountId: string) {
    const { store, priceList, prices, overview } = this.#deps;
    const before = await billedAccount(store, accountId);
    const [upToDate, { prices: known, complete }] = await Promise.all([
      this.#syncPendingCheckout(before),
      priceList.read(),
    ]);
    const account = await billedAccount(store, accountId);
    return billingOverview(account, {
      ...overview,
      mode: 'stripe',
      sold: prices.sold,
      prices: known,
      notice: upToDate && complete ? null : STRIPE_UNAVAILABLE,
    });
  }

  async checkout(accountId: string, plan: string, email: string) {
    const { store, prices } = this.#deps;
    const price = prices.sold.get(plan);
    if (price === undefined) throw notForSale(plan, prices);
    const account = await billedAccount(store, accountId);
    if (isSuspendedByOperator(account))
      throw conflict('This account is suspended. Contact your administrator.');
    const url = await this.#paymentPageOf(account, price, email);
    await this.#noteCheckout(accountId);
    return { url };
  }

  async portal(accountId: string) {
    const { store, payments, backUrl } = this.#deps;
    const { billing } = await billedAccount(store, accountId);
    if (!billing) throw conflict('This account has no purchases yet. Choose a plan first.');
    const url = await payments.portalPage({ customer: billing.customer, backUrl });
    await this.#noteCheckout(accountId);
    return { url };
  }

  /** False when Stripe is unavailable. */
  async #syncPendingCheckout(account: BilledAccount): Promise<boolean> {
    if (!isCheckoutPending(account, Date.now())) return true;
    try {
      await this.#deps.sync.account(account._id);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#deps.log.warn(
        { accountId: account._id, reason: error.message },
        'could not synchronize an account after its checkout',
      );
      return false;
    }
  }

  /** The payment page, with a new customer when Stripe does not know the stored one any more. */
  async #paymentPageOf(account: BilledAccount, price: string, email: string): Promise<string> {
    const { billing } = account;
    if (!billing) return this.#paymentPage(account, await this.#newCustomer(account, email), price);
    try {
      return await this.#paymentPage(account, billing.customer, price);
    } catch (error) {
      if (!(error instanceof UnknownCustomer)) throw error;
      return this.#paymentPage(account, await this.#newCustomer(account, email), price);
    }
  }

  /** A page that changes the current subscription, or else the checkout of a new one. */
  async #paymentPage(
    { _id: accountId, billing }: BilledAccount,
    customer: string,
    price: string,
  ): Promise<string> {
    const { payments, prices, backUrl } = this.#deps;
    const found = relevantSubscription(await payments.subscriptionsOf(customer), {
      accountId,
      before: { subscription: billing?.subscription },
      plans: prices.plans,
    });
    if (!found || ENDED.has(found.status) || found.status === 'incomplete')
      return payments.checkoutPage({ customer, accountId, price, backUrl });
    const change = priceChange(found, price, prices);
    return payments.portalPage({ customer, backUrl, change });
  }

  /**
   * Creates and stores the customer. Of two concurrent calls the later one uses the customer of the
   * earlier: Stripe returns the same to both.
   */
  async #newCustomer(
    { _id, name, billing: before }: BilledAccount,
    email: string,
  ): Promise<string> {
    const { store, payments } = this.#deps;
    const customer = await payments.createCustomer(_id, before?.customer);
    const billing = { customer, revision: (before?.revision ?? 0) + 1, syncedAt: new Date() };
    const asRead = before
      ? { 'billing.customer': before.customer }
      : { billing: { $exists: false } };
    const written = await store.limited(
      store.accounts.updateOne({ _id, ...asRead }, { $set: { billing } }, store.limits),
    );
    if (written.matchedCount > 0) await payments.nameCustomer(customer, { name, email });
    return (await billedAccount(store, _id)).billing!.customer;
  }

  /** Stores that the person went to a page of Stripe where the subscription can change. */
  async #noteCheckout(accountId: string): Promise<void> {
    const { store } = this.#deps;
    const set = { $set: { 'billing.checkoutAt': new Date() } };
    await store.limited(store.accounts.updateOne({ _id: accountId }, set, store.limits));
  }
}

const notForSale = (plan: string, { sold }: Prices) =>
  invalid(
    `\`plan\`: \`${plan}\` is not for sale. Choose one of: ${[...sold.keys()].join(', ')}. To cancel a subscription, open “Manage billing”.`,
  );

/** The change of a subscription that has not ended to another price. Throws `conflict`. */
function priceChange({ id, status, items }: SubscriptionFacts, price: string, prices: Prices) {
  if (status !== 'active' && status !== 'trialing')
    throw conflict(
      'The subscription has an open payment. Pay the open invoice, then change the plan.',
    );
  const item = items.data.find(each => prices.plans.has(each.price.id)) ?? items.data[0];
  if (!item)
    throw conflict('The subscription has no item that can change. Contact your administrator.');
  if (item.price.id === price) throw conflict('The account is already on this plan.');
  return { subscription: id, item: item.id, price };
}
