// The operations port of every process (9090): /livez, /readyz and /metrics, and the registry that
// all metrics live in. The probes say only that this process works and is not draining:
// dependencies are reported elsewhere, never here.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type LifecycleState, listen, type Service } from './lifecycle.ts';
import { PROTOCOL } from './protocol.ts';

export type { Counter, Gauge, Histogram } from 'prom-client';

export interface MetricDescription {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: readonly string[];
}

/**
 * One registry a process. Names carry `pressroom_`, base units and, for counters, `_total`; never
 * an account id as a label.
 */
export interface Metrics {
  counter<L extends string>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  /**
   * A counter by one label whose values are a closed list; gives what counts one. All of `values`
   * are there from the start, since a rate does not see the first step of a series that was not
   * there before it. `fixed` are labels that never change.
   */
  counterBy<V extends string>(
    name: string,
    help: string,
    label: string,
    values: readonly V[],
    fixed?: Record<string, string>,
  ): (value: V) => void;
  /** With `collect` the value is read at the scrape. */
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
  /**
   * All that was made here, oldest first. What prom-client tells of the process by itself is not in
   * it.
   */
  described(): MetricDescription[];
}

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string };

export interface MetricsOptions {
  /** What every process tells of itself: Node's numbers and the release. */
  processDefaults?: boolean;
  /**
   * Labels of every series of the process, so that whoever adds numbers up finds them on all of
   * them. A metric's own label of that name wins.
   */
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
        'Always 1: the release, and the protocol that it speaks between API and workers.',
        ['version', 'protocol'],
      )
      .set({ version, protocol: String(PROTOCOL) }, 1);
  }
  return metrics;
}

const STATES: readonly LifecycleState[] = ['new', 'starting', 'running', 'stopping', 'stopped'];

/** `state` is asked at every scrape. */
export function lifecycleMetrics(metrics: Metrics, state: () => LifecycleState): void {
  metrics.gauge(
    'pressroom_lifecycle_state',
    'Where the process is in its life: 1 for the state that it is in, else 0.',
    ['state'],
    gauge => {
      for (const each of STATES) gauge.set({ state: each }, each === state() ? 1 : 0);
    },
  );
}

export interface OperationsServer extends Service {
  /** The port it listens on, once started (`port: 0` takes a free one). */
  port(): number;
}

/** `ready` is asked at every probe; it must answer from memory. */
export function operationsServer(
  config: { host: string; port: number },
  metrics: Metrics,
  ready: () => boolean,
): OperationsServer {
  const server = createServer((request, response) => {
    const answer = (status: number, body: string, type = 'text/plain; charset=utf-8') =>
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    const path = request.url?.split('?')[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') answer(405, 'only GET\n');
    else if (path === '/livez') answer(200, 'ok\n');
    else if (path === '/readyz') ready() ? answer(200, 'ok\n') : answer(503, 'not ready\n');
    else if (path === '/metrics')
      metrics.text().then(
        text => answer(200, text, 'text/plain; version=0.0.4; charset=utf-8'),
        () => answer(500, 'the metrics could not be collected\n'),
      );
    else answer(404, 'here are /livez, /readyz and /metrics\n');
  });
  server.requestTimeout = 10_000;
  return {
    name: 'operations port',
    port: () => (server.address() as AddressInfo).port,
    start: () => listen(server, config.port, config.host, () => {}),
    stop: async () => {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
