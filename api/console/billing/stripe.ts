// The calls to Stripe: their parameters, their time limits, and the errors they map to.
import { Stripe } from 'stripe';
import { ApiError, invalid } from '../../../common/contract/errors.ts';
import type { Log } from '../../../common/log.ts';
import {
  type CheckoutPage,
  type PaymentEvent,
  type Payments,
  type PortalPage,
  UnknownCustomer,
} from './payments.ts';
import { priceLabel } from './price-label.ts';
import { ACCOUNT_METADATA, type SubscriptionFacts } from './subscription.ts';

export interface StripeAccess {
  secretKey: string;
  webhookSecret: string;
  /** `https://api.stripe.com`, or a proxy for it. */
  apiUrl: string;
  /** Time limit of one attempt of a call. */
  callMs?: number;
}

/** Short, since a person waits for the response. */
const CALL_MS = 10_000;
const RETRIES = 2;
/** An older event may be a replay, or the sender's clock is wrong. */
const TOLERANCE_S = 300;

const unavailable = (cause: unknown) =>
  new ApiError(
    'unavailable',
    'The payment provider is not responding. Nothing was changed. Try again in a minute.',
    { cause, retryAfterS: 60 },
  );

function createClient({ secretKey, apiUrl, callMs = CALL_MS }: StripeAccess): Stripe {
  const { protocol, hostname, port } = new URL(apiUrl);
  const plain = protocol === 'http:';
  return new Stripe(secretKey, {
    host: hostname,
    port: port || (plain ? 80 : 443),
    protocol: plain ? 'http' : 'https',
    timeout: callMs,
    maxNetworkRetries: RETRIES,
    telemetry: false,
    appInfo: { name: 'Pressroom' },
  });
}

/**
 * Maps an error of Stripe to an ApiError. Its messages can contain user input, so only its codes
 * are logged.
 */
function apiErrorOf(cause: unknown, what: string, log: Log): unknown {
  if (!(cause instanceof Stripe.errors.StripeError)) return cause;
  const { type, statusCode, code, param, requestId: stripeRequestId } = cause;
  const fields = { what, type, status: statusCode, code, param, stripeRequestId };
  if (cause instanceof Stripe.errors.StripeInvalidRequestError) {
    log.error(fields, 'Stripe rejected a request');
    if (code === 'resource_missing' && param === 'customer') return new UnknownCustomer(cause);
    const message = `The payment provider rejected the request: ${cause.message.slice(0, 300)}`;
    return new ApiError('conflict', message, { cause });
  }
  if (
    cause instanceof Stripe.errors.StripeAuthenticationError ||
    cause instanceof Stripe.errors.StripePermissionError
  )
    log.error(fields, 'Stripe rejected PRESSROOM_STRIPE_SECRET_KEY');
  else log.warn(fields, 'Stripe is not responding');
  return unavailable(cause);
}

/** Opens no connection before the first call. */
export class StripePayments implements Payments {
  readonly #stripe: Stripe;
  readonly #webhookSecret: string;
  readonly #log: Log;

  constructor(access: StripeAccess, log: Log) {
    this.#stripe = createClient(access);
    this.#webhookSecret = access.webhookSecret;
    this.#log = log;
  }

  /** The key is idempotent only with equal parameters, so names, which change, are set later. */
  createCustomer(accountId: string, replaces?: string): Promise<string> {
    const idempotencyKey = ['pressroom-customer', accountId, ...(replaces ? [replaces] : [])];
    return this.#call('create customer', async stripe => {
      const customer = await stripe.customers.create(
        { metadata: { [ACCOUNT_METADATA]: accountId } },
        { idempotencyKey: idempotencyKey.join('-') },
      );
      return customer.id;
    });
  }

  nameCustomer(customer: string, { name, email }: { name: string; email: string }): Promise<void> {
    return this.#call('name customer', async stripe => {
      await stripe.customers.update(customer, { name, email });
    });
  }

  subscriptionsOf(customer: string): Promise<SubscriptionFacts[]> {
    return this.#call('list subscriptions', async stripe => {
      const list = await stripe.subscriptions.list({ customer, status: 'all', limit: 100 });
      return list.data;
    });
  }

  checkoutPage({ customer, accountId, price, backUrl }: CheckoutPage): Promise<string> {
    return this.#call('create checkout', async stripe => {
      await expireOpenCheckouts(stripe, customer);
      const metadata = { [ACCOUNT_METADATA]: accountId };
      const session = await stripe.checkout.sessions.create({
        mode: 'subscription',
        customer,
        client_reference_id: accountId,
        line_items: [{ price, quantity: 1 }],
        success_url: `${backUrl}?checkout=done`,
        cancel_url: `${backUrl}?checkout=left`,
        metadata,
        subscription_data: { metadata },
      });
      if (!session.url) throw unavailable(undefined);
      return session.url;
    });
  }

  portalPage({ customer, backUrl, change }: PortalPage): Promise<string> {
    return this.#call('create portal', async stripe => {
      const session = await stripe.billingPortal.sessions.create({
        customer,
        return_url: backUrl,
        ...(change && { flow_data: confirmChange(change, backUrl) }),
      });
      return session.url;
    });
  }

  price(id: string): Promise<{ title: string; amount: string | null }> {
    return this.#call('read price', async stripe => {
      const price = await stripe.prices.retrieve(id, { expand: ['product'] });
      const { product } = price;
      return {
        title: typeof product === 'object' && 'name' in product ? product.name : '',
        amount: priceLabel(price),
      };
    });
  }

  async readEvent(body: Buffer, signature: string): Promise<PaymentEvent> {
    try {
      const { webhooks } = this.#stripe;
      const event = webhooks.constructEvent(body, signature, this.#webhookSecret, TOLERANCE_S);
      const { id, type, data } = event;
      const { customer } = data.object as { customer?: string | { id: string } | null };
      return {
        id,
        type,
        ...(customer && { customer: typeof customer === 'string' ? customer : customer.id }),
      };
    } catch {
      // Without the library's error, which contains the whole event.
      throw invalid('The signature of the event is invalid.');
    }
  }

  async #call<T>(what: string, call: (stripe: Stripe) => Promise<T>): Promise<T> {
    try {
      return await call(this.#stripe);
    } catch (error) {
      throw apiErrorOf(error, what, this.#log);
    }
  }
}

async function expireOpenCheckouts(stripe: Stripe, customer: string): Promise<void> {
  const { data } = await stripe.checkout.sessions.list({ customer, status: 'open', limit: 100 });
  for (const { id } of data)
    await stripe.checkout.sessions.expire(id).catch(error => {
      // It was completed or expired since it was listed.
      if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
    });
}

/** The step of the portal that asks to confirm another price. */
const confirmChange = (
  { subscription, item, price }: NonNullable<PortalPage['change']>,
  backUrl: string,
) => ({
  type: 'subscription_update_confirm' as const,
  subscription_update_confirm: { subscription, items: [{ id: item, price, quantity: 1 }] },
  after_completion: {
    type: 'redirect' as const,
    redirect: { return_url: `${backUrl}?checkout=done` },
  },
});
