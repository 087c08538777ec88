// The state of the Stripe stub: customers, subscriptions, checkouts and prices. Each change queues
// its events for delivery.
import { randomBytes } from 'node:crypto';

const DAY_S = 86_400;

export interface FakeSubscription {
  id: string;
  object: 'subscription';
  customer: string;
  status: string;
  created: number;
  cancel_at: number | null;
  cancel_at_period_end: boolean;
  metadata: Record<string, string>;
  items: {
    object: 'list';
    data: {
      id: string;
      object: 'subscription_item';
      price: { id: string };
      current_period_start: number;
      current_period_end: number;
    }[];
  };
}

export interface FakeCheckout {
  id: string;
  object: 'checkout.session';
  customer: string;
  status: 'open' | 'complete' | 'expired';
  url: string;
  price: string;
  metadata: Record<string, string>;
}

export interface FakePrice {
  id: string;
  object: 'price';
  currency: string;
  unit_amount: number | null;
  recurring: { interval: string; interval_count: number } | null;
  product: { id: string; object: 'product'; name: string };
}

export interface FakeEvent {
  id: string;
  object: 'event';
  type: string;
  created: number;
  data: { object: object };
}

const id = (prefix: string) => `${prefix}_${randomBytes(8).toString('hex')}`;
const nowS = () => Math.floor(Date.now() / 1_000);

export function stripeWorld() {
  const customers = new Map<
    string,
    {
      id: string;
      object: 'customer';
      metadata: Record<string, string>;
      name?: string;
      email?: string;
    }
  >();
  const subscriptions: FakeSubscription[] = [];
  const checkouts: FakeCheckout[] = [];
  const prices = new Map<string, FakePrice>();
  let events: FakeEvent[] = [];
  let made = 0;

  /** Queues an event with a snapshot of the object, which may be outdated on delivery. */
  const emit = (type: string, object: object) =>
    void events.push({
      id: id('evt'),
      object: 'event',
      type,
      created: nowS(),
      data: { object: structuredClone(object) },
    });
  const changed = (subscription: FakeSubscription) =>
    emit('customer.subscription.updated', subscription);
  const invoice = (type: string, { customer }: FakeSubscription) =>
    emit(type, { id: id('in'), object: 'invoice', customer });

  function subscribe(
    customer: string,
    price: string,
    metadata: Record<string, string>,
    status = 'active',
  ): FakeSubscription {
    made += 1;
    const start = nowS();
    const item = {
      id: id('si'),
      object: 'subscription_item' as const,
      price: { id: price },
      current_period_start: start,
      current_period_end: start + 30 * DAY_S,
    };
    const subscription: FakeSubscription = {
      id: id('sub'),
      object: 'subscription',
      customer,
      status,
      // Strictly increasing, also within one second.
      created: start + made,
      cancel_at: null,
      cancel_at_period_end: false,
      metadata,
      items: { object: 'list', data: [item] },
    };
    subscriptions.push(subscription);
    emit('customer.subscription.created', subscription);
    return subscription;
  }

  return {
    customers,
    subscriptions,
    checkouts,
    prices,
    subscribe,
    /** Returns the events since the last call. */
    takeEvents(): FakeEvent[] {
      const taken = events;
      events = [];
      return taken;
    },
    addPrice(price: string, name: string, unitAmount: number, currency = 'eur') {
      const product = { id: id('prod'), object: 'product' as const, name };
      const recurring = { interval: 'month', interval_count: 1 };
      prices.set(price, {
        id: price,
        object: 'price',
        currency,
        unit_amount: unitAmount,
        recurring,
        product,
      });
    },
    createCustomer(metadata: Record<string, string>) {
      const customer = { id: id('cus'), object: 'customer' as const, metadata };
      customers.set(customer.id, customer);
      return customer;
    },
    /** Creates a checkout session from the request. */
    createCheckout(
      customer: string,
      price: string,
      metadata: Record<string, string>,
    ): FakeCheckout {
      const name = id('cs');
      const checkout: FakeCheckout = {
        id: name,
        object: 'checkout.session',
        customer,
        status: 'open',
        url: `https://checkout.stripe.test/c/${name}`,
        price,
        metadata,
      };
      checkouts.push(checkout);
      return checkout;
    },
    /** Completes the checkout at `url` with a payment. */
    pay(url: string): FakeSubscription {
      const checkout = checkouts.find(each => each.url === url);
      if (checkout?.status !== 'open')
        throw new Error(`the checkout is ${checkout?.status ?? 'unknown'}`);
      checkout.status = 'complete';
      const subscription = subscribe(checkout.customer, checkout.price, checkout.metadata);
      invoice('invoice.paid', subscription);
      emit('checkout.session.completed', { ...checkout, subscription: subscription.id });
      return subscription;
    },
    /** Sets the status as after a renewal or a retried payment. */
    setStatus(subscription: FakeSubscription, status: string) {
      subscription.status = status;
      invoice(
        ['active', 'trialing'].includes(status) ? 'invoice.paid' : 'invoice.payment_failed',
        subscription,
      );
      changed(subscription);
    },
    changePrice(subscription: FakeSubscription, price: string) {
      subscription.items.data[0]!.price = { id: price };
      changed(subscription);
    },
    setPeriod(subscription: FakeSubscription, start: Date, end: Date) {
      subscription.items.data[0]!.current_period_start = start.getTime() / 1_000;
      subscription.items.data[0]!.current_period_end = end.getTime() / 1_000;
      changed(subscription);
    },
    cancelAtEnd(subscription: FakeSubscription) {
      subscription.cancel_at_period_end = true;
      changed(subscription);
    },
    end(subscription: FakeSubscription) {
      subscription.status = 'canceled';
      emit('customer.subscription.deleted', subscription);
    },
  };
}
export type StripeWorld = ReturnType<typeof stripeWorld>;
