// One render's line of the log, from what is known at its end. Pure.
import type { ApiError } from '../../common/contract/errors.ts';
import { asApiError, ClientClosed } from '../http/errors.ts';
import type { RenderTrace } from '../render/render.ts';
import type { RenderDocument } from '../store/store.ts';
import { redactedMessage } from './redacted-message.ts';
import type { RedactedRequest } from './redacted-request.ts';

/** What the ways in tell of a render while it goes on. */
export interface RenderEntry {
  readonly requestId: string;
  readonly via: RenderDocument['via'];
  readonly at: Date;
  /** Monotonic. */
  readonly startMs: number;
  /** Whose it is, as soon as that is known: nothing is kept of a caller whom nobody knows. */
  who?: { account: string; key?: string | undefined; user?: string; app?: string };
  /** What was asked for, once it is known to be a request. */
  request?: RedactedRequest;
  /** Given to the use case. */
  readonly trace: RenderTrace;
}

declare module '../http/state.ts' {
  interface State {
    /** Set where a log of renders is kept. */
    entry?: RenderEntry;
  }
}

/**
 * True for what was refused before it had a slot: it costs nothing, so there may be any number of
 * it.
 */
export const wasRefused = ({ trace: { timings } }: RenderEntry, error: unknown): boolean =>
  error !== undefined && !(error instanceof ClientClosed) && timings.load === undefined;

const rounded = (ms: number) => Math.round(ms * 10) / 10;

function endOf(error: unknown): Pick<RenderDocument, 'outcome' | 'code' | 'reason' | 'message'> {
  if (error === undefined) return { outcome: 'ok' };
  if (error instanceof ClientClosed) return { outcome: 'client_closed' };
  const known: ApiError = asApiError(error, true);
  return {
    outcome: 'error',
    code: known.code,
    ...(known.reason && { reason: known.reason }),
    message: redactedMessage(known.message),
  };
}

/** `error`: undefined for a render that went well. */
export function recordOf(
  entry: RenderEntry,
  account: string,
  error: unknown,
  nowMs: number,
): RenderDocument {
  const { requestId, via, at, startMs, who, request, trace } = entry;
  const sandbox = request?.sandbox ?? false;
  const timings = Object.fromEntries(
    Object.entries(trace.timings).map(([phase, ms]) => [phase, rounded(ms)]),
  );
  return {
    _id: requestId,
    account,
    at,
    ...(who?.key !== undefined && { key: who.key }),
    ...(who?.user !== undefined && { user: who.user }),
    ...(who?.app !== undefined && { app: who.app }),
    via,
    ...endOf(error),
    sandbox,
    counted: error === undefined && !sandbox,
    ...(request && { source: request.source }),
    ...(request?.url !== undefined && { url: request.url }),
    options: request?.options ?? {},
    timings,
    totalMs: rounded(nowMs - startMs),
    ...(error === undefined && trace.pages !== undefined && { pages: trace.pages }),
    ...(error === undefined && trace.bytes !== undefined && { bytes: trace.bytes }),
    ...(trace.console.length > 0 && { console: trace.console }),
  };
}
