// What is known of one render while it runs: the source of its log line, its Server-Timing and its
// record in the render log.
import { isRejection } from '../../common/contract/errors.ts';
import type { RenderRequest } from '../../common/contract/render-request.ts';
import type { LoggedOutcome } from '../http/access-log.ts';
import { asApiError, ClientClosed } from '../http/errors.ts';
import type { Context } from '../http/state.ts';
import { newPageReport } from '../page/page-report.ts';
import type { RenderTrace } from '../render/render.ts';
import { type AllPhases, allPhases } from '../store/phases.ts';
import { type RedactedRequest, redactedBody, redactedRequest } from './redacted-request.ts';

/** What the entry points (API, trial, playground, MCP) report about a render in progress. */
export interface RenderEntry {
  readonly requestId: string;
  readonly at: Date;
  /** When the request began. Monotonic. */
  readonly startMs: number;
  /** The caller, once known. Renders of unknown callers are not recorded. */
  who?: { account: string; key?: string | undefined; user?: string; app?: string };
  /** Set by `validated`: the request, or the valid fields of a rejected one. */
  request?: RedactedRequest;
  /** Set by `endTime`, at the latest by `runEntry`. */
  totalMs?: number;
  /** Set with `totalMs`, unless the request was rejected before rendering. */
  phases?: AllPhases | undefined;
  /** Set by `runEntry`, which then resolves `ended`. */
  outcome?: LoggedOutcome;
  readonly ended: PromiseWithResolvers<void>;
  /** Filled in by the use case. */
  readonly trace: RenderTrace;
}

declare module '../http/state.ts' {
  interface State {
    /** Of a render, for its log line. */
    entry?: RenderEntry;
  }
}

/** The caller must pass it to `runEntry`. */
export const newRenderEntry = ({
  requestId,
  startMs,
}: Pick<RenderEntry, 'requestId' | 'startMs'>): RenderEntry => ({
  requestId,
  at: new Date(),
  startMs,
  ended: Promise.withResolvers(),
  trace: { timings: {}, ...newPageReport() },
});

/** The entry of a request, for its log line. */
export function beginEntry({ state }: Pick<Context, 'state'>): RenderEntry {
  state.entry = newRenderEntry(state);
  return state.entry;
}

/**
 * Ends the time of a render: response header, log line and record have the same phases. Further
 * calls do nothing.
 */
export function endTime(entry: RenderEntry): void {
  if (entry.totalMs !== undefined) return;
  entry.totalMs = performance.now() - entry.startMs;
  entry.phases = allPhases(entry.trace.timings, entry.totalMs);
}

function outcomeOf(error: unknown): LoggedOutcome {
  if (error instanceof ClientClosed) return 'canceled';
  return isRejection(asApiError(error, true).code) ? 'rejected' : 'failed';
}

/** Resolves or rejects as `work` does, and sets how and when the render ended. */
export async function runEntry<T>(entry: RenderEntry, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    entry.outcome = 'succeeded';
    return result;
  } catch (error) {
    entry.outcome = outcomeOf(error);
    throw error;
  } finally {
    endTime(entry);
    entry.ended.resolve();
  }
}

/** Resolves or rejects as `validate` does, and sets the request of the entry in both cases. */
export async function validated(
  entry: RenderEntry,
  body: unknown,
  validate: () => RenderRequest | Promise<RenderRequest>,
): Promise<RenderRequest> {
  try {
    const request = await validate();
    entry.request = redactedRequest(request);
    return request;
  } catch (error) {
    entry.request = redactedBody(body);
    throw error;
  }
}
