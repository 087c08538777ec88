// A batch while it arrives: its renders are stored in groups, and then become visible at once.
import type { Accepted } from '../accounts/accepted-keys.ts';
import type { BatchDocument, JobStatus } from '../store/store.ts';
import { type BatchOperations, STAGED_MS } from './batch-operations.ts';
import { createBatchId, createJobId } from './job-id.ts';
import type { JobRunner } from './job-runner.ts';
import type { QueueLimit } from './queue-limit.ts';
import {
  CLOCK_DIFFERENCE_MS,
  type JobStorage,
  KEPT_MS,
  type RenderSubmission,
  storeRequest,
} from './stored-job.ts';

export interface StagedBatchDeps extends JobStorage {
  batches: BatchOperations;
  queue: QueueLimit;
  runner: Pick<JobRunner, 'submitted'>;
}

export interface BatchState extends BatchDocument {
  /** How many of its renders have each status. */
  counts: ReadonlyMap<JobStatus, number>;
}

/** Of one insert. A request that is not in chunks of its own has 64 KiB at most. */
const STAGED_AT_ONCE = 100;
const STAGED_BYTES_AT_ONCE = 2 * 2 ** 20;
/** Database errors pass through. After any error, call `discard`. */
export class StagedBatch {
  readonly #deps: StagedBatchDeps;
  readonly #accepted: Pick<Accepted, 'accountId' | 'keyId'>;
  readonly #id = createBatchId();
  readonly #begunAt = Date.now();
  #total = 0;
  #longestTtlMs = 0;
  #group: RenderSubmission[] = [];
  #groupBytes = 0;

  constructor(deps: StagedBatchDeps, accepted: Pick<Accepted, 'accountId' | 'keyId'>) {
    this.#deps = deps;
    this.#accepted = accepted;
  }

  /** `bytes`: of the request as JSON. Returns true when `flush` should be called. */
  add(submitted: RenderSubmission, bytes: number): boolean {
    this.#group.push(submitted);
    this.#groupBytes += bytes;
    this.#total++;
    this.#longestTtlMs = Math.max(this.#longestTtlMs, submitted.ttlMs);
    return this.#group.length >= STAGED_AT_ONCE || this.#groupBytes >= STAGED_BYTES_AT_ONCE;
  }

  /** Stores what was added. */
  async flush(): Promise<void> {
    const group = this.#group;
    if (group.length === 0) return;
    this.#group = [];
    this.#groupBytes = 0;
    const first = this.#total - group.length;
    // Lists are in the order of the IDs, which do not sort within a millisecond.
    const ids = group.map(() => createJobId()).sort();
    const staged = group.map(async ({ request, ttlMs }, nth) => {
      // The job expires later than now + ttl: that time begins when the batch is published.
      const chunksExpireAt = new Date(Date.now() + STAGED_MS + ttlMs);
      const { keyId } = this.#accepted;
      const stored = await storeRequest(this.#deps, keyId, request, chunksExpireAt, ids[nth]);
      return { ...stored, ttlMs, batch: { id: this.#id, index: first + nth } };
    });
    await this.#deps.batches.stage(await Promise.all(staged));
  }

  /**
   * Adds the renders to the queue, all or none. Throws ApiError `concurrency_limit` for a full queue.
   */
  async publish(): Promise<BatchState> {
    const { queue, batches, runner } = this.#deps;
    const { accountId: account } = this.#accepted;
    const createdAt = new Date();
    const batch = {
      _id: this.#id,
      account,
      createdAt,
      total: this.#total,
      keptUntil: new Date(createdAt.getTime() + this.#longestTtlMs + KEPT_MS),
    };
    const availableAt = new Date(this.#begunAt - CLOCK_DIFFERENCE_MS);
    await queue.add(account, this.#total, () => batches.publish(batch, availableAt));
    runner.submitted(account);
    return { ...batch, counts: new Map([['queued', this.#total]]) };
  }

  /** Best effort: what is left is never visible, and expires. */
  async discard(): Promise<void> {
    const { batches, files } = this.#deps;
    await files.remove(...(await batches.discard(this.#id).catch(() => [])));
  }
}
