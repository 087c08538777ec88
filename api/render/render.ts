// The use case: one render from admission to settlement. Every entry point (HTTP, trial, MCP,
// playground) calls it.

import { ApiError, renderFailed } from '../../common/contract/errors.ts';
import type { RenderRequest } from '../../common/contract/render-request.ts';
import type { Caller } from '../accounts/accepted-keys.ts';
import type { Lease, Leases } from '../leases/leases.ts';
import { type FreshReason, freshReason } from '../page/isolation.ts';
import type { PageReport } from '../page/page-report.ts';
import { limitMsOf, type PageSessionLimits, runPageSession } from '../page/page-session.ts';
import { type RenderSettings, renderSettings } from '../page/render-settings.ts';
import type { PdfFinisher } from '../pdf/finish.ts';
import { titleOf } from '../pdf/metadata.ts';
import type { Budget, Printed } from '../pdf/printed.ts';
import type { Dispatcher, Job } from '../queue/dispatcher.ts';
import type { PhaseTimings } from '../store/phases.ts';
import type { Session } from '../workers/session.ts';
import { type SlotEndReason, SlotLost } from '../workers/slot-port.ts';
import type { RenderMeters, RenderOutcome } from './render-metrics.ts';

export interface Rendered {
  pdf: Buffer;
  pages: number;
  /** Has the watermark and is not counted. */
  sandbox: boolean;
  /**
   * The account's count in this period after this render; undefined for what is not counted, or
   * when the database did not answer in time (it is settled later).
   */
  usage: number | undefined;
}

/** The memory that the request holds, and the budget for its PDF. */
export interface Memory {
  /** The request's body as it came. */
  bodyBytes: number;
  /** The PDF's bytes are taken from it; the caller releases them. */
  budget: Budget;
}

/** What a render records while it runs, whatever its outcome. */
export interface RenderTrace extends PageReport {
  timings: PhaseTimings;
  /** `warm`: in a sealed page. Set when the page is there. */
  isolation?: 'warm' | 'fresh';
  pages?: number;
  /** Of the PDF. */
  bytes?: number;
  /** Of the PDF, at most 128 characters. */
  title?: string;
}

/** Throws ApiError, or the signal's reason when the client disconnected. */
export type RenderUseCase<C = Caller> = (
  request: RenderRequest,
  caller: C,
  memory: Memory,
  signal: AbortSignal,
  trace: RenderTrace,
) => Promise<Rendered>;

export interface RenderDeps<C> {
  leases: Leases<C>;
  /** For anonymous clients: served only while no other render waits. */
  trial: boolean;
  /** PRESSROOM_RENDERER_REUSE. */
  reuse: boolean;
  dispatcher: Pick<Dispatcher<Session>, 'dispatch'>;
  limits: PageSessionLimits;
  finisher: Pick<PdfFinisher, 'finish'>;
  meters: RenderMeters;
}

/**
 * A slot lasts a little longer than its render, so that the render's own deadline comes first.
 */
const SLOT_GRACE_MS = 5_000;

/** Meters the outcome; `admitAndRender` is the render itself. */
export function createRender<C extends { requestId: string }>(
  deps: RenderDeps<C>,
): RenderUseCase<C> {
  const { meters } = deps;
  return async (request, caller, memory, signal, trace) => {
    const startMs = performance.now();
    try {
      const rendered = await admitAndRender(deps, request, caller, memory, signal, trace);
      meters.ended('ok');
      meters.phases(trace.timings, performance.now() - startMs);
      return rendered;
    } catch (error) {
      const known = asApiError(error);
      meters.ended(outcomeOf(known, signal));
      throw known;
    }
  };
}

/** admit -> queue, dispatch, page (renderOnWorker) -> finish -> settle -> release. */
async function admitAndRender<C extends { requestId: string }>(
  deps: RenderDeps<C>,
  request: RenderRequest,
  caller: C,
  memory: Memory,
  signal: AbortSignal,
  trace: RenderTrace,
): Promise<Rendered> {
  const { leases, finisher, meters } = deps;
  const clock = new PhaseClock(trace.timings);
  const lease = await clock.time('admit', leases.admit(caller));
  try {
    // After the admission, since scanning the HTML costs more CPU than the rest.
    const settings = renderSettings(lease.sandbox ? { ...request, sandbox: true } : request);
    const { sandbox } = settings;
    const startMs = performance.now();
    const job = jobOf(deps, caller.requestId, lease, settings, memory.bodyBytes, signal);
    const printed = await renderIsolated(
      deps,
      job,
      settings,
      freshReason(settings, deps.reuse && lease.rendererReuse === true),
      memory.budget,
      clock,
      trace,
    );
    const title = titleOf(printed.pdf, settings.metadata);
    const pdf = await clock.time(
      'post',
      finisher.finish(printed, settings, lease.accountId, memory.budget, job.signal),
    );
    signal.throwIfAborted();
    meters.ran(performance.now() - startMs);
    const { pages } = printed;
    Object.assign(trace, { pages, bytes: pdf.length, title });
    const usage = sandbox ? undefined : await clock.time('settle', leases.settle(lease));
    return { pdf, pages, sandbox, usage };
  } finally {
    await leases.release(lease);
  }
}

function jobOf<C>(
  { trial, limits }: RenderDeps<C>,
  renderId: string,
  { accountId, clientHash, intranet, lost }: Lease,
  settings: RenderSettings,
  bytes: number,
  signal: AbortSignal,
): Job {
  return {
    accountId,
    ...(clientHash !== undefined && { clientHash }),
    trial,
    bytes,
    renderId,
    egress: intranet ? 'intranet' : 'public',
    maxMs: limitMsOf(settings, limits) + SLOT_GRACE_MS,
    signal: AbortSignal.any([signal, lost]),
  };
}

/**
 * Renders a static document in a sealed page of its account. One that tried to load something was
 * not static: it is rendered again in a fresh page.
 */
async function renderIsolated<C>(
  deps: RenderDeps<C>,
  job: Job,
  settings: RenderSettings,
  reason: FreshReason | undefined,
  budget: Budget,
  clock: PhaseClock,
  trace: RenderTrace,
): Promise<Printed> {
  const { meters } = deps;
  if (reason !== undefined) {
    meters.rendersFresh(reason);
    return renderOnWorker(deps, job, settings, budget, clock, trace);
  }
  try {
    const warm = { ...settings, isolation: 'warm' as const };
    const warmJob = { ...job, isolation: warm.isolation };
    const printed = await renderOnWorker(deps, warmJob, warm, budget, clock, trace);
    if (trace.isolation === 'warm') meters.rendersWarm();
    else meters.rendersFresh('off'); // the worker is of the previous release
    return printed;
  } catch (error) {
    if (!(error instanceof SlotLost && error.end === 'not_static')) throw error;
    meters.rendersFresh('not_static');
    return renderOnWorker(deps, job, { ...settings, isStatic: false }, budget, clock, trace);
  }
}

/**
 * Queues the job (`Dispatcher.dispatch`) and runs the page session on the slot, a second time when
 * the first worker or Chrome dies. All attempts of a render share one time limit.
 */
async function renderOnWorker<C>(
  { dispatcher, limits }: RenderDeps<C>,
  job: Job,
  settings: RenderSettings,
  budget: Budget,
  clock: PhaseClock,
  trace: RenderTrace,
): Promise<Printed> {
  const renderOnSlot = async (session: Session) => {
    const startMs = performance.now();
    trace.isolation = session.sealed ? 'warm' : 'fresh';
    try {
      return await runPageSession(
        session,
        settings,
        { ...limits, spentMs: clock.pageMs },
        budget,
        job.signal,
        clock.timings,
        trace,
      );
    } finally {
      clock.pageMs += performance.now() - startMs;
    }
  };
  clock.enterQueue();
  try {
    return await dispatcher.dispatch(job, renderOnSlot, phase =>
      phase === 'queued' ? clock.enterQueue() : clock.leaveQueue(),
    );
  } finally {
    clock.leaveQueue();
  }
}

const slotEnded: Partial<Record<SlotEndReason, () => ApiError>> = {
  renderer_crashed: () =>
    renderFailed(
      'page_crash',
      'The page crashed its browser process. It may need more memory than a render may use, or trigger a bug in the browser. Use fewer or smaller images, or split the document.',
    ),
  memory: () =>
    renderFailed(
      'page_crash',
      'The page used more memory than a render may use. Use fewer or smaller images, or split the document.',
    ),
  deadline: () =>
    renderFailed(
      'page_timeout',
      'The render exceeded its time limit. Simplify the page, use shorter waits or a longer `timeout`.',
    ),
  flooded: () =>
    renderFailed(
      'output_limit',
      'The page produced too many browser events. Check for endless requests, and for URLs or error messages of several megabytes.',
    ),
};

const asApiError = (error: unknown): unknown =>
  error instanceof SlotLost
    ? (slotEnded[error.end]?.() ??
      renderFailed(
        'internal',
        'The render failed because of an internal error. Try again. If it happens again, send the request ID to your administrator.',
        {
          cause: error,
        },
      ))
    : error;

/**
 * The metric label of a failed render: the error's code, or for render_failed its reason.
 */
const outcomeOf = (error: unknown, signal: AbortSignal): RenderOutcome =>
  signal.aborted
    ? 'client_closed'
    : error instanceof ApiError
      ? (error.reason ?? error.code)
      : 'internal';

/** Measures the phases of one render, whatever its outcome. */
class PhaseClock {
  readonly timings: PhaseTimings;
  /** Spent on pages by all attempts. */
  pageMs = 0;
  #queuedMs: number | undefined;

  constructor(timings: PhaseTimings) {
    this.timings = timings;
  }

  async time<T>(phase: keyof PhaseTimings, work: Promise<T>): Promise<T> {
    const startMs = performance.now();
    try {
      return await work;
    } finally {
      this.timings[phase] = performance.now() - startMs;
    }
  }

  /** The render waits for a slot; a retry adds to the wait before. */
  enterQueue(): void {
    this.#queuedMs = performance.now();
  }

  leaveQueue(): void {
    if (this.#queuedMs !== undefined)
      this.timings.queue = (this.timings.queue ?? 0) + performance.now() - this.#queuedMs;
    this.#queuedMs = undefined;
  }
}
