// The egress proxy of one slot: an HTTP proxy on a loopback port of its own, the only way from the
// slot's pages to any network.
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { listen } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { EgressDenied, EgressRefused } from '../../common/protocol.ts';
import type { EgressPolicy } from '../../common/ticket.ts';
import type { DenyReason } from './decide.ts';
import { forward, MAX_HTTP_HEAD_BYTES } from './forward.ts';
import { createGuard, type EgressConfig, type Guard } from './guard.ts';
import type { Counts } from './quota.ts';
import type { Target } from './target.ts';
import { tunnel } from './tunnel.ts';

export type { EgressConfig } from './guard.ts';

export interface EgressProxy {
  readonly port: number;
  /** Opens the way out, once. Until then everything is refused with reason `closed`. */
  admit(policy: EgressPolicy): void;
  /**
   * A quota, and requests before `admit`, are reported once per reason; a refused target each time.
   */
  onDenied(listener: (denied: EgressDenied) => void): void;
  /** Called for each allowed server that refuses a connection. */
  onRefused(listener: (refused: EgressRefused) => void): void;
  counts(): Counts;
  /**
   * Ends every socket and look-up, and refuses all that comes from now on. The port is given back
   * only when `unused` has settled: what is left of the pages could reach another guard there, with
   * another render's policy. Calling it again waits for the same end.
   */
  close(unused?: Promise<unknown>): Promise<void>;
}

const REPORTED_ONCE = new Set<DenyReason>(['closed', 'requests', 'connections', 'bytes']);

async function openProxy(guard: Guard): Promise<Server> {
  const server = createServer({
    maxHeaderSize: MAX_HTTP_HEAD_BYTES,
    keepAliveTimeout: guard.idleMs,
    requestTimeout: 0,
    headersTimeout: 0,
  });
  const onRequest: RequestListener = (request, response) => forward(guard, request, response);
  const onConnect = (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    tunnel(guard, request, socket as Socket, head);
  server.on(
    'connection',
    guard.edge(guard.hold, socket => socket.destroy()),
  );
  server.on(
    'request',
    guard.edge(onRequest, request => request.socket.destroy()),
  );
  server.on(
    'connect',
    guard.edge(onConnect, (_request, socket) => socket.destroy()),
  );
  server.on('clientError', (_error, socket) => socket.destroy());
  // Chrome sees the connection fail, the worker lives
  await listen(server, 0, '127.0.0.1', () => {});
  return server;
}

/**
 * Opens an egress proxy on a free port; it costs little more than the `listen`. Throws when the
 * upstream proxy is written wrongly.
 */
export async function openEgressProxy(config: EgressConfig, log: Log): Promise<EgressProxy> {
  const listeners: ((denied: EgressDenied) => void)[] = [];
  const refusedListeners: ((refused: EgressRefused) => void)[] = [];
  const reported = new Set<DenyReason>();
  const report = ({ host, port }: Target, reason: DenyReason) => {
    if (REPORTED_ONCE.has(reason) && reported.has(reason)) return;
    reported.add(reason);
    for (const listener of listeners) listener({ host, port, reason, atMs: Date.now() });
  };
  const refused = ({ host, port }: Target) => {
    for (const listener of refusedListeners) listener({ host, port });
  };
  const guard = createGuard(config, report, refused, log);
  const server = await openProxy(guard);
  let closing: Promise<unknown> | undefined;
  const close = async (unused?: Promise<unknown>) => {
    await Promise.allSettled([guard.close(), unused]);
    await new Promise(resolve => server.close(resolve));
  };

  return {
    port: (server.address() as AddressInfo).port,
    admit: guard.admit,
    onDenied: listener => void listeners.push(listener),
    onRefused: listener => void refusedListeners.push(listener),
    counts: guard.counts,
    close: async unused => {
      closing ??= close(unused);
      await closing;
    },
  };
}
