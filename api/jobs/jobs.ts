// Asynchronous renders as their callers see them: submitted, read, listed, canceled, downloaded.
import { ApiError } from '../../common/contract/errors.ts';
import type { RenderRequest } from '../../common/contract/render-request.ts';
import type { Accepted } from '../accounts/accepted-keys.ts';
import { maxWaitingOf } from '../accounts/account-rules.ts';
import { LIMITS_OF_UNKNOWN_PLAN, type Plan } from '../accounts/plans.ts';
import { createRecentReads } from '../accounts/recent-reads.ts';
import { after, pageOf } from '../http/cursor.ts';
import type { JobDocument, JobStatus, Store } from '../store/store.ts';
import type { JobCipher } from './job-cipher.ts';
import type { JobFiles } from './job-files.ts';
import { createJobId, isJobId } from './job-id.ts';
import type { JobMetrics } from './job-metrics.ts';
import type { JobName, JobOperations } from './job-operations.ts';
import type { JobRunner } from './job-runner.ts';
import { isFinalStatus } from './job-status.ts';
import type { JobWatch } from './job-watch.ts';

export interface JobsDeps {
  store: Store;
  plans: readonly Plan[];
  operations: JobOperations;
  files: JobFiles;
  cipher: JobCipher;
  watch: JobWatch;
  runner: Pick<JobRunner, 'submitted'>;
  meters: Pick<JobMetrics, 'ended'>;
}

interface ListedJobs {
  status?: JobStatus | undefined;
  limit: number;
  /** The `next` of an earlier list. */
  cursor?: string | undefined;
}

/** An expired job shows for this long how it ended. */
const KEPT_MS = 7 * 86_400e3;
/** The number of waiting jobs is read once in this time. What others submit meanwhile comes on top. */
const COUNTED_EVERY_MS = 1_000;
const MAX_ACCOUNTS_COUNTED = 10_000;
/**
 * Jobs start in the order of `availableAt`, so that one that is tried again is not passed by all that
 * are submitted later. MongoDB's clock may be behind this one.
 */
const CLOCK_DIFFERENCE_MS = 10_000;
/** A slot is free after a render or so; a queue of thousands is not short soon. */
const RETRY_AFTER_S = 30;

const unknown = () =>
  new ApiError('not_found', 'This account has no asynchronous render with this ID.');

/** Other texts than IDs are not looked up. */
async function known(id: string, read: () => Promise<JobDocument | null>): Promise<JobDocument> {
  const job = isJobId(id) ? await read() : null;
  if (!job) throw unknown();
  return job;
}

const queueFull = (maxWaiting: number) =>
  new ApiError(
    'concurrency_limit',
    `Your account has ${maxWaiting} waiting renders, the maximum of your plan. Submit more when some have finished.`,
    { retryAfterS: RETRY_AFTER_S },
  );

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
  readonly #waiting = createRecentReads<{ maxWaiting: number; waiting: number }>(
    { most: MAX_ACCOUNTS_COUNTED, forMs: COUNTED_EVERY_MS },
    () => performance.now(),
  );

  constructor(deps: JobsDeps) {
    this.#deps = deps;
  }

  /** Resolves when the job is durable. Throws ApiError `concurrency_limit` for a full queue. */
  async submit(
    { accountId, keyId }: Pick<Accepted, 'accountId' | 'keyId'>,
    request: RenderRequest,
    ttlMs: number,
  ): Promise<JobDocument> {
    const { operations, files, cipher, runner } = this.#deps;
    const count = await this.#waiting.of(accountId, () => this.#countWaiting(accountId));
    if (count.waiting >= count.maxWaiting) throw queueFull(count.maxWaiting);
    count.waiting++;
    const createdAt = new Date();
    const expiresAt = new Date(createdAt.getTime() + ttlMs);
    const _id = createJobId();
    const { key, wrapped } = cipher.createKey(_id);
    const json = Buffer.from(JSON.stringify(request));
    const { reference, filename, sandbox = false } = request;
    const job: JobDocument = {
      _id,
      account: accountId,
      status: 'queued',
      key: keyId,
      createdAt,
      expiresAt,
      keptUntil: new Date(expiresAt.getTime() + KEPT_MS),
      availableAt: new Date(createdAt.getTime() - CLOCK_DIFFERENCE_MS),
      attempts: 0,
      sandbox,
      ...(reference !== undefined && { reference }),
      ...(filename !== undefined && { filename }),
      dataKey: wrapped,
      request: await files.saveRequest(key, { _id, expiresAt }, json),
    };
    await operations.insert(job);
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
    { status, limit, cursor }: ListedJobs,
  ): Promise<{ items: JobDocument[]; next: string | null }> {
    const filter = {
      account,
      ...(status !== undefined && { status }),
      ...after(cursor, 'createdAt'),
    };
    const found = await this.#deps.operations.list(filter, limit + 1);
    return pageOf(found, limit, ({ createdAt }) => createdAt);
  }

  /**
   * Cancels a job that has not ended; does nothing for a canceled one. A running render stops
   * within a second. Throws ApiError `not_found`, or `conflict` for a job that has ended.
   */
  async cancel(account: string, id: string): Promise<JobDocument> {
    const { operations, files, watch, meters } = this.#deps;
    const job = await this.find(account, id);
    const canceled =
      !isFinalStatus(job.status) && (await operations.endAlone(job, { status: 'canceled' }));
    if (canceled) {
      meters.ended('canceled');
      watch.ended(id);
      await files.remove(job.request);
    }
    const now = await this.find(account, id);
    if (now.status !== 'canceled')
      throw new ApiError('conflict', `The render has already ended: it is ${now.status}.`);
    return now;
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

  async #countWaiting(accountId: string): Promise<{ maxWaiting: number; waiting: number }> {
    const { store, plans, operations } = this.#deps;
    const projection = { _id: 0, maxWaiting: maxWaitingOf(plans) };
    const found = await store.limited(
      store.accounts.findOne<{ maxWaiting: number }>(
        { _id: accountId },
        { projection, ...store.limits },
      ),
    );
    const { maxWaiting } = found ?? LIMITS_OF_UNKNOWN_PLAN;
    return { maxWaiting, waiting: await operations.countQueued(accountId, maxWaiting) };
  }
}
