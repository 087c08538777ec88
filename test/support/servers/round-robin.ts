// A front before several API processes, as a load balancer without affinity is one: each request
// goes to the next process, whoever sent it and on whichever connection.
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
  /** Which of the ports it went to. */
  process: number;
}

export interface RoundRobin {
  /** `http://localhost:PORT`, known before anything behind it listens. */
  url: string;
  /** What came, in the order in which it came. */
  readonly served: Served[];
  /** Requests go to these ports of this computer, one after the other. */
  setTargets(ports: readonly number[]): void;
  stop(): Promise<void>;
}

/** What is said of one connection alone (RFC 9110 section 7.6.1). */
function endToEnd({
  connection: _,
  'keep-alive': _keepAlive,
  'transfer-encoding': _encoding,
  ...headers
}: IncomingHttpHeaders) {
  return headers;
}

/**
 * Both directions as they come; who hangs up on one side is gone on the other. What is still sent
 * after the answer is thrown away, as nginx does.
 */
function passOn(incoming: IncomingMessage, outgoing: ServerResponse, port: number): void {
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
  let behind: readonly number[] = [];
  const server = createServer((incoming, outgoing) => {
    const process = served.length % behind.length;
    served.push({ method: incoming.method!, path: incoming.url!.replace(/\?.*/s, ''), process });
    passOn(incoming, outgoing, behind[process]!);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    served,
    setTargets: ports => {
      behind = ports;
    },
    stop: () => {
      const stopped = new Promise<void>(resolve => server.close(() => resolve()));
      server.closeAllConnections();
      return stopped;
    },
  };
}
