// The load of every pool, read from Prometheus for all of them at once and kept until the next
// time. An unknown load is a value, with its reason.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import type { Load, SlowScrape } from '../decide/model.ts';
import { type PoolSamples, queriesFor, samplesByPool } from './load-queries.ts';
import type { Prometheus } from './prometheus.ts';

/** A load and which worker has how much of it. */
export type PoolLoad = Load & {
  /** Busy slots of each pod that Prometheus knows. */
  busyByPod: ReadonlyMap<string, number>;
  /** Slots that workers ended in the last minutes because of their page, by reason. */
  pageEnds: ReadonlyMap<string, number>;
};

interface Options {
  /** Undefined when no address is configured. */
  prometheus: Prometheus | undefined;
  namespaces: readonly string[];
  intervalMs: number;
  /** Prometheus is queried only while this process leads. */
  isLeading(): boolean;
  log: Log;
  metrics: Metrics;
  /** There is news to decide by, an unreachable Prometheus included. */
  onLooked(): void;
  clock?: () => number;
}

/**
 * A value that is read every few seconds and is this many scrapes old does not describe the
 * present.
 */
const STALE_SCRAPES = 3;
/**
 * A few queries without an answer are no outage: after an outage the pool does not shrink for
 * minutes.
 */
const STALE_LEAST_S = 15;

/** A new leader does not wait longer for a Prometheus that does not answer. */
const FIRST_ANSWER_MS = 2_000;

/** How soon it is noticed that this process leads again after a moment without a leader. */
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
  /** When this process began to lead. */
  #beganMs: number | undefined;
  /** Whether Prometheus answered, or failed to, since then. */
  #asked = false;
  #pause = new AbortController();
  #failure: string | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    this.#queries = queriesFor(options.namespaces);
    this.#failure = options.prometheus
      ? 'it was not asked yet'
      : 'PRESSROOM_PROMETHEUS_URL is not set';
    const ageHelp = 'Age of the newest load that Prometheus told; NaN while it told none.';
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
        `Prometheus has no pressroom_queue_depth of pool ${pool} in namespace ${namespace}: see whether the API is scraped`,
      );
    const scrapeS = 60 / Math.max(1, samples.samplesAMinute);
    if (samples.ageS > Math.max(STALE_LEAST_S, STALE_SCRAPES * scrapeS))
      return unknown(
        'stale',
        `the newest value that Prometheus has of pool ${pool} is ${Math.round(samples.ageS)} s old`,
      );
    return {
      kind: 'measured',
      busySlots: sumOf(samples.busyByPod),
      runningMs: sumOf(samples.runningByPod) * 1_000,
      queuedRenders: sumOf(samples.queuedByPod),
      oldestWaitMs: samples.oldestWaitS * 1000,
      scrapeIntervalMs: Math.round(scrapeS * 1000),
      sampleAgeMs: Math.max(0, samples.ageS * 1_000),
      slowScrape: slowScrapeOf(samples),
      partial: samples.queuedByPod.size < samples.apisSeen,
      busyByPod: samples.busyByPod,
      pageEnds: samples.pageEnds,
    };
  }

  /** Queries Prometheus at once: this process leads from now on. */
  begin(): void {
    this.#forget();
    this.#beganMs = this.#clock();
    this.#pause.abort();
  }

  /**
   * Whether Prometheus was queried since then, or had enough time to answer: a load that was not
   * read yet is not reported as an outage.
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
    const { prometheus, intervalMs, isLeading, onLooked } = this.#options;
    while (!this.#ended.signal.aborted) {
      const begun = this.#clock();
      this.#pause = new AbortController();
      const leads = isLeading();
      if (leads) {
        this.#beganMs ??= begun;
        if (prometheus) await this.#look(prometheus);
        this.#asked = true;
        onLooked();
      } else this.#forget();
      const signal = AbortSignal.any([this.#ended.signal, this.#pause.signal]);
      const everyMs = leads ? intervalMs : Math.min(intervalMs, STANDBY_MS);
      await sleep(Math.max(0, everyMs - (this.#clock() - begun)), undefined, { signal }).catch(
        () => {},
      );
    }
  }

  async #look(prometheus: Prometheus): Promise<void> {
    const { log } = this.#options;
    const atMs = this.#clock();
    try {
      const [values, facts] = await Promise.all([
        prometheus.query(this.#queries.values),
        prometheus.query(this.#queries.facts),
      ]);
      this.#snapshot = { atMs, pools: samplesByPool(values, facts) };
      if (this.#failure !== undefined)
        log.info({ pools: this.#snapshot.pools.size }, 'Prometheus returns the load');
      this.#failure = undefined;
    } catch (error) {
      if (this.#failure === undefined || this.#snapshot === undefined)
        log.warn({ err: error }, 'Prometheus does not return the load: sizes are held');
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
 * A burst is seen after up to one scrape, and its pods need about as long as that again to start. A
 * tenth of tolerance: scrapes are counted.
 */
function slowScrapeOf({ scrapeS, queueTimeoutS }: PoolSamples): SlowScrape | undefined {
  if (scrapeS === undefined || scrapeS <= (queueTimeoutS / 2) * 1.1) return undefined;
  return { intervalMs: Math.round(scrapeS) * 1_000, queueTimeoutMs: queueTimeoutS * 1_000 };
}

const sumOf = (values: ReadonlyMap<string, number>) =>
  [...values.values()].reduce((sum, value) => sum + value, 0);
