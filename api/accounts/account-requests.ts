// How many requests of one account this process has at once, counted before their bodies are read.
import type { Store } from '../store/store.ts';
import { databaseUnreachable, tooManyRequests } from './account-errors.ts';
import { capOf } from './account-rules.ts';
import { PARALLEL_OF_UNKNOWN_PLAN, type Plan } from './plans.ts';
import { createRecentReads } from './recent-reads.ts';

/**
 * Beyond the renders of the plan: bodies that arrive while renders run, and calls that are about to
 * be refused.
 */
export const REQUESTS_BEYOND_PLAN = 8;

/**
 * How long a plan that was read is believed: an account that moves to a larger one has its requests
 * at once.
 */
const BELIEVED_MS = 1_000;
const MAX_BELIEVED = 10_000;

export interface AccountRequests {
  /**
   * Counts one request and returns what ends it. `parallel`: of the plan; it is read when the
   * caller does not know it. Throws ApiError `concurrency_limit`, or `render_failed`/`database`.
   */
  enter(accountId: string, parallel?: number): Promise<() => void>;
}

export function createAccountRequests(store: Store, plans: readonly Plan[]): AccountRequests {
  const open = new Map<string, number>();
  const plansRead = createRecentReads<number>({ most: MAX_BELIEVED, forMs: BELIEVED_MS }, () =>
    performance.now(),
  );

  async function readParallel(accountId: string): Promise<number> {
    const { accounts, limits } = store;
    const found = await store
      .limited(
        accounts.findOne<{ parallel: number }>(
          { _id: accountId },
          { projection: { parallel: capOf(plans) }, ...limits },
        ),
      )
      .catch(cause => {
        throw databaseUnreachable(cause);
      });
    return found?.parallel ?? PARALLEL_OF_UNKNOWN_PLAN;
  }

  return {
    async enter(accountId, parallel) {
      const ofPlan = parallel ?? (await plansRead.of(accountId, () => readParallel(accountId)));
      const before = open.get(accountId) ?? 0;
      if (before >= ofPlan + REQUESTS_BEYOND_PLAN) throw tooManyRequests(before, ofPlan);
      open.set(accountId, before + 1);
      return () => {
        const left = open.get(accountId)! - 1;
        if (left > 0) open.set(accountId, left);
        else open.delete(accountId);
      };
    },
  };
}
