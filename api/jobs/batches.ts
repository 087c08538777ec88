// Batches of asynchronous renders as their callers see them: submitted, read, canceled.
import { ApiError } from '../../common/contract/errors.ts';
import type { Accepted } from '../accounts/accepted-keys.ts';
import { isBatchId } from './job-id.ts';
import type { Jobs } from './jobs.ts';
import { type BatchState, StagedBatch, type StagedBatchDeps } from './staged-batch.ts';

export interface BatchesDeps extends StagedBatchDeps {
  jobs: Pick<Jobs, 'cancelUnfinished'>;
}

/** Of one batch. Each is a transaction. */
const CANCELED_AT_ONCE = 8;

/** Database errors pass through. */
export class Batches {
  readonly #deps: BatchesDeps;

  constructor(deps: BatchesDeps) {
    this.#deps = deps;
  }

  /** Throws ApiError `concurrency_limit` if the queue of the account has no place. */
  async begin(accepted: Pick<Accepted, 'accountId' | 'keyId'>): Promise<StagedBatch> {
    await this.#deps.queue.check(accepted.accountId);
    return new StagedBatch(this.#deps, accepted);
  }

  /** Throws ApiError `not_found`. */
  async find(account: string, id: string): Promise<BatchState> {
    const { batches } = this.#deps;
    const batch = isBatchId(id) ? await batches.find(account, id) : null;
    if (!batch) throw new ApiError('not_found', 'This account has no batch with this ID.');
    return { ...batch, counts: await batches.counts(batch) };
  }

  /**
   * Cancels the renders that have not ended. `record`: called with how many this call canceled, if
   * it did, also if it fails before the last of them. Throws ApiError `not_found`.
   */
  async cancel(
    account: string,
    id: string,
    record: (canceled: number) => Promise<void>,
  ): Promise<BatchState> {
    const { batches, jobs } = this.#deps;
    const unfinished = (await batches.unfinished(await this.find(account, id))).values();
    let canceled = 0;
    const cancelInTurn = async () => {
      for (const job of unfinished) if (await jobs.cancelUnfinished(job)) canceled++;
    };
    const done = await Promise.allSettled(Array.from({ length: CANCELED_AT_ONCE }, cancelInTurn));
    if (canceled > 0) await record(canceled);
    const failure = done.find(({ status }) => status === 'rejected');
    if (failure) throw (failure as PromiseRejectedResult).reason;
    return this.find(account, id);
  }
}
