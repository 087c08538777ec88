// The load of every pool, read from Prometheus for all of them at once and kept until the next time. That it is not known is a value, with its reason.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../common/lifecycle.ts';
import type { Log } from '../common/log.ts';
import type { Metrics } from '../common/operations.ts';
import type { Load, SlowScrape } from './decide/model.ts';
import { PAGE_END_REASONS, PAGE_ENDS_MINUTES } from './page-ends.ts';
import type { Prometheus, Series } from './prometheus.ts';

/** A load and which worker has how much of it. */
export type PoolLoad = Load & {
  /** Busy slots of each pod that Prometheus knows. */
  busyByPod: ReadonlyMap<string, number>;
  /** Slots that workers ended in the last minutes because of their page, by reason. */
  pageEnds: ReadonlyMap<string, number>;
};

export interface Loads extends Service {
  of(namespace: string, pool: string): PoolLoad;
  /** Asks at once: this process leads from now on. */
  begin(): void;
  /** Whether Prometheus was heard since then, or had long enough: what is not asked yet is no outage, and is not told as one. */
  begun(): boolean;
}

interface Options {
  /** Undefined when no address is configured. */
  prometheus: Prometheus | undefined;
  namespaces: readonly string[];
  intervalMs: number;
  /** While this process does not lead, nobody needs to know. */
  wanted(): boolean;
  log: Log;
  metrics: Metrics;
  /** There is something new to decide by, if only that Prometheus is away. */
  onLooked(): void;
  clock?: () => number;
}

interface Part {
  busyByPod: Map<string, number>;
  /** Of each API. By pod, since Prometheus may have the same process twice: found by two jobs. */
  queuedByPod: Map<string, number>;
  /** Seconds; of each worker. */
  runningByPod: Map<string, number>;
  pageEnds: Map<string, number>;
  oldestWaitS: number;
  apisSeen: number;
  ageS: number;
  samplesAMinute: number;
  /** Undefined until samples of five minutes are there. */
  scrapeS: number | undefined;
  /** Of the API that lets renders wait for the shortest time. */
  queueTimeoutS: number;
}

type Snapshot = { atMs: number; pools: Map<string, Part> };

/** Of a value that is asked for every few seconds, one that is so many scrapes old says nothing about now. */
const STALE_SCRAPES = 3;
/** A few questions without an answer are no outage: after one the pool does not shrink for minutes. */
const STALE_LEAST_S = 15;

/** Who takes over does not wait longer for a Prometheus that says nothing. */
const FIRST_ANSWER_MS = 2_000;

/** How soon it is noticed that this process leads again, when it did not for a moment and nobody else did. */
const STANDBY_MS = 1_000;

const NONE: ReadonlyMap<string, number> = new Map();
const unknown = (reason: 'unreachable' | 'no_data' | 'stale', message: string): PoolLoad => ({
  kind: 'unknown',
  reason,
  message,
  busyByPod: NONE,
  pageEnds: NONE,
});

export function createLoads({
  prometheus,
  namespaces,
  intervalMs,
  wanted,
  log,
  metrics,
  onLooked,
  clock = () => performance.now(),
}: Options): Loads {
  const ended = new AbortController();
  let running: Promise<void> | undefined;
  let snapshot: Snapshot | undefined;
  let beganMs: number | undefined;
  let heard = false;
  let pause = new AbortController();
  let failure: string | undefined = prometheus ? 'it was not asked yet' : 'PRESSROOM_PROMETHEUS_URL is not set';
  metrics.gauge('pressroom_metrics_age_seconds', 'Age of the newest load that Prometheus told; NaN while it told none.', [], gauge =>
    gauge.set(snapshot ? (clock() - snapshot.atMs) / 1000 : Number.NaN),
  );
  const queries = queriesFor(namespaces);

  async function look(): Promise<void> {
    const atMs = clock();
    try {
      const [values, facts] = await Promise.all([prometheus!.query(queries.values), prometheus!.query(queries.facts)]);
      snapshot = { atMs, pools: partsOf(values, facts) };
      if (failure !== undefined) log.info({ pools: snapshot.pools.size }, 'Prometheus tells the load');
      failure = undefined;
    } catch (error) {
      if (failure === undefined || snapshot === undefined) log.warn({ err: error }, 'Prometheus does not tell the load: sizes are held');
      failure = (error as Error).message;
    }
  }

  function forget(): void {
    snapshot = undefined;
    beganMs = undefined;
    heard = false;
  }

  async function run(): Promise<void> {
    while (!ended.signal.aborted) {
      const begun = clock();
      pause = new AbortController();
      const leads = wanted();
      if (leads) {
        beganMs ??= begun;
        if (prometheus) await look();
        heard = true;
        onLooked();
      } else forget();
      const signal = AbortSignal.any([ended.signal, pause.signal]);
      const everyMs = leads ? intervalMs : Math.min(intervalMs, STANDBY_MS);
      await sleep(Math.max(0, everyMs - (clock() - begun)), undefined, { signal }).catch(() => {});
    }
  }

  return {
    name: 'loads',
    of(namespace, pool) {
      const old = snapshot === undefined || clock() - snapshot.atMs > Math.max(STALE_LEAST_S * 1_000, STALE_SCRAPES * intervalMs);
      if (failure !== undefined && old) return unknown('unreachable', failure);
      const part = snapshot?.pools.get(`${namespace}/${pool}`);
      if (!part || part.queuedByPod.size === 0)
        return unknown(
          'no_data',
          `Prometheus has no pressroom_queue_depth of pool ${pool} in namespace ${namespace}: see whether the API is scraped`,
        );
      const scrapeS = 60 / Math.max(1, part.samplesAMinute);
      if (part.ageS > Math.max(STALE_LEAST_S, STALE_SCRAPES * scrapeS))
        return unknown('stale', `the newest value that Prometheus has of pool ${pool} is ${Math.round(part.ageS)} s old`);
      return {
        kind: 'measured',
        busySlots: sumOf(part.busyByPod),
        runningMs: sumOf(part.runningByPod) * 1_000,
        queuedRenders: sumOf(part.queuedByPod),
        oldestWaitMs: part.oldestWaitS * 1000,
        scrapeIntervalMs: Math.round(scrapeS * 1000),
        sampleAgeMs: Math.max(0, part.ageS * 1_000),
        slowScrape: slowScrapeOf(part),
        partial: part.queuedByPod.size < part.apisSeen,
        busyByPod: part.busyByPod,
        pageEnds: part.pageEnds,
      };
    },
    begin() {
      forget();
      beganMs = clock();
      pause.abort();
    },
    begun: () => !prometheus || heard || (beganMs !== undefined && clock() - beganMs > FIRST_ANSWER_MS),
    start: async () => {
      running = run();
    },
    stop: async () => {
      ended.abort();
      await running;
    },
  };
}

/** A burst is seen after up to one scrape, and its pods need about as long as that again to start. A tenth of tolerance: scrapes are counted. */
function slowScrapeOf({ scrapeS, queueTimeoutS }: Part): SlowScrape | undefined {
  if (scrapeS === undefined || scrapeS <= (queueTimeoutS / 2) * 1.1) return undefined;
  return { intervalMs: Math.round(scrapeS) * 1_000, queueTimeoutMs: queueTimeoutS * 1_000 };
}

const sumOf = (values: ReadonlyMap<string, number>) => [...values.values()].reduce((sum, value) => sum + value, 0);

/** The seconds between two samples of a metric, by pool, once it is there for five minutes: fewer samples of a younger process say nothing. */
export const scrapeSecondsOf = (selector: string): string =>
  `300 / max by (namespace, pool) (count_over_time(${selector}[5m]) and ${selector} offset 5m)`;

/** Two queries for all pools, however many there are. */
export function queriesFor(namespaces: readonly string[]): { values: string; facts: string } {
  const scope = namespaces.length > 0 ? `namespace=~"${namespaces.join('|')}"` : 'namespace!=""';
  const of = (metric: string, range = '') => `${metric}{pool!="",${scope}}${range}`;
  const as = (fact: string, promql: string) => `label_replace(${promql}, "fact", "${fact}", "", "")`;
  const pageEnds = `increase(pressroom_slot_ends_total{reason=~"${PAGE_END_REASONS.join('|')}",pool!="",${scope}}[${PAGE_ENDS_MINUTES}m])`;
  return {
    // By name in one selector: `or` would take two metrics of one pod for the same series.
    values: `{__name__=~"pressroom_queue_depth|pressroom_queue_oldest_wait_seconds|pressroom_queue_timeout_seconds|pressroom_slots|pressroom_slots_running_seconds",state=~"claimed|",pool!="",${scope}}`,
    facts: [
      as('age', `min by (namespace, pool) (time() - timestamp(${of('pressroom_queue_depth')}))`),
      as('samples', `max by (namespace, pool) (count_over_time(${of('pressroom_queue_depth', '[1m]')}))`),
      as('scrape', scrapeSecondsOf(of('pressroom_queue_depth'))),
      as('page_ends', `sum by (namespace, pool, reason) (max by (namespace, pool, pod, reason) (${pageEnds})) > 0`),
      as('seen', `count by (namespace, pool) (count by (namespace, pool, pod) (count_over_time(${of('pressroom_queue_depth', '[1m]')})))`),
    ].join(' or '),
  };
}

const BY_POD: Record<string, 'busyByPod' | 'runningByPod'> = {
  pressroom_slots: 'busyByPod',
  pressroom_slots_running_seconds: 'runningByPod',
};

function partsOf(values: readonly Series[], facts: readonly Series[]): Map<string, Part> {
  const pools = new Map<string, Part>();
  const partOf = ({ namespace, pool }: Record<string, string>): Part => {
    const key = `${namespace}/${pool}`;
    let part = pools.get(key);
    if (!part) {
      part = {
        busyByPod: new Map(),
        queuedByPod: new Map(),
        runningByPod: new Map(),
        pageEnds: new Map(),
        oldestWaitS: 0,
        apisSeen: 0,
        ageS: 0,
        samplesAMinute: 0,
        scrapeS: undefined,
        queueTimeoutS: Number.POSITIVE_INFINITY,
      };
      pools.set(key, part);
    }
    return part;
  };
  for (const { labels, value } of values) {
    if (!Number.isFinite(value)) continue;
    const part = partOf(labels);
    if (labels.__name__ === 'pressroom_queue_oldest_wait_seconds') part.oldestWaitS = Math.max(part.oldestWaitS, value);
    else if (labels.__name__ === 'pressroom_queue_timeout_seconds') part.queueTimeoutS = Math.min(part.queueTimeoutS, value);
    else {
      const byPod = part[BY_POD[labels.__name__ ?? ''] ?? 'queuedByPod'];
      const pod = labels.pod ?? labels.instance ?? '';
      byPod.set(pod, Math.max(value, byPod.get(pod) ?? 0));
    }
  }
  for (const { labels, value } of facts) {
    const part = partOf(labels);
    if (labels.fact === 'page_ends') part.pageEnds.set(labels.reason ?? '', value);
    else if (labels.fact === 'age') part.ageS = value;
    else if (labels.fact === 'scrape') part.scrapeS = value;
    else if (labels.fact === 'samples') part.samplesAMinute = value;
    else part.apisSeen = value;
  }
  return pools;
}
