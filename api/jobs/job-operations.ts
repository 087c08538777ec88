// The MongoDB operations on jobs. Each is atomic and safe to repeat. Attempts are timed by the
// server's clock; expiry, which may be seconds off, by the clock of the process.
import { unexpiredLeases } from '../accounts/lease-rules.ts';
import {
  type ClientSession,
  type Filter,
  type JobDocument,
  type JobError,
  type LoggedAttempt,
  repeatedOnce,
  type Store,
} from '../store/store.ts';
import { withAttempt, withEndedAttempt, withoutAttempt } from './attempt-log.ts';
import { FINAL_STATUSES, statusesBefore } from './job-status.ts';

/** Names one attempt of a job. Writes with it fail after the attempt has ended. */
export interface Attempt extends JobName {
  lease: string;
}

export type JobEnd =
  | ({ status: 'succeeded' } & Required<Pick<JobDocument, 'pdf' | 'pages'>> &
      Pick<JobDocument, 'usage'>)
  | ({ status: 'failed'; error: JobError } & Pick<JobDocument, 'lastInterrupted'>)
  | { status: 'canceled' }
  | { status: 'expired' };

export interface Requeue {
  delayMs?: number;
  uncounted?: boolean;
  error?: LoggedAttempt['error'];
}

/** The job has another status by now, or another attempt runs it. */
export class JobChanged extends Error {
  override name = 'JobChanged';
}

export type JobName = Pick<JobDocument, '_id' | 'account'>;
export type ExpiredJob = JobName & Pick<JobDocument, 'status'>;

const endedOf = (jobs: readonly JobName[]) => ({
  _id: { $in: jobs.map(({ _id }) => _id) },
  account: { $in: [...new Set(jobs.map(({ account }) => account))] },
  status: { $in: [...FINAL_STATUSES] },
});

/** They may be 64 KiB each. */
const WITHOUT_CONTENTS = { 'request.inline': 0, 'pdf.inline': 0 };

/** Of one sweep. */
const EXPIRED_AT_ONCE = 1_000;
/** More than an installation has slots: those beyond would never be checked. */
const MAX_RUNNING = 20_000;

export class JobOperations {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async insert(job: JobDocument): Promise<void> {
    const store = this.#db;
    await store.limited(store.jobs.insertOne(job, store.limits));
  }

  /** Without its encrypted contents, as `list`. */
  async find(account: string, _id: string): Promise<JobDocument | null> {
    const store = this.#db;
    const options = { projection: WITHOUT_CONTENTS, ...store.limits };
    return store.limited(store.jobs.findOne({ _id, account }, options));
  }

  async findWithPdf(account: string, _id: string): Promise<JobDocument | null> {
    const store = this.#db;
    const options = { projection: { request: 0 }, ...store.limits };
    return store.limited(store.jobs.findOne({ _id, account }, options));
  }

  /** Newest first. `filter` is built by trusted code. */
  async list(filter: Filter<JobDocument>, limit: number): Promise<JobDocument[]> {
    const store = this.#db;
    const sort = { createdAt: -1, _id: -1 } as const;
    const options = { sort, limit, projection: WITHOUT_CONTENTS, ...store.limits };
    return store.limited(store.jobs.find(filter, options).toArray());
  }

  /** How many jobs of the account wait; at most `limit`. */
  async countQueued(account: string, limit: number): Promise<number> {
    const store = this.#db;
    return store.limited(
      store.jobs.countDocuments({ status: 'queued', account }, { limit, ...store.limits }),
    );
  }

  /** The accounts with waiting jobs. Skips from account to account in the index. */
  async accountsWithQueued(): Promise<string[]> {
    const store = this.#db;
    return store.limited(store.jobs.distinct('account', { status: 'queued' }, store.limits));
  }

  /** Starts an attempt of the account's next job, which holds the lease. Null: none can start. */
  async claim(account: string, lease: string): Promise<JobDocument | null> {
    const store = this.#db;
    const claimed = {
      status: 'running' as const,
      lease,
      attemptLog: withAttempt,
      startedAt: { $ifNull: ['$startedAt', '$$NOW'] },
    };
    return repeatedOnce(() =>
      store.limited(
        store.jobs.findOneAndUpdate(
          {
            status: 'queued',
            account,
            expiresAt: { $gt: new Date() },
            $expr: { $lte: ['$availableAt', '$$NOW'] },
          },
          [{ $set: claimed }],
          { sort: { availableAt: 1, _id: 1 }, returnDocument: 'after', ...store.limits },
        ),
      ),
    );
  }

  /**
   * The job waits again, for at least `delayMs`; without a delay it keeps its place. `uncounted`:
   * the attempt does not count, since the job is not the cause. Without an error, one that counts was
   * interrupted. Does nothing after the attempt has ended.
   */
  async requeue(
    { _id, account, lease }: Attempt,
    { delayMs = 0, uncounted = false, error }: Requeue,
  ): Promise<void> {
    const store = this.#db;
    const queued = {
      status: 'queued' as const,
      ...(delayMs > 0 && { availableAt: { $add: ['$$NOW', delayMs] } }),
      attemptLog: uncounted ? withoutAttempt : withEndedAttempt(error),
    };
    await store.limited(
      store.jobs.updateOne(
        { _id, account, status: { $in: statusesBefore('queued') }, lease },
        [{ $set: queued }, { $unset: 'lease' }],
        store.limits,
      ),
    );
  }

  /**
   * Ends a job and writes its entry in the outbox, in the transaction of the session. `lease`: only
   * if this attempt still runs it. Throws JobChanged. Without a PDF, its key is deleted.
   */
  async end(
    { _id, account, lease }: JobName & { lease?: string },
    { status, ...fields }: JobEnd,
    session: ClientSession,
  ): Promise<void> {
    const { limits, jobs, outbox } = this.#db;
    const ended = await jobs.findOneAndUpdate(
      {
        _id,
        account,
        status: { $in: statusesBefore(status) },
        ...(lease !== undefined && { lease }),
        ...(status === 'succeeded' && { expiresAt: { $gt: new Date() } }),
      },
      {
        $set: { status, ...fields },
        $currentDate: { endedAt: true },
        $unset: { lease: 1, request: 1, ...(status !== 'succeeded' && { dataKey: 1 }) },
      },
      { projection: { keptUntil: 1 }, ...limits, session },
    );
    if (!ended) throw new JobChanged(`the job is not ${statusesBefore(status).join(' or ')}`);
    const { keptUntil } = ended;
    await outbox.insertOne({ _id, account, status, at: new Date(), keptUntil }, { session });
  }

  /** The same in a transaction of its own. Returns false when the job has changed. */
  async endAlone(job: Parameters<JobOperations['end']>[0], end: JobEnd): Promise<boolean> {
    try {
      await this.#store.transaction(session => this.end(job, end, session));
      return true;
    } catch (error) {
      if (error instanceof JobChanged) return false;
      throw error;
    }
  }

  /**
   * Attempts whose process died. Their leases are read after the jobs, so that one without an
   * unexpired lease can never get one.
   */
  async orphans(): Promise<(Attempt & Pick<JobDocument, 'attemptLog'>)[]> {
    const store = this.#db;
    const running = await store.limited(
      store.jobs
        .find<Attempt & Pick<JobDocument, 'attemptLog'>>(
          { status: 'running' },
          {
            projection: { account: 1, lease: 1, attemptLog: 1 },
            limit: MAX_RUNNING,
            ...store.limits,
          },
        )
        .toArray(),
    );
    if (running.length === 0) return [];
    const accounts = [...new Set(running.map(({ account }) => account))];
    const holding = await store.limited(
      store.accounts
        .find(
          { _id: { $in: accounts } },
          { projection: { leases: unexpiredLeases }, ...store.limits },
        )
        .toArray(),
    );
    const alive = new Set(holding.flatMap(({ leases }) => leases.map(({ id }) => id)));
    return running.filter(({ lease }) => !alive.has(lease));
  }

  /** Jobs that have expired and still have their key. */
  async expired(): Promise<ExpiredJob[]> {
    const store = this.#db;
    return store.limited(
      store.jobs
        .find(
          { dataKey: { $exists: true }, expiresAt: { $lte: new Date() } },
          {
            projection: { account: 1, status: 1 },
            sort: { expiresAt: 1 },
            limit: EXPIRED_AT_ONCE,
            ...store.limits,
          },
        )
        .toArray(),
    );
  }

  /**
   * Deletes the PDFs of ended jobs of an account and their keys, so that no copy can be decrypted.
   * Returns how many had a key.
   */
  async deleteKeys(account: string, jobs: readonly JobName[]): Promise<number> {
    const store = this.#db;
    const filter = { ...endedOf(jobs), account, dataKey: { $exists: true } };
    const { modifiedCount } = await store.limited(
      store.jobs.updateMany(filter, { $unset: { dataKey: 1, 'pdf.inline': 1 } }, store.limits),
    );
    return modifiedCount;
  }

  /** IDs of those jobs that have ended. */
  async ended(jobs: readonly JobName[]): Promise<string[]> {
    const store = this.#db;
    const filter = endedOf(jobs);
    const found = store.jobs.find(filter, { projection: { _id: 1 }, ...store.limits });
    return (await store.limited(found.toArray())).map(({ _id }) => _id);
  }

  get #db() {
    const { asynchronous, accounts, limits, limited } = this.#store;
    return { ...asynchronous, accounts, limits, limited };
  }
}
