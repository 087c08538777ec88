// The log of renders: takes one record a render and writes them in batches, beside the daily figures. Never delays or fails a render; what cannot be written in time is told and let go.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../common/contract/errors.ts';
import { type Service, untilDeadline } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import type { RenderDocument, Store } from '../store/store.ts';
import { createRefusalBound } from './refusal-bound.ts';
import { type RenderEntry, recordOf, wasRefused } from './render-record.ts';
import { insertRenders, type NamedTally, writeTally } from './render-writes.ts';
import { addTo, newTally } from './usage-tally.ts';

export interface RenderLog extends Service {
  /**
   * Does `work`, answers or throws as it does, and keeps how it ended. `work` says in the entry whose render it is and what was asked for, as soon as that is known,
   * and gives `entry.trace` to the use case.
   */
  logged<T>(requestId: string, via: RenderEntry['via'], work: (entry: RenderEntry) => Promise<T>): Promise<T>;
}

export interface RenderLogTimes {
  flushEveryMs: number;
}

/** So many are written at once, and as soon as there are so many. */
const BATCH = 500;
/** About 1 KB each: at 100 renders a second it bridges over a minute and a half. */
export const MAX_WAITING = 10_000;
/** What a page wrote to its console may be 50 KB. While so many wait already it is left out. */
const MAX_WITH_CONSOLE = 1_000;
/** At the end, while MongoDB does not answer. */
const TRY_AGAIN_MS = 250;
const WAYS: readonly RenderEntry['via'][] = ['api', 'playground', 'mcp'];
const DEFAULTS: RenderLogTimes = { flushEveryMs: 2_000 };

export function createRenderLog(store: Store, log: Log, metrics: Metrics, times: Partial<RenderLogTimes> = {}): RenderLog {
  const { flushEveryMs } = { ...DEFAULTS, ...times };
  const dropped = metrics.counter(
    'pressroom_render_log_dropped_total',
    'Renders that are missing in the log of the dashboard: MongoDB took them too slowly.',
  );
  dropped.inc(0);
  const succeeded = metrics.counterBy(
    'pressroom_renders_by_way_total',
    'Renders of customers that succeeded, by the way they came in: the API, the playground, the MCP tool.',
    'via',
    WAYS,
  );
  const mayKeep = createRefusalBound();
  let waiting: RenderDocument[] = [];
  let tally = newTally();
  let pending: NamedTally | undefined;
  let lost = 0;
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;
  let failing = false;
  let stopped = true;

  function lose(renders: number): void {
    lost += renders;
    dropped.inc(renders);
  }

  function keep(entry: RenderEntry, error: unknown): void {
    const account = entry.who?.account;
    // A key that was revoked a moment ago is nobody's any more.
    if (account === undefined || (error instanceof ApiError && error.code === 'unauthorized')) return;
    const record = recordOf(entry, account, error, performance.now());
    if (!addTo(tally, record)) lose(1);
    if (wasRefused(entry, error) && !mayKeep(account)) return;
    if (waiting.length >= MAX_WAITING) {
      waiting.shift();
      lose(1);
    }
    if (waiting.length >= MAX_WITH_CONSOLE) delete record.console;
    waiting.push(record);
    if (waiting.length >= BATCH && !failing) void flush();
  }

  const isEmpty = () => waiting.length === 0 && pending === undefined && tally.days.size === 0;

  /** A tally is written under one name until it is known to be written; what comes meanwhile goes into the next. */
  async function writeTallies(): Promise<void> {
    while (pending || tally.days.size > 0) {
      if (!pending) {
        pending = { ...tally, name: randomUUID() };
        tally = newTally();
      }
      await writeTally(store, pending);
      pending = undefined;
    }
  }

  /** Rejects when MongoDB did not take all of it: what it may have taken is recognized the next time. */
  async function writeAll(): Promise<void> {
    if (isEmpty()) return;
    store.primary.throwIfMissing();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      await insertRenders(store, batch);
      // Some of them may have been given up meanwhile.
      const written = new Set(batch);
      waiting = waiting.filter(each => !written.has(each));
    }
    await writeTallies();
  }

  async function tryOnce(): Promise<void> {
    try {
      await writeAll();
      if (failing) log.info('the log of renders is written again');
      failing = false;
    } catch (error) {
      if (!failing)
        log.warn({ reason: (error as Error).message, waiting: waiting.length }, 'the log of renders cannot be written, trying on');
      failing = true;
    }
    if (lost > 0) log.warn({ lost }, 'renders are missing in the log of the dashboard');
    lost = 0;
  }

  function flush(): Promise<void> {
    flushing ??= tryOnce().finally(() => {
      flushing = undefined;
    });
    return flushing;
  }

  function again(): void {
    if (stopped) return;
    timer = setTimeout(() => void flush().then(again), flushEveryMs);
  }

  async function writeRest(deadline: AbortSignal): Promise<void> {
    for (await flushing; !isEmpty() && !deadline.aborted; ) {
      await flush();
      if (failing) await sleep(TRY_AGAIN_MS, undefined, { signal: deadline }).catch(() => {});
    }
  }

  async function logged<T>(requestId: string, via: RenderEntry['via'], work: (entry: RenderEntry) => Promise<T>): Promise<T> {
    const entry: RenderEntry = { requestId, via, at: new Date(), startMs: performance.now(), trace: { timings: {}, console: [] } };
    try {
      const result = await work(entry);
      succeeded(via);
      keep(entry, undefined);
      return result;
    } catch (error) {
      keep(entry, error);
      throw error;
    }
  }

  return {
    name: 'log of renders',
    logged,
    async start() {
      stopped = false;
      again();
    },
    async stop(deadline) {
      stopped = true;
      clearTimeout(timer);
      await untilDeadline(writeRest(deadline), deadline);
      if (waiting.length > 0) log.warn({ lost: waiting.length }, 'renders are missing in the log of the dashboard');
    },
  };
}
