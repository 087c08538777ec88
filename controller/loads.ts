// The load of every pool, read from Prometheus for all of them at once and kept until the next time. That it is not known is a value, with its reason.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../common/lifecycle.ts';
import type { Log } from '../common/log.ts';
import type { Metrics } from '../common/operations.ts';
import type { Load } from './decide.ts';
import type { Prometheus, Series } from './prometheus.ts';

/** A load and which worker has how much of it. */
export type PoolLoad = Load & {
  /** Busy slots of each pod that Prometheus knows. */
  busyByPod: ReadonlyMap<string, number>;
};

export interface Loads extends Service {
  of(namespace: string, pool: string): PoolLoad;
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
  queued: number;
  oldestWaitS: number;
  apis: number;
  apisSeen: number;
  ageS: number;
  samplesAMinute: number;
}

type Snapshot = { atMs: number; pools: Map<string, Part> };

/** Of a value that is asked for every few seconds, one that is so many scrapes old says nothing about now. */
const STALE_SCRAPES = 3;
const STALE_LEAST_S = 15;
/** A few questions without an answer are no outage: after one the pool does not shrink for minutes. */
const UNREACHABLE_LEAST_MS = 15_000;

const NONE: ReadonlyMap<string, number> = new Map();
const unknown = (reason: 'unreachable' | 'no_data' | 'stale', message: string): PoolLoad => ({
  kind: 'unknown',
  reason,
  message,
  busyByPod: NONE,
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

  async function run(): Promise<void> {
    while (!ended.signal.aborted) {
      const begun = clock();
      if (wanted()) {
        if (prometheus) await look();
        onLooked();
      } else snapshot = undefined;
      await sleep(Math.max(0, intervalMs - (clock() - begun)), undefined, { signal: ended.signal }).catch(() => {});
    }
  }

  return {
    name: 'loads',
    of(namespace, pool) {
      const old = snapshot === undefined || clock() - snapshot.atMs > Math.max(UNREACHABLE_LEAST_MS, 3 * intervalMs);
      if (failure !== undefined && old) return unknown('unreachable', failure);
      const part = snapshot?.pools.get(`${namespace}/${pool}`);
      if (!part || part.apis === 0)
        return unknown(
          'no_data',
          `Prometheus has no pressroom_queue_depth of pool ${pool} in namespace ${namespace}: see whether the API is scraped`,
        );
      const scrapeS = 60 / Math.max(1, part.samplesAMinute);
      if (part.ageS > Math.max(STALE_LEAST_S, STALE_SCRAPES * scrapeS))
        return unknown('stale', `the newest value that Prometheus has of pool ${pool} is ${Math.round(part.ageS)} s old`);
      return {
        kind: 'measured',
        busySlots: [...part.busyByPod.values()].reduce((sum, busy) => sum + busy, 0),
        queuedRenders: part.queued,
        oldestWaitMs: part.oldestWaitS * 1000,
        scrapeIntervalMs: Math.round(scrapeS * 1000),
        partial: part.apis < part.apisSeen,
        busyByPod: part.busyByPod,
      };
    },
    start: async () => {
      running = run();
    },
    stop: async () => {
      ended.abort();
      await running;
    },
  };
}

/** Two queries for all pools, however many there are. */
export function queriesFor(namespaces: readonly string[]): { values: string; facts: string } {
  const scope = namespaces.length > 0 ? `namespace=~"${namespaces.join('|')}"` : 'namespace!=""';
  const of = (metric: string, range = '') => `${metric}{pool!="",${scope}}${range}`;
  const as = (fact: string, promql: string) => `label_replace(${promql}, "fact", "${fact}", "", "")`;
  return {
    // By name in one selector: `or` would take two metrics of one pod for the same series.
    values: `{__name__=~"pressroom_queue_depth|pressroom_queue_oldest_wait_seconds|pressroom_slots",state=~"claimed|",pool!="",${scope}}`,
    facts: [
      as('age', `min by (namespace, pool) (time() - timestamp(${of('pressroom_queue_depth')}))`),
      as('samples', `max by (namespace, pool) (count_over_time(${of('pressroom_queue_depth', '[1m]')}))`),
      as('seen', `count by (namespace, pool) (count_over_time(${of('pressroom_queue_depth', '[1m]')}))`),
    ].join(' or '),
  };
}

function partsOf(values: readonly Series[], facts: readonly Series[]): Map<string, Part> {
  const pools = new Map<string, Part>();
  const partOf = ({ namespace, pool }: Record<string, string>): Part => {
    const key = `${namespace}/${pool}`;
    let part = pools.get(key);
    if (!part) {
      part = { busyByPod: new Map(), queued: 0, oldestWaitS: 0, apis: 0, apisSeen: 0, ageS: 0, samplesAMinute: 0 };
      pools.set(key, part);
    }
    return part;
  };
  for (const { labels, value } of values) {
    if (!Number.isFinite(value)) continue;
    const part = partOf(labels);
    if (labels.__name__ === 'pressroom_slots') part.busyByPod.set(labels.pod ?? labels.instance ?? '', value);
    else if (labels.__name__ === 'pressroom_queue_oldest_wait_seconds') part.oldestWaitS = Math.max(part.oldestWaitS, value);
    else {
      part.queued += value;
      part.apis += 1;
    }
  }
  for (const { labels, value } of facts) {
    const part = partOf(labels);
    if (labels.fact === 'age') part.ageS = value;
    else if (labels.fact === 'samples') part.samplesAMinute = value;
    else part.apisSeen = value;
  }
  return pools;
}
