// The operations port of every process (9090) with /livez, /readyz and /metrics, and the metrics
// registry. The probes report only whether this process works and is not draining, never its
// dependencies.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { LIFECYCLE_STATES, type LifecycleState, listen, type Service } from './lifecycle.ts';
import { PROTOCOL } from './protocol.ts';

export type { Counter, Gauge, Histogram } from 'prom-client';

export interface MetricDescription {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: readonly string[];
}

/**
 * One registry per process. Names have the prefix `pressroom_`, base units and, for counters,
 * `_total`. Never use an account ID as a label.
 */
export interface Metrics {
  counter<L extends string>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  /**
   * A counter with one label whose values are a closed list. Returns the function that counts. All
   * series exist from the start, because `rate` misses the first increment of a new series.
   * `fixed`: labels with constant values.
   */
  counterBy<V extends string>(
    name: string,
    help: string,
    label: string,
    values: readonly V[],
    fixed?: Record<string, string>,
  ): (value: V) => void;
  /** With `collect`, the value is read at each scrape. */
  gauge<L extends string>(
    name: string,
    help: string,
    labels?: readonly L[],
    collect?: (gauge: Gauge<L>) => void | Promise<void>,
  ): Gauge<L>;
  histogram<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets: number[],
  ): Histogram<L>;
  text(): Promise<string>;
  /** All metrics created here, oldest first, without prom-client's default metrics. */
  described(): MetricDescription[];
}

/** The version of this release, as in package.json. */
export const { version: RELEASE } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string };

export interface MetricsOptions {
  /** Adds the default metrics of Node.js and the release. */
  processDefaults?: boolean;
  /** Labels of every series of the process. A metric's own label takes precedence. */
  labels?: Record<string, string>;
}

export function createMetrics({
  processDefaults = true,
  labels: everywhere = {},
}: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels(everywhere);
  const descriptions: MetricDescription[] = [];
  const registers = [registry];
  const settings = <L extends string>(
    type: MetricDescription['type'],
    name: string,
    help: string,
    labels: readonly L[],
  ) => {
    descriptions.push({ name, type, help, labels });
    return { name, help, labelNames: [...labels], registers };
  };

  const metrics: Metrics = {
    counter: (name, help, labels = []) => new Counter(settings('counter', name, help, labels)),
    counterBy(name, help, label, values, fixed = {}) {
      const counter = metrics.counter(name, help, [...Object.keys(fixed), label]);
      for (const value of values) counter.inc({ ...fixed, [label]: value }, 0);
      return value => counter.inc({ ...fixed, [label]: value });
    },
    gauge(name, help, labels = [], collect) {
      const gauge: Gauge<(typeof labels)[number]> = new Gauge({
        ...settings('gauge', name, help, labels),
        ...(collect && { collect: () => collect(gauge) }),
      });
      return gauge;
    },
    histogram: (name, help, labels, buckets) =>
      new Histogram({ ...settings('histogram', name, help, labels), buckets }),
    text: () => registry.metrics(),
    described: () => [...descriptions],
  };
  if (processDefaults) {
    collectDefaultMetrics({ register: registry });
    metrics
      .gauge(
        'pressroom_build_info',
        'Always 1. Labels: the release and its protocol between API and workers.',
        ['version', 'protocol'],
      )
      .set({ version: RELEASE, protocol: String(PROTOCOL) }, 1);
  }
  return metrics;
}

/** `state` is called at every scrape. */
export function lifecycleMetrics(metrics: Metrics, state: () => LifecycleState): void {
  metrics.gauge(
    'pressroom_lifecycle_state',
    'Lifecycle state of the process: 1 for the current state, otherwise 0.',
    ['state'],
    gauge => {
      for (const each of LIFECYCLE_STATES) gauge.set({ state: each }, each === state() ? 1 : 0);
    },
  );
}

/** `ready` is called at every probe and must not wait for I/O. */
export function operationsServer(
  config: { host: string; port: number },
  metrics: Metrics,
  ready: () => boolean,
): Service {
  const server = createServer((request, response) => {
    const answer = (status: number, body: string, type = 'text/plain; charset=utf-8') =>
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    const path = request.url?.split('?')[0];
    if (request.method !== 'GET' && request.method !== 'HEAD')
      answer(405, 'Only GET is allowed.\n');
    else if (path === '/livez') answer(200, 'ok\n');
    else if (path === '/readyz') ready() ? answer(200, 'ok\n') : answer(503, 'not ready\n');
    else if (path === '/metrics')
      metrics.text().then(
        text => answer(200, text, 'text/plain; version=0.0.4; charset=utf-8'),
        () => answer(500, 'The metrics could not be collected.\n'),
      );
    else answer(404, 'Not found. Available paths: /livez, /readyz and /metrics.\n');
  });
  server.requestTimeout = 10_000;
  return {
    name: 'operations port',
    start: () => listen(server, config.port, config.host, () => {}),
    stop: async () => {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
