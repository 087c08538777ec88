// The operations port of every process (9090): /livez, /readyz and /metrics, and the registry that all metrics live in.
// The probes say only that this process works and is not draining: dependencies are reported elsewhere, never here.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { listen, type Service } from './lifecycle.ts';

export type { Counter, Gauge, Histogram } from 'prom-client';

/** One registry a process. Names carry `pressroom_`, base units and, for counters, `_total`; never an account id as a label. */
export interface Metrics {
  counter<L extends string>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  /** With `collect` the value is read at the scrape. */
  gauge<L extends string>(name: string, help: string, labels?: readonly L[], collect?: (gauge: Gauge<L>) => void): Gauge<L>;
  histogram<L extends string>(name: string, help: string, labels: readonly L[], buckets: number[]): Histogram<L>;
  text(): Promise<string>;
}

export function createMetrics({ processDefaults = true } = {}): Metrics {
  const registry = new Registry();
  if (processDefaults) collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    counter: (name, help, labels = []) => new Counter({ name, help, labelNames: [...labels], registers }),
    gauge: (name, help, labels = [], collect) =>
      new Gauge({
        name,
        help,
        labelNames: [...labels],
        registers,
        ...(collect && {
          collect() {
            collect(this as never);
          },
        }),
      }),
    histogram: (name, help, labels, buckets) => new Histogram({ name, help, labelNames: [...labels], buckets, registers }),
    text: () => registry.metrics(),
  };
}

export interface OperationsServer extends Service {
  /** The port it listens on, once started (`port: 0` takes a free one). */
  port(): number;
}

/** `ready` is asked at every probe; it must answer from memory. */
export function operationsServer(config: { host: string; port: number }, metrics: Metrics, ready: () => boolean): OperationsServer {
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
