// How many asynchronous renders of an account may wait: the `queue` of its plan.
import { ApiError } from '../../common/contract/errors.ts';
import { maxWaitingOf } from '../accounts/account-rules.ts';
import { OpenCounts } from '../accounts/open-counts.ts';
import { LIMITS_OF_UNKNOWN_PLAN, type Plan } from '../accounts/plans.ts';
import { createRecentReads } from '../accounts/recent-reads.ts';
import type { Store } from '../store/store.ts';
import type { JobOperations } from './job-operations.ts';

interface QueueLimitDeps {
  store: Store;
  plans: readonly Plan[];
  operations: JobOperations;
}

/** The number is read once in this time. What other processes store meanwhile comes on top. */
const COUNTED_EVERY_MS = 1_000;
const MAX_ACCOUNTS_COUNTED = 10_000;
/** A slot is free after a render or so; a queue of thousands is not short soon. */
const RETRY_AFTER_S = 30;

const rejected = (message: string) =>
  new ApiError('concurrency_limit', message, { retryAfterS: RETRY_AFTER_S });
const full = (waiting: number) =>
  rejected(
    `Your account has ${waiting} waiting renders, the maximum of your plan. Submit more when some have finished.`,
  );

export class QueueLimit {
  readonly #deps: QueueLimitDeps;
  readonly #waiting = createRecentReads<{ maxWaiting: number; waiting: number }>(
    { most: MAX_ACCOUNTS_COUNTED, forMs: COUNTED_EVERY_MS },
    () => performance.now(),
  );

  /** Jobs of accounts that this process is storing, and that a count may miss. */
  readonly #unstored = new OpenCounts();

  constructor(deps: QueueLimitDeps) {
    this.#deps = deps;
  }

  /** Stores `more` jobs of the account. Throws ApiError `concurrency_limit` when they are too many. */
  async add(accountId: string, more: number, store: () => Promise<void>): Promise<void> {
    const count = await this.#countOf(accountId);
    const { waiting, maxWaiting } = count;
    if (waiting >= maxWaiting) throw full(waiting);
    if (more > maxWaiting)
      throw rejected(
        `The batch has ${more} renders, but your plan allows ${maxWaiting} waiting renders. Submit smaller batches.`,
      );
    if (waiting + more > maxWaiting)
      throw rejected(
        `Your account has ${waiting} waiting renders, and your plan allows ${maxWaiting}. Submit the batch of ${more} when more have finished.`,
      );
    count.waiting += more;
    const endStoring = this.#unstored.enter(accountId, more);
    await store().finally(endStoring);
  }

  /** Throws ApiError `concurrency_limit` if no job can be added. */
  async check(accountId: string): Promise<void> {
    const { waiting, maxWaiting } = await this.#countOf(accountId);
    if (waiting >= maxWaiting) throw full(waiting);
  }

  #countOf(accountId: string) {
    return this.#waiting.of(accountId, () => this.#count(accountId));
  }

  async #count(accountId: string): Promise<{ maxWaiting: number; waiting: number }> {
    const { store, plans, operations } = this.#deps;
    const projection = { _id: 0, maxWaiting: maxWaitingOf(plans) };
    const found = await store.limited(
      store.accounts.findOne<{ maxWaiting: number }>(
        { _id: accountId },
        { projection, ...store.limits },
      ),
    );
    const { maxWaiting } = found ?? LIMITS_OF_UNKNOWN_PLAN;
    const unstored = this.#unstored.of(accountId);
    const waiting = unstored + (await operations.countQueued(accountId, maxWaiting));
    return { maxWaiting, waiting };
  }
}
