// The prices of the plans, read from the payment provider every ten minutes. Keeps the last known
// prices while the provider is unavailable.
import type { Log } from '../../../common/log.ts';
import type { Payments } from './payments.ts';
import type { Prices } from './prices.ts';

/** `amount`: such as `€29.00 / month`; null for a price without a single amount. */
export type PlanPrice = Awaited<ReturnType<Payments['price']>>;

export type PriceList = ReturnType<typeof createPriceList>;

const REFRESH_MS = 600e3;
/** Opening the page repeatedly while the provider is unavailable does not call it each time. */
const RETRY_MS = 15e3;

/** `nowMs` is monotonic. */
export function createPriceList(
  { payments, prices, log }: { payments: Pick<Payments, 'price'>; prices: Prices; log: Log },
  nowMs = () => performance.now(),
) {
  const known = new Map<string, PlanPrice>();
  let refreshing: Promise<void> | undefined;
  let refreshAtMs = Number.NEGATIVE_INFINITY;

  async function refresh(): Promise<void> {
    const answers = await Promise.allSettled(
      [...prices.sold].map(async ([plan, id]) => void known.set(plan, await payments.price(id))),
    );
    const failed = answers.filter(answer => answer.status === 'rejected');
    if (failed.length > 0)
      log.warn(
        { plans: failed.length, reason: String(failed[0]!.reason) },
        'could not read the prices of plans',
      );
    refreshAtMs = nowMs() + (failed.length > 0 ? RETRY_MS : REFRESH_MS);
  }

  return {
    /** By plan. `complete` is false while a price has never been read. Never throws. */
    async read() {
      if (nowMs() >= refreshAtMs) {
        refreshing ??= refresh().finally(() => {
          refreshing = undefined;
        });
        await refreshing;
      }
      return { prices: known, complete: known.size === prices.sold.size };
    },
  };
}
