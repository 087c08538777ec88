// The log of renders: takes one record per render and writes them in batches, beside the daily
// figures. Never delays or fails a render; records that cannot be written in time are logged and
// dropped.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../common/contract/errors.ts';
import { type Service, untilDeadline } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import { asApiError, ClientClosed } from '../http/errors.ts';
import type { RenderTrace } from '../render/render.ts';
import type { RenderDocument, Store } from '../store/store.ts';
import { redactedMessage } from './redacted-message.ts';
import type { RedactedRequest } from './redacted-request.ts';
import { createRefusalBound } from './refusal-bound.ts';
import { insertRenders, type NamedTally, writeTally } from './render-writes.ts';
import { addTo, newTally } from './usage-tally.ts';

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

export interface RenderLogTimes {
  flushEveryMs: number;
}

/** So many are written at once, and as soon as there are so many. */
const BATCH = 500;
/** About 1 KB each: at 100 renders a second it bridges over a minute and a half. */
export const MAX_WAITING_RECORDS = 10_000;
/** What a page wrote to its console may be 50 KB. While so many wait already it is left out. */
const MAX_WITH_CONSOLE = 1_000;
/** At the end, while MongoDB does not answer. */
const TRY_AGAIN_MS = 250;
const WAYS: readonly RenderEntry['via'][] = ['api', 'playground', 'mcp'];
const DEFAULTS: RenderLogTimes = { flushEveryMs: 2_000 };

export class RenderLog implements Service {
  readonly name = 'log of renders';
  readonly #store: Store;
  readonly #log: Log;
  readonly #flushEveryMs: number;
  readonly #dropped: ReturnType<Metrics['counter']>;
  readonly #succeeded: (via: RenderEntry['via']) => void;
  readonly #mayKeep = createRefusalBound();
  #waiting: RenderDocument[] = [];
  #tally = newTally();
  #pending: NamedTally | undefined;
  #lost = 0;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #failing = false;
  #stopped = true;

  constructor(store: Store, log: Log, metrics: Metrics, times: Partial<RenderLogTimes> = {}) {
    this.#store = store;
    this.#log = log;
    this.#flushEveryMs = { ...DEFAULTS, ...times }.flushEveryMs;
    this.#dropped = metrics.counter(
      'pressroom_render_log_dropped_total',
      'Renders that are missing in the log of the dashboard: MongoDB took them too slowly.',
    );
    this.#dropped.inc(0);
    this.#succeeded = metrics.counterBy(
      'pressroom_renders_by_way_total',
      'Renders of customers that succeeded, by the way they came in: the API, the playground, the MCP tool.',
      'via',
      WAYS,
    );
  }

  /**
   * Runs `work`, resolves or rejects as it does, and records how it ended. `work` writes into the
   * entry which account renders and what was requested, as soon as that is known, and passes
   * `entry.trace` to the use case.
   */
  async logged<T>(
    requestId: string,
    via: RenderEntry['via'],
    work: (entry: RenderEntry) => Promise<T>,
  ): Promise<T> {
    const entry: RenderEntry = {
      requestId,
      via,
      at: new Date(),
      startMs: performance.now(),
      trace: { timings: {}, console: [] },
    };
    try {
      const result = await work(entry);
      this.#succeeded(via);
      this.#keep(entry, undefined);
      return result;
    } catch (error) {
      this.#keep(entry, error);
      throw error;
    }
  }

  async start(): Promise<void> {
    this.#stopped = false;
    this.#schedule();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await untilDeadline(this.#writeRest(deadline), deadline);
    if (this.#waiting.length > 0)
      this.#log.warn(
        { lost: this.#waiting.length },
        'renders are missing in the log of the dashboard',
      );
  }

  #lose(renders: number): void {
    this.#lost += renders;
    this.#dropped.inc(renders);
  }

  #keep(entry: RenderEntry, error: unknown): void {
    const account = entry.who?.account;
    // A key that was revoked a moment ago has no account any more.
    if (account === undefined || (error instanceof ApiError && error.code === 'unauthorized'))
      return;
    const record = recordOf(entry, account, error, performance.now());
    if (!addTo(this.#tally, record)) this.#lose(1);
    if (wasRefused(entry, error) && !this.#mayKeep(account)) return;
    if (this.#waiting.length >= MAX_WAITING_RECORDS) {
      this.#waiting.shift();
      this.#lose(1);
    }
    if (this.#waiting.length >= MAX_WITH_CONSOLE) delete record.console;
    this.#waiting.push(record);
    if (this.#waiting.length >= BATCH && !this.#failing) void this.#flush();
  }

  #isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#pending === undefined && this.#tally.days.size === 0;
  }

  /**
   * A tally is written under one name until it is known to be written; what comes meanwhile goes
   * into the next.
   */
  async #writeTallies(): Promise<void> {
    while (this.#pending || this.#tally.days.size > 0) {
      if (!this.#pending) {
        this.#pending = { ...this.#tally, name: randomUUID() };
        this.#tally = newTally();
      }
      await writeTally(this.#store, this.#pending);
      this.#pending = undefined;
    }
  }

  /**
   * Rejects when MongoDB did not take all of it: what it may have taken is recognized the next
   * time.
   */
  async #writeAll(): Promise<void> {
    if (this.#isEmpty()) return;
    this.#store.primary.throwIfMissing();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      await insertRenders(this.#store, batch);
      // Some of them may have been dropped meanwhile.
      const written = new Set(batch);
      this.#waiting = this.#waiting.filter(each => !written.has(each));
    }
    await this.#writeTallies();
  }

  async #tryOnce(): Promise<void> {
    try {
      await this.#writeAll();
      if (this.#failing) this.#log.info('the log of renders is written again');
      this.#failing = false;
    } catch (error) {
      const details = { reason: (error as Error).message, waiting: this.#waiting.length };
      if (!this.#failing)
        this.#log.warn(details, 'the log of renders cannot be written, trying on');
      this.#failing = true;
    }
    if (this.#lost > 0)
      this.#log.warn({ lost: this.#lost }, 'renders are missing in the log of the dashboard');
    this.#lost = 0;
  }

  #flush(): Promise<void> {
    this.#flushing ??= this.#tryOnce().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(
      () => void this.#flush().then(() => this.#schedule()),
      this.#flushEveryMs,
    );
  }

  async #writeRest(deadline: AbortSignal): Promise<void> {
    for (await this.#flushing; !this.#isEmpty() && !deadline.aborted; ) {
      await this.#flush();
      if (this.#failing) await sleep(TRY_AGAIN_MS, undefined, { signal: deadline }).catch(() => {});
    }
  }
}
