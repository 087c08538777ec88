// The MongoDB operations on batches.
import { JOBS_OF_BATCH } from '../store/job-documents.ts';
import type { BatchDocument, JobDocument, JobStatus, Store } from '../store/store.ts';
import type { JobName } from './job-operations.ts';
import { statusesBefore } from './job-status.ts';

export class BatchOperations {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Adds a batch and its jobs to the queue, all or none. */
  publish(batch: BatchDocument, ofBatch: readonly JobDocument[]): Promise<void> {
    const { limits, jobs, batches } = this.#db;
    return this.#store.transaction(async session => {
      await batches.insertOne(batch, { session });
      await jobs.insertMany(ofBatch, { ordered: false, ...limits, session });
    });
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
