// Caches the load of all pools, read from Prometheus at an interval. An unknown load is a value
// with a reason.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import type { Load, SlowScrape } from '../decide/model.ts';
import { type PoolSamples, queriesFor, samplesByPool } from './load-queries.ts';
import type { Prometheus } from './prometheus.ts';

/** The load of a pool, in total and per worker. */
export type PoolLoad = Load & {
  /** Busy slots of each pod with metrics. */
  busyByPod: ReadonlyMap<string, number>;
  /** Slots that workers recently ended because of their page, by reason. */
  pageEnds: ReadonlyMap<string, number>;
};

interface Options {
  /** Undefined if no URL is configured. */
  prometheus: Prometheus | undefined;
  namespaces: readonly string[];
  intervalMs: number;
  /** Prometheus is queried only while this process leads. */
  isLeading(): boolean;
  log: Log;
  metrics: Metrics;
  /** Called after each refresh, also after a failed one. */
  onRefreshed(): void;
  clock?: () => number;
}

/** A sample older than this many scrape intervals is stale. */
const STALE_SCRAPES = 3;
/** But not before this time: after an outage, the pool does not shrink for minutes. */
const STALE_LEAST_S = 15;

/** How long a new leader waits for the first response of Prometheus. */
const FIRST_ANSWER_MS = 2_000;

/** Polling interval for leadership while this process is not the leader. */
const STANDBY_MS = 1_000;

const NONE: ReadonlyMap<string, number> = new Map();
const unknown = (reason: 'unreachable' | 'no_data' | 'stale', message: string): PoolLoad => ({
  kind: 'unknown',
  reason,
  message,
  busyByPod: NONE,
  pageEnds: NONE,
});

export class LoadCache implements Service {
  readonly name = 'loads';
  readonly #options: Options;
  readonly #clock: () => number;
  readonly #queries: ReturnType<typeof queriesFor>;
  readonly #ended = new AbortController();
  #running: Promise<void> | undefined;
  #snapshot: { atMs: number; pools: Map<string, PoolSamples> } | undefined;
  /** When this process became the leader. */
  #beganMs: number | undefined;
  /** Whether Prometheus has been queried since then. */
  #asked = false;
  #pause = new AbortController();
  #failure: string | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    this.#queries = queriesFor(options.namespaces);
    this.#failure = options.prometheus
      ? 'Prometheus has not been queried yet'
      : 'PRESSROOM_PROMETHEUS_URL is not set';
    const ageHelp = 'Age of the newest load returned by Prometheus. NaN while there is none.';
    options.metrics.gauge('pressroom_metrics_age_seconds', ageHelp, [], gauge =>
      gauge.set(this.#snapshot ? (this.#clock() - this.#snapshot.atMs) / 1000 : Number.NaN),
    );
  }

  of(namespace: string, pool: string): PoolLoad {
    if (this.#failure !== undefined && this.#isOld()) return unknown('unreachable', this.#failure);
    const samples = this.#snapshot?.pools.get(`${namespace}/${pool}`);
    if (!samples || samples.queuedByPod.size === 0)
      return unknown(
        'no_data',
        `Prometheus has no metric pressroom_queue_depth for pool ${pool} in namespace ${namespace}. Check that it scrapes the API`,
      );
    const scrapeS = 60 / Math.max(1, samples.samplesAMinute);
    if (samples.ageS > Math.max(STALE_LEAST_S, STALE_SCRAPES * scrapeS))
      return unknown(
        'stale',
        `The newest sample of pool ${pool} in Prometheus is ${Math.round(samples.ageS)} s old`,
      );
    return {
      kind: 'measured',
      busySlots: sumOf(samples.busyByPod),
      runningMs: sumOf(samples.runningByPod) * 1_000,
      queuedRenders: sumOf(samples.queuedByPod) + samples.asyncBacklog,
      // An old asynchronous render must not hide how fast synchronous ones arrive.
      oldestWaitMs: (samples.oldestWaitS || samples.asyncOldestWaitS) * 1000,
      scrapeIntervalMs: Math.round(scrapeS * 1000),
      sampleAgeMs: Math.max(0, samples.ageS * 1_000),
      slowScrape: slowScrapeOf(samples),
      partial: samples.queuedByPod.size < samples.apisSeen,
      busyByPod: samples.busyByPod,
      pageEnds: samples.pageEnds,
    };
  }

  /** Queries Prometheus immediately, because this process has become the leader. */
  begin(): void {
    this.#forget();
    this.#beganMs = this.#clock();
    this.#pause.abort();
  }

  /**
   * Whether Prometheus has been queried since then, or had enough time to respond: a load that has
   * not been read yet must not be reported as an outage.
   */
  begun(): boolean {
    if (!this.#options.prometheus || this.#asked) return true;
    return this.#beganMs !== undefined && this.#clock() - this.#beganMs > FIRST_ANSWER_MS;
  }

  async start(): Promise<void> {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { prometheus, intervalMs, isLeading, onRefreshed } = this.#options;
    while (!this.#ended.signal.aborted) {
      const begun = this.#clock();
      this.#pause = new AbortController();
      const leads = isLeading();
      if (leads) {
        this.#beganMs ??= begun;
        if (prometheus) await this.#refresh(prometheus);
        this.#asked = true;
        onRefreshed();
      } else this.#forget();
      const signal = AbortSignal.any([this.#ended.signal, this.#pause.signal]);
      const everyMs = leads ? intervalMs : Math.min(intervalMs, STANDBY_MS);
      await sleep(Math.max(0, everyMs - (this.#clock() - begun)), undefined, { signal }).catch(
        () => {},
      );
    }
  }

  async #refresh(prometheus: Prometheus): Promise<void> {
    const { log } = this.#options;
    const atMs = this.#clock();
    try {
      const [values, facts] = await Promise.all([
        prometheus.query(this.#queries.values),
        prometheus.query(this.#queries.facts),
      ]);
      this.#snapshot = { atMs, pools: samplesByPool(values, facts) };
      if (this.#failure !== undefined)
        log.info({ pools: this.#snapshot.pools.size }, 'Prometheus returned the load');
      this.#failure = undefined;
    } catch (error) {
      if (this.#failure === undefined || this.#snapshot === undefined)
        log.warn({ err: error }, 'could not read the load from Prometheus; pools keep their size');
      this.#failure = (error as Error).message;
    }
  }

  #forget(): void {
    this.#snapshot = undefined;
    this.#beganMs = undefined;
    this.#asked = false;
  }

  #isOld(): boolean {
    const maxAgeMs = Math.max(STALE_LEAST_S * 1_000, STALE_SCRAPES * this.#options.intervalMs);
    return this.#snapshot === undefined || this.#clock() - this.#snapshot.atMs > maxAgeMs;
  }
}

/**
 * A burst is detected after up to one scrape interval, and its pods need about as long to start.
 * With 10 % tolerance, because the interval is derived from the number of samples.
 */
function slowScrapeOf({ scrapeS, queueTimeoutS }: PoolSamples): SlowScrape | undefined {
  if (scrapeS === undefined || scrapeS <= (queueTimeoutS / 2) * 1.1) return undefined;
  return { intervalMs: Math.round(scrapeS) * 1_000, queueTimeoutMs: queueTimeoutS * 1_000 };
}

const sumOf = (values: ReadonlyMap<string, number>) =>
  [...values.values()].reduce((sum, value) => sum + value, 0);
