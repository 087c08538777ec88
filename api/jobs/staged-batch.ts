// A batch while it arrives: its requests are stored in groups, and then its jobs are added at once.
import type { Accepted } from '../accounts/accepted-keys.ts';
import type { BatchDocument, JobStatus } from '../store/store.ts';
import type { BatchOperations } from './batch-operations.ts';
import { createBatchId, createJobId } from './job-id.ts';
import type { JobRunner } from './job-runner.ts';
import type { QueueLimit } from './queue-limit.ts';
import {
  type JobStorage,
  prepareJob,
  queuedJob,
  type RenderSubmission,
  type StoredJob,
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

/** Of one insert. */
const STAGED_AT_ONCE = 100;
const STAGED_BYTES_AT_ONCE = 2 * 2 ** 20;
/** A batch may take some of it to arrive; the time to live of its jobs begins when it is complete. */
const ARRIVES_WITHIN_MS = 15 * 60_000;

/** Database errors pass through. After any error, call `discard`. */
export class StagedBatch {
  readonly #deps: StagedBatchDeps;
  readonly #accepted: Pick<Accepted, 'accountId' | 'keyId'>;
  readonly #id = createBatchId();
  readonly #begunMs = Date.now();
  #group: RenderSubmission[] = [];
  #groupBytes = 0;
  /** Those whose requests are stored. */
  readonly #staged: { job: StoredJob; ttlMs: number }[] = [];
  #mayBeStored = false;

  constructor(deps: StagedBatchDeps, accepted: Pick<Accepted, 'accountId' | 'keyId'>) {
    this.#deps = deps;
    this.#accepted = accepted;
  }

  /** `bytes`: of the request as JSON. Returns true when `flush` should be called. */
  add(submitted: RenderSubmission, bytes: number): boolean {
    this.#group.push(submitted);
    this.#groupBytes += bytes;
    return this.#group.length >= STAGED_AT_ONCE || this.#groupBytes >= STAGED_BYTES_AT_ONCE;
  }

  /** Stores the requests that were added. */
  async flush(): Promise<void> {
    const group = this.#group;
    if (group.length === 0) return;
    this.#group = [];
    this.#groupBytes = 0;
    const { cipher, files } = this.#deps;
    // Lists are in the order of the IDs, which do not sort within a millisecond.
    const ids = group.map(() => createJobId()).sort();
    const prepared = group.map(({ request, ttlMs }, nth) => ({
      ...prepareJob(cipher, ids[nth]!, this.#accepted.keyId, request),
      ttlMs,
    }));
    const contents = await files.saveRequests(
      prepared.map(({ job: { _id }, key, json, ttlMs }) => ({
        _id,
        key,
        json,
        expiresAt: new Date(this.#begunMs + ARRIVES_WITHIN_MS + ttlMs),
      })),
    );
    for (const [nth, { job, ttlMs }] of prepared.entries())
      this.#staged.push({ job: { ...job, request: contents[nth]! }, ttlMs });
  }

  /**
   * Adds the renders to the queue, all or none. Throws ApiError `concurrency_limit` for a full queue.
   */
  async publish(): Promise<BatchState> {
    const { queue, batches, runner } = this.#deps;
    const { accountId: account } = this.#accepted;
    const createdAt = new Date();
    const jobs = this.#staged.map(({ job, ttlMs }, index) => {
      // They start in their order, and not after those that are submitted while it arrives.
      const submittedMs = this.#begunMs + index;
      const batch = { id: this.#id, index };
      return { ...queuedJob(job, { account, createdAt, ttlMs, submittedMs }), batch };
    });
    const total = jobs.length;
    const keptUntil = new Date(Math.max(...jobs.map(job => job.keptUntil.getTime())));
    const batch = { _id: this.#id, account, createdAt, total, keptUntil };
    await queue.add(account, total, () => {
      this.#mayBeStored = true;
      return batches.publish(batch, jobs);
    });
    runner.submitted(account);
    return { ...batch, counts: new Map([['queued', total]]) };
  }

  /** Best effort: what is left cannot be decrypted, and expires. */
  async discard(): Promise<void> {
    // An error does not tell that the transaction had no effect.
    if (this.#mayBeStored) return;
    await this.#deps.files.remove(...this.#staged.map(({ job }) => job.request));
  }
}
