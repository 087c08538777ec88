// The port of the payment provider: what billing asks of Stripe. Every call throws ApiError:
// UnknownCustomer, `conflict` for what else it refuses, `unavailable` when it gives no answer.
import { ApiError } from '../../../common/contract/errors.ts';
import type { SubscriptionFacts } from './subscription.ts';

/**
 * The customer was deleted there, or is of another company or of its tests: the key was changed.
 */
export class UnknownCustomer extends ApiError {
  constructor(cause?: unknown) {
    const message =
      'The payment provider does not know the customer of this account any more. Choose a plan to begin anew.';
    super('conflict', message, { cause });
  }
}

export interface PaymentEvent {
  id: string;
  type: string;
  /** Absent for an event that is about no customer. */
  customer?: string;
}

export interface Payments {
  /**
   * The id of the account's new customer; the same when asked again within a day. `instead`: of one
   * that is not known any more.
   */
  createCustomer(accountId: string, instead?: string): Promise<string>;
  /** What stands on the customer's invoices until the person changes it. */
  nameCustomer(customer: string, as: { name: string; email: string }): Promise<void>;
  /** All of the customer's, ended ones included; the newest hundred. */
  subscriptionsOf(customer: string): Promise<SubscriptionFacts[]>;
  /**
   * The page where a subscription is bought. A page that was opened before and not used is closed,
   * so that nobody buys twice.
   */
  checkoutPage(of: {
    customer: string;
    accountId: string;
    price: string;
    backUrl: string;
  }): Promise<string>;
  /**
   * The page with invoices and means of payment; with `change`, the one that confirms another price
   * of a subscription.
   */
  portalPage(of: {
    customer: string;
    backUrl: string;
    change?: { subscription: string; item: string; price: string };
  }): Promise<string>;
  /**
   * The product's name, and the label of its price, such as `€29.00 / month`; null for a price that
   * is no single amount.
   */
  price(id: string): Promise<{ title: string; amount: string | null }>;
  /** Checks who sent it. Throws ApiError `validation_error`, the same for whatever is wrong. */
  readEvent(body: Buffer, signature: string): Promise<PaymentEvent>;
}

/**
 * A provider whose library is loaded at the first call: it is 30 MB of memory and a tenth of a
 * second that an installation without payments does not need.
 */
export function loadedLater(load: () => Promise<Payments>): Payments {
  let loading: Promise<Payments> | undefined;
  const there = () => {
    loading ??= load();
    return loading;
  };
  return {
    createCustomer: async (...of) => (await there()).createCustomer(...of),
    nameCustomer: async (...of) => (await there()).nameCustomer(...of),
    subscriptionsOf: async (...of) => (await there()).subscriptionsOf(...of),
    checkoutPage: async (...of) => (await there()).checkoutPage(...of),
    portalPage: async (...of) => (await there()).portalPage(...of),
    price: async (...of) => (await there()).price(...of),
    readEvent: async (...of) => (await there()).readEvent(...of),
  };
}
