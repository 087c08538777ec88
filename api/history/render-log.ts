// The render log: writes one record per render in batches, and the daily usage. Never delays or
// fails a render. Records that cannot be written in time are dropped, and their number is logged.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../common/contract/errors.ts';
import { type Service, untilDeadline } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import { roundedMs } from '../../common/units.ts';
import { asApiError, ClientClosed } from '../http/errors.ts';
import type { RenderTrace } from '../render/render.ts';
import type { RenderDocument, Store } from '../store/store.ts';
import { redactedMessage } from './redacted-message.ts';
import { type RenderEntry, runEntry } from './render-entry.ts';
import { insertRenders, type NamedTally, writeTally } from './render-writes.ts';
import { addTo, newTally } from './usage-tally.ts';
import { createWindowCount } from './window-count.ts';

/** True for a render that ended with an error before it had a slot. There may be many of these. */
export const endedWithoutSlot = ({ trace: { timings } }: RenderEntry, error: unknown): boolean =>
  error !== undefined && !(error instanceof ClientClosed) && timings.load === undefined;

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

const resourceErrorsOf = ({ resources: { count, listed } }: RenderTrace) =>
  count > 0 ? { resourceErrors: count, resources: listed } : {};

/** `error`: undefined for a successful render. */
export function recordOf(
  entry: RenderEntry,
  via: RenderDocument['via'],
  account: string,
  error: unknown,
): RenderDocument {
  const { requestId, at, totalMs = 0, who, request, trace } = entry;
  const sandbox = request?.sandbox ?? false;
  const timings = Object.fromEntries(
    Object.entries(trace.timings).map(([phase, ms]) => [phase, roundedMs(ms)]),
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
    ...(request?.source && { source: request.source }),
    ...(request?.url !== undefined && { url: request.url }),
    ...(request?.reference !== undefined && { reference: request.reference }),
    options: request?.options ?? {},
    timings,
    totalMs: roundedMs(totalMs),
    ...(error === undefined && trace.pages !== undefined && { pages: trace.pages }),
    ...(error === undefined && trace.bytes !== undefined && { bytes: trace.bytes }),
    ...(error === undefined && trace.title !== undefined && { title: trace.title }),
    ...(trace.console?.length && { console: trace.console }),
    ...resourceErrorsOf(trace),
    ...(trace.warnings.length > 0 && { warnings: trace.warnings }),
  };
}

export interface RenderLogTimes {
  flushEveryMs: number;
}

/** Records per write. A full batch is written immediately. */
const BATCH = 500;
/** About 1 KB each: 100 seconds at 100 renders per second. */
export const MAX_WAITING_RECORDS = 10_000;
/**
 * Console output and failed requests of a page may be 100 KB. They are dropped while this many
 * records wait.
 */
const MAX_WITH_DETAILS = 1_000;
/** Renders without a slot that have their own record, per account and second. */
const KEPT_EACH_SECOND = 10;
/** At shutdown, while MongoDB does not answer. */
const RETRY_MS = 250;
const WAYS: readonly RenderDocument['via'][] = ['api', 'playground', 'mcp', 'async'];
const DEFAULTS: RenderLogTimes = { flushEveryMs: 2_000 };

export class RenderLog implements Service {
  readonly name = 'render log';
  readonly #store: Store;
  readonly #log: Log;
  readonly #flushEveryMs: number;
  readonly #dropped: ReturnType<Metrics['counter']>;
  readonly #succeeded: (via: RenderDocument['via']) => void;
  readonly #mayKeep = createWindowCount(KEPT_EACH_SECOND, 1_000).take;
  #waiting: RenderDocument[] = [];
  /** One record for all further renders of a key with the same error, until the next write. */
  readonly #repeated = new Map<string, RenderDocument>();
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
      'Renders missing from the render log because MongoDB accepted writes too slowly.',
    );
    this.#dropped.inc(0);
    this.#succeeded = metrics.counterBy(
      'pressroom_renders_by_way_total',
      'Successful customer renders by entry point: API, playground, MCP tool or asynchronous render.',
      'via',
      WAYS,
    );
  }

  /**
   * Runs `work`, resolves or rejects as it does, and records the outcome. `work` sets account and
   * request in the entry as soon as they are known, and passes `entry.trace` to the use case.
   */
  async logged<T>(
    entry: RenderEntry,
    via: RenderDocument['via'],
    work: () => Promise<T>,
  ): Promise<T> {
    entry.trace.console = [];
    try {
      const result = await runEntry(entry, work);
      this.#succeeded(via);
      this.#keep(entry, via, undefined);
      return result;
    } catch (error) {
      this.#keep(entry, via, error);
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
      this.#log.warn({ lost: this.#waiting.length }, 'renders are missing from the render log');
  }

  #lose(renders: number): void {
    this.#lost += renders;
    this.#dropped.inc(renders);
  }

  #keep(entry: RenderEntry, via: RenderDocument['via'], error: unknown): void {
    const account = entry.who?.account;
    // A key that was just revoked no longer belongs to an account.
    if (account === undefined || (error instanceof ApiError && error.code === 'unauthorized'))
      return;
    const record = recordOf(entry, via, account, error);
    if (!addTo(this.#tally, record)) this.#lose(1);
    if (endedWithoutSlot(entry, error) && !this.#mayKeep(account)) this.#repeat(record);
    else this.#add(record);
    if (this.#waiting.length >= BATCH && !this.#failing) void this.#flush();
  }

  #repeat(record: RenderDocument): void {
    const name = `${record.account} ${record.key} ${record.code} ${record.reason}`;
    const first = this.#repeated.get(name) ?? record;
    first.times = (first.times ?? 0) + 1;
    this.#repeated.set(name, first);
  }

  #add(record: RenderDocument): void {
    if (this.#waiting.length >= MAX_WAITING_RECORDS) {
      this.#waiting.shift();
      this.#lose(1);
    }
    if (this.#waiting.length >= MAX_WITH_DETAILS) {
      delete record.console;
      delete record.resources;
    }
    this.#waiting.push(record);
  }

  #isEmpty(): boolean {
    return (
      this.#waiting.length === 0 &&
      this.#repeated.size === 0 &&
      this.#pending === undefined &&
      this.#tally.days.size === 0
    );
  }

  /** A tally keeps its name until its write is confirmed. New renders go into the next tally. */
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

  /** Rejects when a write is not confirmed. Repeating it skips what was already written. */
  async #writeAll(): Promise<void> {
    if (this.#isEmpty()) return;
    this.#store.primary.throwIfMissing();
    for (const record of this.#repeated.values()) this.#add(record);
    this.#repeated.clear();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      await insertRenders(this.#store, batch);
      // Some of the batch may have been dropped during the write.
      const written = new Set(batch);
      this.#waiting = this.#waiting.filter(each => !written.has(each));
    }
    await this.#writeTallies();
  }

  async #tryOnce(): Promise<void> {
    try {
      await this.#writeAll();
      if (this.#failing) this.#log.info('writes to the render log have recovered');
      this.#failing = false;
    } catch (error) {
      const details = { reason: (error as Error).message, waiting: this.#waiting.length };
      if (!this.#failing) this.#log.warn(details, 'the render log cannot be written, retrying');
      this.#failing = true;
    }
    if (this.#lost > 0)
      this.#log.warn({ lost: this.#lost }, 'renders are missing from the render log');
    this.#lost = 0;
  }

  /** Never called by a write: until the first pause of a write, `#flushing` is not set. */
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
      if (this.#failing) await sleep(RETRY_MS, undefined, { signal: deadline }).catch(() => {});
    }
  }
}
