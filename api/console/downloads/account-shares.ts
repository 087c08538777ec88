// How much of the memory for renders answers may hold that are read as slowly as their readers
// like: a part of it, and of that no account more than half.
import { accountHolder, type ByteBudget, createByteBudget } from '../../http/byte-budget.ts';
import type { Context } from '../../http/state.ts';

/** One account that reads slowly leaves as much for all others. */
export const OF_ONE_ACCOUNT = 1 / 2;

export interface AccountShares {
  /**
   * Until the answer is out. False, and nothing taken, when there is no room or nobody waits for
   * the answer any more.
   */
  take(ctx: Pick<Context, 'res'>, account: string, bytes: number): boolean;
}

/**
 * `whole`: of the process; `share`: of it. `minBytes`: what must be possible, however small the
 * whole is.
 */
export function createAccountShares(
  whole: ByteBudget,
  share: number,
  minBytes: number,
): AccountShares {
  const all = createByteBudget(Math.max(minBytes, whole.maxBytes * share), {
    whole,
    shareBytes: Math.max(minBytes, whole.maxBytes * share * OF_ONE_ACCOUNT),
  });

  return {
    take({ res }, account, bytes) {
      // Who left meanwhile closes no more, and what is taken now would be held for ever.
      if (res.destroyed) return false;
      const reservation = all.open(accountHolder(account));
      res.once('close', reservation.close);
      return reservation.take(bytes);
    },
  };
}
