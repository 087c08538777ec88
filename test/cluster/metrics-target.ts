// Something that Prometheus asks: it says on /metrics what the test wants, everything around it is
// real.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface MetricsTarget {
  /** `host:port`, as targets are named. */
  readonly address: string;
  close(): void;
}

/** `says` is asked at each scrape; an empty text, or a rejection, is an answer that is none. */
export async function startMetricsTarget(
  says: () => string | Promise<string>,
): Promise<MetricsTarget> {
  const server = createServer(async (_, response) => {
    const text = await Promise.try(says).catch(() => '');
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
