// The webhook of the payment provider: checks the sender, acts on each event once, and answers only
// when it is done, so that what is lost is sent again.
import { type Network, subscriberOf } from '../../../common/addresses.ts';
import { ApiError } from '../../../common/contract/errors.ts';
import type { Log } from '../../../common/log.ts';
import { bodyBytes } from '../../http/body.ts';
import { createByteBudget } from '../../http/byte-budget.ts';
import { callerIp } from '../../http/client-ip.ts';
import type { Context, Middleware } from '../../http/state.ts';
import { isDuplicate, type Store } from '../../store/store.ts';
import type { Payments } from './payments.ts';
import type { Sync } from './sync.ts';

const EVENT_MAX_BYTES = 2 ** 20;
/** Anybody can send to this path: what is read there takes nothing from the renders. */
export const EVENTS_BUDGET_BYTES = 48 * 2 ** 20;
/** So short that who sends slowly keeps little room from the provider, which sends at once. */
const TIMES = { silentMs: 2_000, totalMs: 5_000 };

/**
 * All of them lead to the same: the subscription is read again, whatever the event says and in
 * whatever order events come.
 */
const ABOUT_SUBSCRIPTIONS =
  /^(checkout\.session\.(completed|async_payment_succeeded)|customer\.subscription\..+|invoice\..+)$/;

interface EventDeps {
  payments: Pick<Payments, 'readEvent'>;
  sync: Pick<Sync, 'customer'>;
  store: Store;
  trustedProxies: readonly Network[];
  log: Log;
}

/**
 * The middleware of `POST /console/stripe/webhook`: no session and no origin, the signature stands
 * for both.
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
  const busy = () =>
    new ApiError('unavailable', 'Too many events at once. Send it again.', { retryAfterS: 5 });
  const holderOf = (ctx: Context) => ({
    id: subscriberOf(callerIp(ctx, trustedProxies)),
    full: busy,
    share: busy,
  });

  async function seen(id: string): Promise<boolean> {
    return (
      (await store.limited(billingEvents.countDocuments({ _id: id }, { limit: 1, ...limits }))) > 0
    );
  }

  /**
   * Stored last: a process that ends before this hears of the event again, and does the same once
   * more without harm.
   */
  async function remember(id: string): Promise<void> {
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
    if (customer && ABOUT_SUBSCRIPTIONS.test(type) && !(await seen(id))) {
      const known = await sync.customer(customer);
      log.info(
        { requestId: ctx.state.requestId, event: id, type, known },
        'an event of the payment provider',
      );
      await remember(id);
    }
    ctx.body = { received: true };
  };

  return [
    bodyBytes(
      { maxBytes: EVENT_MAX_BYTES, ...TIMES },
      createByteBudget(EVENTS_BUDGET_BYTES),
      holderOf,
    ),
    handle,
  ];
}
