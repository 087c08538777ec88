// The use case: one render from admission to the settled count. Every way in (HTTP, trial, MCP, playground) calls this; it tells the story of design §2 and nothing else.

import { ApiError, renderFailed } from '../../common/contract/errors.ts';
import type { RenderRequest } from '../../common/contract/render-request.ts';
import type { Caller } from '../accounts/accepted-keys.ts';
import type { Leases } from '../leases/leases.ts';
import type { ConsoleLine } from '../page/page-console.ts';
import { type PageSessionLimits, runPageSession } from '../page/page-session.ts';
import { renderSettings } from '../page/render-settings.ts';
import type { Finish } from '../pdf/finish.ts';
import type { Budget } from '../pdf/printed.ts';
import type { Dispatcher } from '../queue/dispatcher.ts';
import type { PhaseTimings } from '../store/phases.ts';
import type { Session } from '../workers/session.ts';
import { type SlotEndReason, SlotLost } from '../workers/slot-port.ts';
import type { RenderMeters, RenderOutcome } from './render-metrics.ts';

export interface Rendered {
  pdf: Buffer;
  pages: number;
  /** It has the watermark and was not counted. */
  sandbox: boolean;
  /** The account's count in this period after this render; undefined for what is not counted, or when the database did not answer in time (it is settled later). */
  usage: number | undefined;
  /** Milliseconds. */
  timings: PhaseTimings;
}

/** What the request holds of the process's memory, and what its PDF may. */
export interface Memory {
  /** The request's body as it came. */
  bodyBytes: number;
  /** Holds the PDF when there is one; its caller gives it back. */
  budget: Budget;
}

/** What a render tells of itself while it runs, for who keeps a log: it stands there whether the render succeeds or not. */
export interface RenderTrace {
  timings: PhaseTimings;
  /** What the page wrote to its console, as far as it was asked for its words. */
  console: ConsoleLine[];
  pages?: number;
  /** Of the PDF. */
  bytes?: number;
}

/** Throws ApiError, or the signal's reason when the caller went away. Without a `trace` the page is not asked for its console. */
export type RenderUseCase<C = Caller> = (
  request: RenderRequest,
  caller: C,
  memory: Memory,
  signal: AbortSignal,
  trace?: RenderTrace,
) => Promise<Rendered>;

interface Deps<C> {
  /** Who is let in. */
  leases: Leases<C>;
  /** For callers whom nobody knows: served only while no other render waits. */
  trial: boolean;
  dispatch: Dispatcher<Session>;
  limits: PageSessionLimits;
  finish: Finish;
  meters: RenderMeters;
}

/** A slot lives a little longer than the render in it, so that the render's own deadline speaks first. */
const SLOT_GRACE_MS = 5_000;

const slotEnded: Partial<Record<SlotEndReason, () => ApiError>> = {
  renderer_crashed: () =>
    renderFailed(
      'page_crash',
      'The page crashed its browser process. It may need more memory than a render has, or meet a fault in the browser.',
    ),
  memory: () => renderFailed('page_crash', 'The page used more memory than one render may. Use smaller images, or less content.'),
  deadline: () => renderFailed('page_timeout', 'The render took longer than it may.'),
  flooded: () =>
    renderFailed(
      'output_limit',
      'The page made more or larger events than the service takes. It may request without end, or use URLs or error messages of many megabytes.',
    ),
};

const asApiError = (error: unknown): unknown =>
  error instanceof SlotLost
    ? (slotEnded[error.end]?.() ?? renderFailed('internal', 'The render failed on our side. Try it again.', { cause: error }))
    : error;

/** What the metrics call the end of a render: the error's code, and for render_failed its reason. */
const outcomeOf = (error: unknown, signal: AbortSignal): RenderOutcome =>
  signal.aborted ? 'client_closed' : error instanceof ApiError ? (error.reason ?? error.code) : 'internal';

export function createRender<C extends { requestId: string }>(deps: Deps<C>): RenderUseCase<C> {
  const { leases, trial, dispatch, limits, finish, meters } = deps;

  async function render(...[request, caller, memory, signal, trace]: Parameters<RenderUseCase<C>>): Promise<Rendered> {
    const timings: PhaseTimings = trace?.timings ?? {};
    const timed = async <T>(phase: keyof PhaseTimings, work: Promise<T>): Promise<T> => {
      const start = performance.now();
      try {
        return await work;
      } finally {
        timings[phase] = performance.now() - start;
      }
    };
    const lease = await timed('admit', leases.admit(caller));
    try {
      // Only for admitted calls: looking through the HTML takes longer than the rest.
      const settings = renderSettings(request);
      const start = performance.now();
      let enqueued: number | undefined = start;
      const leaveQueue = () => {
        if (enqueued !== undefined) timings.queue = (timings.queue ?? 0) + performance.now() - enqueued;
        enqueued = undefined;
      };
      const job = {
        accountId: lease.accountId,
        ...(lease.visitor !== undefined && { visitor: lease.visitor }),
        trial,
        bytes: memory.bodyBytes,
        renderId: caller.requestId,
        egress: lease.intranet ? ('intranet' as const) : ('public' as const),
        maxMs: limits.renderMs + settings.waits.delayMs + SLOT_GRACE_MS,
        signal: AbortSignal.any([signal, lease.lost]),
      };
      let spentMs = 0;
      const renderOnSlot = (session: Session) => {
        const beganMs = performance.now();
        return runPageSession(session, settings, { ...limits, spentMs }, memory.budget, job.signal, timings, trace?.console).finally(() => {
          spentMs += performance.now() - beganMs;
        });
      };
      const printed = await dispatch
        .dispatch(job, renderOnSlot, phase => {
          if (phase === 'queued') enqueued = performance.now();
          else leaveQueue();
        })
        .finally(leaveQueue);
      const { pages } = printed;
      const pdf = await timed('post', finish(printed, settings, lease.accountId, memory.budget, job.signal));
      signal.throwIfAborted();
      meters.ran(performance.now() - start);
      const { sandbox } = settings;
      if (trace) Object.assign(trace, { pages, bytes: pdf.length });
      const usage = sandbox ? undefined : await timed('settle', leases.settle(lease));
      return { pdf, pages, sandbox, usage, timings };
    } finally {
      await leases.release(lease);
    }
  }

  return async (request, caller, memory, signal, trace) => {
    const start = performance.now();
    try {
      const rendered = await render(request, caller, memory, signal, trace);
      meters.ended('ok');
      meters.phases(rendered.timings, performance.now() - start);
      return rendered;
    } catch (error) {
      const known = asApiError(error);
      meters.ended(outcomeOf(known, signal));
      throw known;
    }
  };
}
