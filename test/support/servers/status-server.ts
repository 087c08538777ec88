// A worker's `/v1/status` and nothing else: a real WebSocket server on loopback that says what the
// test wants, or nothing at all.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { createTicketChecker } from '../../../common/ticket.ts';

export interface StatusServer {
  address: string;
  port: number;
  /** Connections so far whose ticket was good, and those that are open. */
  connections(): number;
  open(): number;
  /** Resolves at the next connection. */
  connected(): Promise<void>;
  /** Said now to all that are connected, and first to all that will. */
  send(message: unknown): void;
  /** Ends the connections, not the server. */
  drop(): void;
  close(): Promise<void>;
}

/**
 * `status`: what it says to whoever connects; undefined = it stays silent. `port` 0 takes a free
 * one.
 */
export async function createStatusServer(options: {
  secret: string;
  pool: string;
  status?: unknown;
  host?: string;
  port?: number;
}): Promise<StatusServer> {
  const check = createTicketChecker(options.secret, options.pool);
  let message = options.status;
  let connections = 0;
  let askers: (() => void)[] = [];
  const host = options.host ?? '127.0.0.1';
  const server = new WebSocketServer({
    host,
    port: options.port ?? 0,
    verifyClient({ req }: { req: IncomingMessage }) {
      const url = new URL(req.url ?? '', 'ws://worker');
      return (
        url.pathname === '/v1/status' && check(url.searchParams.get('ticket') ?? '', 'status').ok
      );
    },
  });
  server.on('connection', socket => {
    connections++;
    if (message !== undefined) socket.send(JSON.stringify(message));
    for (const asker of askers) asker();
    askers = [];
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const drop = () => {
    for (const socket of server.clients) socket.terminate();
  };
  return {
    address: `ws://${host}:${port}`,
    port,
    connections: () => connections,
    open: () => server.clients.size,
    connected: () => new Promise(resolve => askers.push(resolve)),
    send(next) {
      message = next;
      for (const socket of server.clients) socket.send(JSON.stringify(next));
    },
    drop,
    close() {
      drop();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}
