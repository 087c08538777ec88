// Asynchronous renders as their callers see them: submitted, read, listed, canceled, downloaded.
import { ApiError } from '../../common/contract/errors.ts';
import type { Accepted } from '../accounts/accepted-keys.ts';
import { after, pageOf } from '../http/cursor.ts';
import type { JobDocument, JobStatus } from '../store/store.ts';
import { createJobId, isJobId } from './job-id.ts';
import type { JobMetrics } from './job-metrics.ts';
import type { JobName, JobOperations } from './job-operations.ts';
import type { JobRunner } from './job-runner.ts';
import { isFinalStatus } from './job-status.ts';
import type { JobWatch } from './job-watch.ts';
import type { QueueLimit } from './queue-limit.ts';
import { type JobStorage, prepareJob, queuedJob, type RenderSubmission } from './stored-job.ts';

export interface JobsDeps extends JobStorage {
  operations: JobOperations;
  queue: QueueLimit;
  watch: JobWatch;
  runner: Pick<JobRunner, 'submitted'>;
  meters: Pick<JobMetrics, 'ended'>;
}

interface ListedJobs {
  status?: JobStatus | undefined;
  /** The ID of their batch. */
  batch?: string | undefined;
  limit: number;
  /** The `next` of an earlier list. */
  cursor?: string | undefined;
}

const unknown = () =>
  new ApiError('not_found', 'This account has no asynchronous render with this ID.');

/** Other texts than IDs are not looked up. */
async function known(id: string, read: () => Promise<JobDocument | null>): Promise<JobDocument> {
  const job = isJobId(id) ? await read() : null;
  if (!job) throw unknown();
  return job;
}

const NO_PDF: Record<Exclude<JobStatus, 'succeeded'>, () => ApiError> = {
  queued: () => new ApiError('conflict', 'The render has not started. Try again when it is done.'),
  running: () => new ApiError('conflict', 'The render is running. Try again when it is done.'),
  failed: () =>
    new ApiError('conflict', 'The render failed, so there is no PDF. Read its `error`.'),
  canceled: () => new ApiError('conflict', 'The render was canceled, so there is no PDF.'),
  expired: () => new ApiError('gone', 'The render has expired. Submit it again.'),
};

const pdfExpired = () =>
  new ApiError('gone', 'The PDF has expired and was deleted. Submit the render again.');

/** Database errors pass through. */
export class Jobs {
  readonly #deps: JobsDeps;

  constructor(deps: JobsDeps) {
    this.#deps = deps;
  }

  /** Resolves when the job is durable. Throws ApiError `concurrency_limit` for a full queue. */
  async submit(
    { accountId, keyId }: Pick<Accepted, 'accountId' | 'keyId'>,
    { request, ttlMs }: RenderSubmission,
  ): Promise<JobDocument> {
    const { operations, queue, runner, cipher, files } = this.#deps;
    const createdAt = new Date();
    const { key, json, job: prepared } = prepareJob(cipher, createJobId(), keyId, request);
    const job = queuedJob(prepared, { account: accountId, createdAt, ttlMs });
    // Not before it has a place: chunks of a refused request would stay for its time to live.
    await queue.add(accountId, 1, async () =>
      operations.insert({ ...job, request: await files.saveRequest(key, job, json) }),
    );
    runner.submitted(accountId);
    return job;
  }

  /** Throws ApiError `not_found`. */
  async find(account: string, id: string): Promise<JobDocument> {
    return known(id, () => this.#deps.operations.find(account, id));
  }

  /** Resolves when the job has ended, after `waitMs`, or when the signal aborts. */
  untilEnd(job: JobName, waitMs: number, signal: AbortSignal): Promise<void> {
    return this.#deps.watch.untilEnd(job, waitMs, signal);
  }

  /** Newest first. Throws ApiError `validation_error` for an invalid cursor. */
  async list(
    account: string,
    { status, batch, limit, cursor }: ListedJobs,
  ): Promise<{ items: JobDocument[]; next: string | null }> {
    const filter = {
      account,
      ...(status !== undefined && { status }),
      ...(batch !== undefined && { 'batch.id': batch }),
      ...after(cursor, 'createdAt'),
    };
    const found = await this.#deps.operations.list(filter, limit + 1);
    return pageOf(found, limit, ({ createdAt }) => createdAt);
  }

  /**
   * Cancels a job that has not ended; does nothing for a canceled one. A running render stops
   * within a second. `record`: called if this call canceled it. Throws ApiError `not_found`, or
   * `conflict` for a job that has ended.
   */
  async cancel(
    account: string,
    id: string,
    record: (job: JobDocument) => Promise<void>,
  ): Promise<JobDocument> {
    const job = await this.find(account, id);
    if (!isFinalStatus(job.status) && (await this.cancelUnfinished(job))) await record(job);
    const now = await this.find(account, id);
    if (now.status !== 'canceled')
      throw new ApiError('conflict', `The render has already ended: it is ${now.status}.`);
    return now;
  }

  /** Returns false for a job that has ended. */
  async cancelUnfinished(job: JobName & Pick<JobDocument, 'request'>): Promise<boolean> {
    const { operations, files, watch, meters } = this.#deps;
    if (!(await operations.endAlone(job, { status: 'canceled' }))) return false;
    meters.ended('canceled');
    watch.ended(job._id);
    await files.remove(job.request);
    return true;
  }

  /** The PDF in pieces. Throws ApiError `not_found`, `conflict` or `gone`. */
  async pdf(
    account: string,
    id: string,
  ): Promise<{ job: JobDocument; bytes: number; pieces: AsyncGenerator<Buffer, void> }> {
    const { operations, files, cipher } = this.#deps;
    const job = await known(id, () => operations.findWithPdf(account, id));
    if (job.status !== 'succeeded') throw NO_PDF[job.status]();
    const isExpired = job.expiresAt.getTime() <= Date.now();
    const key = isExpired ? undefined : cipher.unwrapKey(job.dataKey ?? '', id);
    if (!key || !job.pdf) throw pdfExpired();
    return { job, bytes: job.pdf.bytes, pieces: files.read(key, 'pdf', job.pdf) };
  }
}
