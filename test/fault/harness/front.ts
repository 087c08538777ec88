// A load balancer before the API processes: probes their readiness, uses the ready ones in turn,
// and never retries a call.
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Replica } from './deployment.ts';

const PROBE_MS = 100;

export interface Front {
  readonly port: number;
  /** The number of processes that it considers ready. */
  ready(): number;
  /**
   * Calls on a connection that an earlier call had opened; 0 for a front that passes
   * connections.
   */
  reused(): number;
  close(): Promise<void>;
}

/**
 * `passes`: 'calls' like a reverse proxy, on its own kept connections; 'connections' like a
 * Kubernetes Service, where a connection stays with its first process. Reads `replicas` each time,
 * so that processes can be added later.
 */
export async function startFront(
  replicas: readonly Replica[],
  passes: 'calls' | 'connections' = 'calls',
): Promise<Front> {
  const ready = new Set<Replica>();
  const looks = new Map<Replica, Promise<void>>();
  const closing = new AbortController();
  let turn = 0;

  async function watch(replica: Replica): Promise<void> {
    while (!closing.signal.aborted) {
      if ((await replica.process.probe('/readyz')) === 200) ready.add(replica);
      else ready.delete(replica);
      await sleep(PROBE_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
  }
  const watchAll = () => {
    for (const replica of replicas) if (!looks.has(replica)) looks.set(replica, watch(replica));
  };
  watchAll();
  const timer = setInterval(watchAll, PROBE_MS);
  const next = (): Replica | undefined => [...ready][turn++ % ready.size];

  const { server, reused, end } = passes === 'calls' ? passCalls(next) : passConnections(next);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    ready: () => ready.size,
    reused,
    close: async () => {
      clearInterval(timer);
      closing.abort();
      const closed = new Promise(resolve => server.close(resolve));
      end();
      await Promise.all([closed, ...looks.values()]);
    },
  };
}

interface Passing {
  server: Server;
  reused(): number;
  /** Closes all connections. */
  end(): void;
}

/** Hop-by-hop headers: they apply to one connection, not to the call. */
const passedOn = ({ connection, 'keep-alive': keepAlive, ...headers }: IncomingHttpHeaders) =>
  headers;

function passCalls(next: () => Replica | undefined): Passing {
  const agent = new Agent({ keepAlive: true });
  let reused = 0;

  function pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const reject = (status: number, why: string) => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(status, { connection: 'close' }).end(`the front: ${why}`);
    };
    const replica = next();
    if (!replica) return reject(503, 'no API process is ready');
    const { method, url: path, headers } = incoming;
    const onward = httpRequest({
      host: '127.0.0.1',
      port: replica.port,
      method,
      path,
      headers: passedOn(headers),
      agent,
    });
    onward.on('response', answer => {
      if (onward.reusedSocket) reused++;
      outgoing.writeHead(answer.statusCode!, passedOn(answer.headers));
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
    });
    onward.on('error', error => reject(502, error.message));
    incoming.pipe(onward);
  }

  const server = createServer(pass);
  const end = () => {
    agent.destroy();
    server.closeAllConnections();
  };
  return { server, reused: () => reused, end };
}

function passConnections(next: () => Replica | undefined): Passing {
  const open = new Set<{ destroy(): void }>();
  const server = createTcpServer({ allowHalfOpen: true, noDelay: true }, caller => {
    const replica = next();
    if (!replica) return void caller.destroy();
    const target = connect({
      host: '127.0.0.1',
      port: replica.port,
      allowHalfOpen: true,
      noDelay: true,
    });
    for (const [from, to] of [
      [caller, target],
      [target, caller],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.once('error', () => to.resetAndDestroy()).once('close', () => open.delete(from));
    }
  });
  const end = () => {
    for (const socket of open) socket.destroy();
  };
  return { server, reused: () => 0, end };
}
