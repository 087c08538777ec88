// A scrape target for a real Prometheus whose metrics a test provides.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface MetricsTarget {
  /** `host:port`. */
  readonly address: string;
  close(): void;
}

/** `metrics` is called at each scrape. An empty text or a rejection results in a 503. */
export async function startMetricsTarget(
  metrics: () => string | Promise<string>,
): Promise<MetricsTarget> {
  const server = createServer(async (_, response) => {
    const text = await Promise.try(metrics).catch(() => '');
    response
      .writeHead(text === '' ? 503 : 200, { 'content-type': 'text/plain; version=0.0.4' })
      .end(text);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
