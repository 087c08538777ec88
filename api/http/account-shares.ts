// The share of the byte budget for responses that clients may read slowly. One account may use half
// of it.
import { accountHolder, type ByteBudget, createByteBudget } from './byte-budget.ts';
import type { Context } from './state.ts';

/** One slow account leaves as much for all others. */
export const OF_ONE_ACCOUNT = 1 / 2;

/**
 * `whole` is the budget of the process, `share` the fraction of it. `minBytes` is always available,
 * even where the budget is small.
 */
export function createAccountShares(whole: ByteBudget, share: number, minBytes: number) {
  const all = createByteBudget(Math.max(minBytes, whole.maxBytes * share), {
    whole,
    shareBytes: Math.max(minBytes, whole.maxBytes * share * OF_ONE_ACCOUNT),
  });

  return {
    /**
     * Reserves the bytes until the response is closed. Returns false, without a reservation, when the
     * share is exhausted or the client has disconnected.
     */
    reserve({ res }: Pick<Context, 'res'>, account: string, bytes: number): boolean {
      // A destroyed response emits no more `close`, so the reservation would never be released.
      if (res.destroyed) return false;
      const reservation = all.open(accountHolder(account));
      res.once('close', reservation.close);
      return reservation.reserve(bytes);
    },
  };
}
export type AccountShares = ReturnType<typeof createAccountShares>;
