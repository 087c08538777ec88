// The two Prometheus queries that read the load of all pools, and the conversion of their results.
import { PAGE_END_REASONS, PAGE_ENDS_MINUTES } from './page-ends.ts';
import type { Series } from './prometheus.ts';

/** The samples of one pool. */
export interface PoolSamples {
  busyByPod: Map<string, number>;
  /** Of each API. By pod, because two scrape jobs may find the same process. */
  queuedByPod: Map<string, number>;
  /** The highest of all APIs, since each reads the same database; 0 if none reports it. */
  asyncBacklog: number;
  /** Seconds, of each worker. */
  runningByPod: Map<string, number>;
  pageEnds: Map<string, number>;
  oldestWaitS: number;
  /** Of the asynchronous renders that may run now. */
  asyncOldestWaitS: number;
  apisSeen: number;
  ageS: number;
  samplesAMinute: number;
  /** Undefined until there are samples of five minutes. */
  scrapeS: number | undefined;
  /** The shortest queue timeout of all API processes. */
  queueTimeoutS: number;
}

/**
 * The scrape interval of a metric in seconds, by pool. Only from processes with samples of five
 * minutes: a younger process has fewer samples.
 */
export const scrapeSecondsOf = (selector: string): string =>
  `300 / max by (namespace, pool) (count_over_time(${selector}[5m]) and ${selector} offset 5m)`;

/** Two queries for all pools, independent of their number. */
export function queriesFor(namespaces: readonly string[]): { values: string; facts: string } {
  const scope = namespaces.length > 0 ? `namespace=~"${namespaces.join('|')}"` : 'namespace!=""';
  const of = (metric: string, range = '') => `${metric}{pool!="",${scope}}${range}`;
  const as = (fact: string, promql: string) =>
    `label_replace(${promql}, "fact", "${fact}", "", "")`;
  const pageEnds = `increase(pressroom_slot_ends_total{reason=~"${PAGE_END_REASONS.join('|')}",pool!="",${scope}}[${PAGE_ENDS_MINUTES}m])`;
  return {
    // One selector by name: `or` would treat two metrics of one pod as the same series.
    values: `{__name__=~"pressroom_queue_depth|pressroom_queue_oldest_wait_seconds|pressroom_queue_timeout_seconds|pressroom_slots|pressroom_slots_running_seconds|pressroom_async_backlog|pressroom_async_oldest_wait_seconds",state=~"claimed|",pool!="",${scope}}`,
    facts: [
      as('age', `min by (namespace, pool) (time() - timestamp(${of('pressroom_queue_depth')}))`),
      as(
        'samples',
        `max by (namespace, pool) (count_over_time(${of('pressroom_queue_depth', '[1m]')}))`,
      ),
      as('scrape', scrapeSecondsOf(of('pressroom_queue_depth'))),
      as(
        'page_ends',
        `sum by (namespace, pool, reason) (max by (namespace, pool, pod, reason) (${pageEnds})) > 0`,
      ),
      as(
        'seen',
        `count by (namespace, pool) (count by (namespace, pool, pod) (count_over_time(${of('pressroom_queue_depth', '[1m]')})))`,
      ),
    ].join(' or '),
  };
}

const BY_POD: Record<string, 'busyByPod' | 'runningByPod'> = {
  pressroom_slots: 'busyByPod',
  pressroom_slots_running_seconds: 'runningByPod',
};

/** By `namespace/name` of the pool. */
export function samplesByPool(
  values: readonly Series[],
  facts: readonly Series[],
): Map<string, PoolSamples> {
  const pools = new Map<string, PoolSamples>();
  const samplesOf = ({ namespace, pool }: Record<string, string>): PoolSamples => {
    const key = `${namespace}/${pool}`;
    let samples = pools.get(key);
    if (!samples) {
      samples = {
        busyByPod: new Map(),
        queuedByPod: new Map(),
        asyncBacklog: 0,
        runningByPod: new Map(),
        pageEnds: new Map(),
        oldestWaitS: 0,
        asyncOldestWaitS: 0,
        apisSeen: 0,
        ageS: 0,
        samplesAMinute: 0,
        scrapeS: undefined,
        queueTimeoutS: Number.POSITIVE_INFINITY,
      };
      pools.set(key, samples);
    }
    return samples;
  };
  for (const { labels, value } of values) {
    if (!Number.isFinite(value)) continue;
    const samples = samplesOf(labels);
    if (labels.__name__ === 'pressroom_queue_oldest_wait_seconds')
      samples.oldestWaitS = Math.max(samples.oldestWaitS, value);
    else if (labels.__name__ === 'pressroom_async_oldest_wait_seconds')
      samples.asyncOldestWaitS = Math.max(samples.asyncOldestWaitS, value);
    else if (labels.__name__ === 'pressroom_async_backlog')
      samples.asyncBacklog = Math.max(samples.asyncBacklog, value);
    else if (labels.__name__ === 'pressroom_queue_timeout_seconds')
      samples.queueTimeoutS = Math.min(samples.queueTimeoutS, value);
    else {
      const byPod = samples[BY_POD[labels.__name__ ?? ''] ?? 'queuedByPod'];
      const pod = labels.pod ?? labels.instance ?? '';
      byPod.set(pod, Math.max(value, byPod.get(pod) ?? 0));
    }
  }
  for (const { labels, value } of facts) {
    const samples = samplesOf(labels);
    if (labels.fact === 'page_ends') samples.pageEnds.set(labels.reason ?? '', value);
    else if (labels.fact === 'age') samples.ageS = value;
    else if (labels.fact === 'scrape') samples.scrapeS = value;
    else if (labels.fact === 'samples') samples.samplesAMinute = value;
    else samples.apisSeen = value;
  }
  return pools;
}
