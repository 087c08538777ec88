// The webhook of the payment provider: verifies the signature and handles each event once. It
// responds when the account is updated, so that the provider resends a failed event.
import { type Network, subscriberOf } from '../../../common/addresses.ts';
import { ApiError } from '../../../common/contract/errors.ts';
import type { Log } from '../../../common/log.ts';
import { bodyBytes } from '../../http/body.ts';
import { createByteBudget } from '../../http/byte-budget.ts';
import { callerIp } from '../../http/caller.ts';
import type { Context, Middleware } from '../../http/state.ts';
import { isDuplicate, type Store } from '../../store/store.ts';
import type { Payments } from './payments.ts';
import type { Sync } from './sync.ts';

const EVENT_MAX_BYTES = 2 ** 20;
/** Separate from the budget of renders, since anonymous clients can send to this path. */
export const EVENTS_BUDGET_BYTES = 48 * 2 ** 20;
/** Short, so that a slow sender does not hold the budget; the provider sends at once. */
const BODY_TIMES = { silentMs: 2_000, totalMs: 5_000 };

/** Each of them causes the subscription to be read again, so their order does not matter. */
const SUBSCRIPTION_EVENTS =
  /^(checkout\.session\.(completed|async_payment_succeeded)|customer\.subscription\..+|invoice\..+)$/;

interface EventDeps {
  payments: Pick<Payments, 'readEvent'>;
  sync: Pick<Sync, 'customer'>;
  store: Store;
  trustedProxies: readonly Network[];
  log: Log;
}

/**
 * The middleware of `POST /console/stripe/webhook`. The signature replaces the session and the
 * check of the origin.
 */
export function paymentEvents({
  payments,
  sync,
  store,
  trustedProxies,
  log,
}: EventDeps): Middleware[] {
  const { billingEvents } = store.console;
  const { limits } = store;
  const overloaded = () =>
    new ApiError('unavailable', 'Too many events at once. Send the event again.', {
      retryAfterS: 5,
    });
  const holderOf = (ctx: Context) => ({
    id: subscriberOf(callerIp(ctx, trustedProxies)),
    full: overloaded,
    share: overloaded,
  });

  async function isHandled(id: string): Promise<boolean> {
    return (
      (await store.limited(billingEvents.countDocuments({ _id: id }, { limit: 1, ...limits }))) > 0
    );
  }

  /**
   * Called last: when the process ends before this, the provider resends the event, and handling it
   * twice is harmless.
   */
  async function markHandled(id: string): Promise<void> {
    try {
      await store.limited(billingEvents.insertOne({ _id: id, at: new Date() }, limits));
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }

  const handle: Middleware = async ctx => {
    const { id, type, customer } = await payments.readEvent(
      ctx.state.body as Buffer,
      ctx.get('Stripe-Signature'),
    );
    if (customer && SUBSCRIPTION_EVENTS.test(type) && !(await isHandled(id))) {
      const known = await sync.customer(customer);
      log.info(
        { requestId: ctx.state.requestId, event: id, type, known },
        'handled an event of the payment provider',
      );
      await markHandled(id);
    }
    ctx.body = { received: true };
  };

  return [
    bodyBytes(
      { maxBytes: EVENT_MAX_BYTES, ...BODY_TIMES },
      createByteBudget(EVENTS_BUDGET_BYTES),
      holderOf,
    ),
    handle,
  ];
}
