// Limits the requests of one account that are open in this process, counted before their bodies are
// read.
import type { Store } from '../store/store.ts';
import { databaseUnreachable, tooManyRequests } from './account-errors.ts';
import { capOf } from './account-rules.ts';
import { OpenCounts } from './open-counts.ts';
import { LIMITS_OF_UNKNOWN_PLAN, type Plan } from './plans.ts';
import { createRecentReads } from './recent-reads.ts';

/**
 * Requests allowed beyond the plan's concurrency limit: bodies that arrive while renders run, and
 * requests about to be rejected.
 */
export const REQUESTS_BEYOND_PLAN = 8;

/** How long a plan is cached: short, so that an upgraded plan takes effect immediately. */
const PLAN_CACHED_MS = 1_000;
const MAX_PLANS_CACHED = 10_000;

export function createAccountRequests(store: Store, plans: readonly Plan[]) {
  const open = new OpenCounts();
  const planReads = createRecentReads<number>(
    { most: MAX_PLANS_CACHED, forMs: PLAN_CACHED_MS },
    () => performance.now(),
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
    return found?.parallel ?? LIMITS_OF_UNKNOWN_PLAN.parallel;
  }

  return {
    /**
     * Counts one request and returns a function that ends it. `parallel`: the plan's concurrency
     * limit, read from the database when absent. Throws ApiError `concurrency_limit`, or
     * `render_failed`/`database`.
     */
    async enter(accountId: string, parallel?: number): Promise<() => void> {
      const ofPlan = parallel ?? (await planReads.of(accountId, () => readParallel(accountId)));
      const before = open.of(accountId);
      if (before >= ofPlan + REQUESTS_BEYOND_PLAN) throw tooManyRequests(before, ofPlan);
      return open.enter(accountId);
    },
  };
}
export type AccountRequests = ReturnType<typeof createAccountRequests>;
