// What the plans cost, as the payment provider says: asked for once in ten minutes, and the last
// answer while it is away.
import type { Log } from '../../../common/log.ts';
import type { Payments } from './payments.ts';
import type { Prices } from './prices.ts';

/** `amount`: `€29.00 / month`, null for a price that is no single amount. */
export type PlanPrice = Awaited<ReturnType<Payments['price']>>;

export interface PriceList {
  /**
   * By plan. `complete` is false when the provider is away and did not tell all of them before.
   * Never throws.
   */
  read(): Promise<{ prices: ReadonlyMap<string, PlanPrice>; complete: boolean }>;
}

const KEPT_MS = 600e3;
/** A page that is opened while the provider is away does not ask again at once. */
const KEPT_AFTER_FAILURE_MS = 15e3;

/** `nowMs` is monotonic. */
export function createPriceList(
  { payments, prices, log }: { payments: Pick<Payments, 'price'>; prices: Prices; log: Log },
  nowMs = () => performance.now(),
): PriceList {
  const known = new Map<string, PlanPrice>();
  let asking: Promise<void> | undefined;
  let againAtMs = Number.NEGATIVE_INFINITY;

  async function ask(): Promise<void> {
    const answers = await Promise.allSettled(
      [...prices.sold].map(async ([plan, id]) => void known.set(plan, await payments.price(id))),
    );
    const failed = answers.filter(answer => answer.status === 'rejected');
    if (failed.length > 0)
      log.warn(
        { plans: failed.length, reason: String(failed[0]!.reason) },
        'what plans cost could not be read',
      );
    againAtMs = nowMs() + (failed.length > 0 ? KEPT_AFTER_FAILURE_MS : KEPT_MS);
  }

  return {
    async read() {
      if (nowMs() >= againAtMs) {
        asking ??= ask().finally(() => {
          asking = undefined;
        });
        await asking;
      }
      return { prices: known, complete: known.size === prices.sold.size };
    },
  };
}
