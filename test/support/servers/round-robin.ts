// A load balancer without affinity: sends each request to the next API process, regardless of
// client and connection.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

export interface Served {
  method: string;
  /** Without the query. */
  path: string;
  /** The index of the target port. */
  process: number;
}

export interface RoundRobin {
  /** `http://localhost:PORT`, known before the targets listen. */
  url: string;
  /** The requests in order of arrival. */
  readonly served: Served[];
  /** Sets the local ports that receive requests in turn. */
  setTargets(ports: readonly number[]): void;
  stop(): Promise<void>;
}

/** Removes hop-by-hop headers (RFC 9110 section 7.6.1). */
function endToEnd({
  connection: _,
  'keep-alive': _keepAlive,
  'transfer-encoding': _encoding,
  ...headers
}: IncomingHttpHeaders) {
  return headers;
}

/**
 * Streams both directions and propagates a disconnect to the other side. Discards request data
 * after the response, like nginx.
 */
function forward(incoming: IncomingMessage, outgoing: ServerResponse, port: number): void {
  const { method, url, headers } = incoming;
  const onward = request({
    host: '127.0.0.1',
    port,
    method,
    path: url,
    headers: endToEnd(headers),
    agent: false,
  });
  outgoing.once('close', () => {
    incoming.unpipe(onward).resume();
    onward.destroy();
  });
  onward.on('error', () => {
    if (!outgoing.writableEnded) outgoing.destroy();
  });
  onward.once('response', answer => {
    outgoing.writeHead(answer.statusCode!, answer.statusMessage, endToEnd(answer.headers));
    outgoing.flushHeaders();
    pipeline(answer, outgoing).catch(() => outgoing.destroy());
  });
  incoming.pipe(onward);
}

export async function roundRobin(): Promise<RoundRobin> {
  const served: Served[] = [];
  let targets: readonly number[] = [];
  const server = createServer((incoming, outgoing) => {
    const process = served.length % targets.length;
    served.push({ method: incoming.method!, path: incoming.url!.replace(/\?.*/s, ''), process });
    forward(incoming, outgoing, targets[process]!);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    served,
    setTargets: ports => {
      targets = ports;
    },
    stop: () => {
      const stopped = new Promise<void>(resolve => server.close(() => resolve()));
      server.closeAllConnections();
      return stopped;
    },
  };
}
