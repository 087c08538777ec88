// The `/v1/status` endpoint of a worker: a WebSocket server on loopback that sends the messages of
// the test.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { createTicketChecker } from '../../../common/ticket.ts';

export interface StatusServer {
  address: string;
  port: number;
  /** Number of connections with a valid ticket so far, and of open ones. */
  connections(): number;
  open(): number;
  /** Resolves at the next connection. */
  connected(): Promise<void>;
  /** Sends a message to all connections, and to later ones when they connect. */
  send(message: unknown): void;
  /** Closes the connections but not the server. */
  drop(): void;
  close(): Promise<void>;
}

/** `status`: the message to each new connection, or none. `port` 0 picks a free port. */
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
  let listeners: (() => void)[] = [];
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
    for (const listener of listeners) listener();
    listeners = [];
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
    connected: () => new Promise(resolve => listeners.push(resolve)),
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
