// The port to the payment provider. Every call throws ApiError: UnknownCustomer, `conflict` for
// other rejected calls, `unavailable` when the provider does not respond.
import { ApiError } from '../../../common/contract/errors.ts';
import type { SubscriptionFacts } from './subscription.ts';

/** The customer was deleted at the provider, or the secret key is of another account or mode. */
export class UnknownCustomer extends ApiError {
  constructor(cause?: unknown) {
    super(
      'conflict',
      'The payment provider no longer has a customer for this account. Choose a plan to start again.',
      { cause },
    );
  }
}

export interface PaymentEvent {
  id: string;
  type: string;
  /** Absent when the event concerns no customer. */
  customer?: string;
}

export interface CheckoutPage {
  customer: string;
  accountId: string;
  price: string;
  backUrl: string;
}

export interface PortalPage {
  customer: string;
  backUrl: string;
  change?: { subscription: string; item: string; price: string };
}

export interface Payments {
  /**
   * Returns the id of the account's new customer; the same id for the same arguments within a day.
   * `replaces`: the customer that the provider does not know any more.
   */
  createCustomer(accountId: string, replaces?: string): Promise<string>;
  /** The name and address on the customer's invoices, until the person changes them. */
  nameCustomer(customer: string, as: { name: string; email: string }): Promise<void>;
  /** The customer's newest hundred subscriptions, ended ones included. */
  subscriptionsOf(customer: string): Promise<SubscriptionFacts[]>;
  /**
   * The page that sells a subscription. Expires the customer's open checkouts, so that no plan is
   * bought twice.
   */
  checkoutPage(page: CheckoutPage): Promise<string>;
  /**
   * The page with invoices and payment methods; with `change`, the page that confirms another price
   * of a subscription.
   */
  portalPage(page: PortalPage): Promise<string>;
  /**
   * The product's name and the label of its price, such as `€29.00 / month`; null for a price
   * without a single amount.
   */
  price(id: string): Promise<{ title: string; amount: string | null }>;
  /** Verifies the signature. Throws ApiError `validation_error` with one message for all causes. */
  readEvent(body: Buffer, signature: string): Promise<PaymentEvent>;
}

/**
 * Loads the provider's library with the first call: an installation without payments saves 30 MB
 * of memory and 0.1 s of its start.
 */
export function lazyPayments(load: () => Promise<Payments>): Payments {
  let loading: Promise<Payments> | undefined;
  const loaded = () => {
    loading ??= load();
    return loading;
  };
  return {
    createCustomer: async (...given) => (await loaded()).createCustomer(...given),
    nameCustomer: async (...given) => (await loaded()).nameCustomer(...given),
    subscriptionsOf: async (...given) => (await loaded()).subscriptionsOf(...given),
    checkoutPage: async (...given) => (await loaded()).checkoutPage(...given),
    portalPage: async (...given) => (await loaded()).portalPage(...given),
    price: async (...given) => (await loaded()).price(...given),
    readEvent: async (...given) => (await loaded()).readEvent(...given),
  };
}
