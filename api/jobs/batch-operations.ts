// The MongoDB operations on batches. A batch is staged first: its jobs are invisible until all of
// them are stored, and one transaction adds them to the queue.
import { JOBS_OF_BATCH } from '../store/job-documents.ts';
import type {
  BatchDocument,
  JobDocument,
  JobStatus,
  StagedJob,
  Store,
  StoredContent,
} from '../store/store.ts';
import type { JobName } from './job-operations.ts';
import { statusesBefore } from './job-status.ts';
import { KEPT_MS } from './stored-job.ts';

/** Staged jobs that are not published are deleted after this time. A batch may take minutes. */
export const STAGED_MS = 15 * 60_000;

export class BatchOperations {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async stage(jobs: readonly Omit<StagedJob, 'keptUntil'>[]): Promise<void> {
    const { limits, limited, stagedJobs } = this.#db;
    const keptUntil = new Date(Date.now() + STAGED_MS);
    const documents = jobs.map(job => ({ ...job, keptUntil }));
    await limited(stagedJobs.insertMany(documents, { ordered: false, ...limits }));
  }

  /**
   * Adds the staged jobs of a batch to the queue. They start in their order, from `availableAt` on.
   * Throws Error when one is missing.
   */
  async publish(batch: BatchDocument, availableAt: Date): Promise<void> {
    const { _id, account, createdAt, total } = batch;
    const expiresAt = { $add: [createdAt, '$ttlMs'] };
    const published = {
      account,
      status: 'queued' satisfies JobStatus,
      createdAt,
      expiresAt,
      keptUntil: { $add: [expiresAt, KEPT_MS] },
      availableAt: { $add: [availableAt, '$batch.index'] },
    };
    const { limits, stagedJobs, batches } = this.#db;
    await this.#store.transaction(async session => {
      // First, because a transaction with much to write can begin nothing new while MongoDB's cache is
      // full.
      await batches.insertOne(batch, { session });
      const { matchedCount } = await stagedJobs.updateMany(
        { 'batch.id': _id },
        [{ $set: published }, { $unset: 'ttlMs' }],
        { ...limits, session },
      );
      if (matchedCount !== total) throw new Error('a staged render is missing');
    });
  }

  /** Deletes what is staged. Returns where its requests are. */
  async discard(_id: string): Promise<(StoredContent | undefined)[]> {
    const { limits, limited, stagedJobs } = this.#db;
    const staged = { 'batch.id': _id, account: { $exists: false } };
    const projection = { 'request.inline': 0 };
    const found = await limited(stagedJobs.find(staged, { projection, ...limits }).toArray());
    await limited(stagedJobs.deleteMany(staged, limits));
    return found.map(({ request }) => request);
  }

  async find(account: string, _id: string): Promise<BatchDocument | null> {
    const { limits, limited, batches } = this.#db;
    return limited(batches.findOne({ _id, account }, limits));
  }

  /** How many of its jobs have each status. */
  async counts({ account, _id }: JobName): Promise<Map<JobStatus, number>> {
    const { limits, limited, jobs } = this.#db;
    const found = jobs.aggregate<{ _id: JobStatus; count: number }>(
      [
        { $match: { 'batch.id': _id, account } },
        { $group: { _id: '$status', count: { $sum: 1 } } },
      ],
      { hint: JOBS_OF_BATCH, ...limits },
    );
    return new Map(
      (await limited(found.toArray())).map(({ _id: status, count }) => [status, count]),
    );
  }

  /** Its jobs that can be canceled, without their requests if these are in their documents. */
  async unfinished({ account, _id }: JobName): Promise<JobDocument[]> {
    const { limits, limited, jobs } = this.#db;
    const found = jobs.find(
      { 'batch.id': _id, account, status: { $in: statusesBefore('canceled') } },
      { hint: JOBS_OF_BATCH, projection: { 'request.inline': 0 }, ...limits },
    );
    return limited(found.toArray());
  }

  get #db() {
    const { asynchronous, limits, limited } = this.#store;
    return { ...asynchronous, limits, limited };
  }
}
