// Payments by Stripe: the calls that are sent, their limits in time, and what is said when they
// fail.
import { Stripe } from 'stripe';
import { ApiError, invalid } from '../../../common/contract/errors.ts';
import type { Log } from '../../../common/log.ts';
import { type Payments, UnknownCustomer } from './payments.ts';
import { priceLabel } from './price-label.ts';
import { ACCOUNT_METADATA } from './subscription.ts';

export interface StripeAccess {
  secretKey: string;
  webhookSecret: string;
  /** `https://api.stripe.com`, or a proxy of it. */
  apiUrl: string;
  /** Of one try of a call. */
  callMs?: number;
}

/** People wait for the answer. */
const CALL_MS = 10_000;
const RETRIES = 2;
/** An event that is older was recorded by somebody, or its sender's clock is wrong. */
const TOLERANCE_S = 300;

const away = (cause: unknown) =>
  new ApiError(
    'unavailable',
    'The payment provider does not answer at the moment. Nothing was changed. Try again in a minute.',
    {
      cause,
      retryAfterS: 60,
    },
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
 * Maps errors of Stripe to ApiError. Its messages can contain user input: only its codes are
 * logged.
 */
async function asked<T>(log: Log, what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (!(cause instanceof Stripe.errors.StripeError)) throw cause;
    const { type, statusCode, code, param, requestId: stripeRequestId } = cause;
    const fields = { what, type, status: statusCode, code, param, stripeRequestId };
    if (cause instanceof Stripe.errors.StripeInvalidRequestError) {
      log.error(fields, 'Stripe refused a call');
      if (code === 'resource_missing' && param === 'customer') throw new UnknownCustomer(cause);
      throw new ApiError(
        'conflict',
        `The payment provider refused: ${cause.message.slice(0, 300)}`,
        { cause },
      );
    }
    if (
      cause instanceof Stripe.errors.StripeAuthenticationError ||
      cause instanceof Stripe.errors.StripePermissionError
    )
      log.error(fields, 'Stripe does not accept PRESSROOM_STRIPE_SECRET_KEY for a call');
    else log.warn(fields, 'Stripe does not answer');
    throw away(cause);
  }
}

async function closeOpenPages(stripe: Stripe, customer: string): Promise<void> {
  const { data } = await stripe.checkout.sessions.list({ customer, status: 'open', limit: 100 });
  for (const { id } of data)
    await stripe.checkout.sessions.expire(id).catch(error => {
      // It was used or ran out in this moment.
      if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
    });
}

/** Connects at the first call. */
export function stripePayments(access: StripeAccess, log: Log): Payments {
  const stripe = createClient(access);

  const ask = <T>(what: string, call: () => Promise<T>) => asked(log, what, call);

  return {
    createCustomer: (accountId, instead) =>
      ask('create customer', async () => {
        // What the key was first used with must be the same each time, so names, which change, come
        // afterwards.
        const customer = await stripe.customers.create(
          { metadata: { [ACCOUNT_METADATA]: accountId } },
          {
            idempotencyKey: ['pressroom-customer', accountId, ...(instead ? [instead] : [])].join(
              '-',
            ),
          },
        );
        return customer.id;
      }),

    nameCustomer: (customer, { name, email }) =>
      ask('name customer', async () => {
        await stripe.customers.update(customer, { name, email });
      }),

    subscriptionsOf: customer =>
      ask(
        'list subscriptions',
        async () => (await stripe.subscriptions.list({ customer, status: 'all', limit: 100 })).data,
      ),

    checkoutPage: ({ customer, accountId, price, backUrl }) =>
      ask('create checkout', async () => {
        await closeOpenPages(stripe, customer);
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
        if (!session.url) throw away(undefined);
        return session.url;
      }),

    portalPage: ({ customer, backUrl, change }) =>
      ask('create portal', async () => {
        const session = await stripe.billingPortal.sessions.create({
          customer,
          return_url: backUrl,
          ...(change && {
            flow_data: {
              type: 'subscription_update_confirm',
              subscription_update_confirm: {
                subscription: change.subscription,
                items: [{ id: change.item, price: change.price, quantity: 1 }],
              },
              after_completion: {
                type: 'redirect',
                redirect: { return_url: `${backUrl}?checkout=done` },
              },
            },
          }),
        });
        return session.url;
      }),

    price: id =>
      ask('read price', async () => {
        const price = await stripe.prices.retrieve(id, { expand: ['product'] });
        const { product } = price;
        return {
          title: typeof product === 'object' && 'name' in product ? product.name : '',
          amount: priceLabel(price),
        };
      }),

    async readEvent(body, signature) {
      try {
        const { id, type, data } = stripe.webhooks.constructEvent(
          body,
          signature,
          access.webhookSecret,
          TOLERANCE_S,
        );
        const { customer } = data.object as { customer?: string | { id: string } | null };
        return {
          id,
          type,
          ...(customer && { customer: typeof customer === 'string' ? customer : customer.id }),
        };
      } catch {
        // The library's error holds the whole event.
        throw invalid('The signature of the event is not valid.');
      }
    },
  };
}
