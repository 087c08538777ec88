// One attempt of a job: reads the request, renders it under the lease of the attempt, stores the PDF
// and ends the job, or decides that it is tried again.
import { type ApiError, renderFailed } from '../../common/contract/errors.ts';
import type { RenderRequest } from '../../common/contract/render-request.ts';
import type { Log } from '../../common/log.ts';
import { redactedMessage } from '../history/redacted-message.ts';
import { redactedRequest } from '../history/redacted-request.ts';
import { newRenderEntry, runEntry } from '../history/render-entry.ts';
import type { RenderLog } from '../history/render-log.ts';
import { HELD_PER_BODY_BYTE } from '../http/body.ts';
import { accountHolder, type ByteBudget } from '../http/byte-budget.ts';
import { asApiError, ClientClosed } from '../http/errors.ts';
import type { Lease } from '../leases/leases.ts';
import type { MongoLeases } from '../leases/mongo-leases.ts';
import type { Rendered, RenderUseCase } from '../render/render.ts';
import { isDatabaseUnavailable, type JobDocument, type JobError } from '../store/store.ts';
import { attemptsOf, codeOf } from './attempt-log.ts';
import type { JobCipher } from './job-cipher.ts';
import type { JobFiles } from './job-files.ts';
import type { JobMetrics } from './job-metrics.ts';
import { type Attempt, JobChanged, type JobOperations, type Requeue } from './job-operations.ts';
import type { SlotWait } from './slot-order.ts';

/** After the last one, a job fails. */
export const MAX_ATTEMPTS = 3;
/** Before a job is tried again whose attempt failed for want of something that others use. */
const BUSY_PAUSE_MS = 1_000;
/** Before a job is tried again that may have caused the failure. */
const FAILED_PAUSE_MS = 2_000;

/** An admitted attempt, as the caller of the use case. */
export interface AdmittedAttempt {
  requestId: string;
  lease: Lease;
}

export interface AttemptDeps {
  operations: JobOperations;
  files: JobFiles;
  cipher: JobCipher;
  leases: Pick<MongoLeases, 'settleWith'>;
  render: RenderUseCase<AdmittedAttempt>;
  budget: ByteBudget;
  meters: Pick<JobMetrics, 'ended'>;
  /** Absent when the dashboard is off. */
  renders: Pick<RenderLog, 'logged'> | undefined;
  log: Log;
}

/** An attempt that is about to run. */
export interface StartedAttempt extends AdmittedAttempt, SlotWait {
  job: JobDocument;
  /** The render has ended, so the job needs no slot any more. May be called twice. */
  rendered(): void;
  /** Aborts with AttemptStopped. */
  signal: AbortSignal;
}

/** The job has ended in another way, or this process is shutting down. */
export class AttemptStopped extends ClientClosed {
  override name = 'AttemptStopped';
}

export const interrupted = () =>
  renderFailed(
    'internal',
    `The render was interrupted ${MAX_ATTEMPTS} times. Its page may need more memory than a worker has. Simplify the document and submit it again.`,
  );

const unreadable = (cause: unknown) =>
  renderFailed(
    'internal',
    'The stored request is missing or cannot be decrypted. The secret of this installation may have changed. Submit the render again.',
    { cause },
  );

/** The job is not the cause, and will be tried again until it expires. */
const BUSY: ReadonlySet<string | undefined> = new Set(['no_worker', 'queue_full', 'database']);
const RETRIED: ReadonlySet<string | undefined> = new Set(['worker_lost', 'internal']);

/** What is known of an attempt after it has failed. */
interface Progress {
  hadSlot: boolean;
}

type Decision = { retry: Requeue } | { failed: ApiError };

/**
 * What follows a failed attempt. `hadSlot`: the page was rendered. Otherwise a PDF over the memory
 * of the account would be rendered until it expires. Pure.
 */
export function afterFailure(error: unknown, attempts: number, hadSlot: boolean): Decision {
  if (error instanceof AttemptStopped) return { retry: { uncounted: true } };
  const known = asApiError(error, true);
  const overMemory = known.reason === 'overloaded' || known.code === 'concurrency_limit';
  const isBusy = BUSY.has(known.reason) || isDatabaseUnavailable(error);
  if (isBusy || (overMemory && !hadSlot))
    return { retry: { delayMs: BUSY_PAUSE_MS, uncounted: true } };
  if ((overMemory || RETRIED.has(known.reason)) && attempts < MAX_ATTEMPTS)
    return { retry: { delayMs: FAILED_PAUSE_MS * attempts, error: codeOf(known) } };
  return { failed: known };
}

export const storedError = (error: ApiError): JobError => ({
  ...codeOf(error),
  message: redactedMessage(error.message),
});

/**
 * Runs the attempt that holds the lease, and ends it. Resolves with false when the job waits for
 * another attempt. Rejects with JobChanged when it was canceled or has expired meanwhile, or with
 * the database's error. The caller releases the lease.
 */
export async function runAttempt(deps: AttemptDeps, started: StartedAttempt): Promise<boolean> {
  const { operations, leases, files } = deps;
  const { job, lease } = started;
  const attempt: Attempt = { _id: job._id, account: job.account, lease: lease.id };
  const progress: Progress = { hadSlot: false };
  try {
    await renderAndEnd(deps, started, progress);
  } catch (error) {
    if (error instanceof JobChanged) throw error;
    const decision = afterFailure(error, attemptsOf(job), progress.hadSlot);
    if ('retry' in decision) {
      await operations.requeue(attempt, decision.retry);
      return false;
    }
    const failed = { status: 'failed' as const, error: storedError(decision.failed) };
    await leases.settleWith(lease, false, (_usage, session) =>
      operations.end(attempt, failed, session),
    );
    deps.meters.ended('failed');
    await files.remove(job.request);
  }
  return true;
}

async function renderAndEnd(
  deps: AttemptDeps,
  started: StartedAttempt,
  progress: Progress,
): Promise<void> {
  const { operations, files, cipher, leases, budget } = deps;
  const { job, lease, signal } = started;
  const { _id, account, sandbox } = job;
  const key = cipher.unwrapKey(job.dataKey ?? '', _id);
  if (!key) throw unreadable(undefined);
  const reservation = budget.open(accountHolder(account));
  try {
    const { pdf, pages } = await renderStored(deps, started, key, reservation, progress);
    const stored = await files.savePdf(key, job, pdf, signal);
    try {
      await leases.settleWith(lease, !sandbox, (usage, session) =>
        operations.end(
          { _id, account, lease: lease.id },
          { status: 'succeeded', pdf: stored, pages, ...(usage !== undefined && { usage }) },
          session,
        ),
      );
    } catch (error) {
      // Without a definite answer the job may have succeeded, with this PDF.
      if (error instanceof JobChanged) await files.remove(stored);
      throw error;
    }
    deps.meters.ended('succeeded');
    await files.remove(job.request);
  } finally {
    reservation.close();
  }
}

async function readRequest(
  files: JobFiles,
  { request }: Pick<JobDocument, 'request'>,
  key: Buffer,
): Promise<RenderRequest> {
  try {
    if (!request) throw new Error('the request of the job is missing');
    const json = Buffer.concat(await Array.fromAsync(files.read(key, 'request', request)));
    return JSON.parse(json.toString('utf8'));
  } catch (error) {
    throw isDatabaseUnavailable(error) ? error : unreadable(error);
  }
}

/** Records the render as one of the account. */
async function renderStored(
  { files, render, renders, log }: AttemptDeps,
  { job, lease, requestId, slotFree, dispatched, rendered, signal }: StartedAttempt,
  key: Buffer,
  reservation: ReturnType<ByteBudget['open']>,
  progress: Progress,
): Promise<Rendered> {
  const { bytes = 0 } = job.request ?? {};
  if (!reservation.reserve(bytes * HELD_PER_BODY_BYTE)) throw reservation.overBudget();
  const request = await readRequest(files, job, key);
  await slotFree();
  const entry = newRenderEntry({ requestId, startMs: performance.now() });
  entry.who = { account: job.account, key: job.key };
  entry.request = redactedRequest(request);
  const work = () => {
    const rendering = render(
      request,
      { requestId, lease },
      { bodyBytes: bytes, budget: reservation },
      signal,
      entry.trace,
    );
    // The use case dispatches the render after some microtasks.
    setImmediate(dispatched);
    return rendering;
  };
  try {
    return await (renders ? renders.logged(entry, 'async', work) : runEntry(entry, work));
  } finally {
    rendered();
    progress.hadSlot = entry.trace.timings.load !== undefined;
    const { outcome, totalMs, phases } = entry;
    const fields = { requestId, jobId: job._id, accountId: job.account, attempt: attemptsOf(job) };
    log.info({ ...fields, outcome, totalMs, phases }, 'asynchronous render');
  }
}
