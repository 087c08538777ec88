// The egress proxy of one slot: an HTTP proxy on its own loopback port, the only path from the
// slot's pages to a network.
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { listen } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { EgressDenied, Unreachable } from '../../common/protocol.ts';
import type { EgressPolicy } from '../../common/ticket.ts';
import type { DenyReason } from './address-rule.ts';
import { forward, MAX_HTTP_HEAD_BYTES } from './forward.ts';
import { createGuard, type EgressConfig, type Guard } from './guard.ts';
import type { Counts } from './quota.ts';
import type { Target } from './target.ts';
import { tunnel } from './tunnel.ts';

export interface EgressProxy {
  readonly port: number;
  /** Admits traffic, once. Until then all requests are blocked with reason `closed`. */
  admit(policy: EgressPolicy): void;
  /**
   * Quotas and requests before `admit` are reported once per reason, a blocked target each time.
   */
  onDenied(listener: (denied: EgressDenied) => void): void;
  /** Called for each connection that an allowed server refuses or does not respond to. */
  onUnreachable(listener: (target: Target, how: Unreachable) => void): void;
  counts(): Counts;
  /**
   * Closes all sockets and lookups and blocks all further requests. Releases the port only after
   * `unused` has settled: remains of the page could otherwise use another render's guard on the
   * same port. A second call waits for the first.
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
  // On a server error Chrome's connection fails; the worker continues.
  await listen(server, 0, '127.0.0.1', () => {});
  return server;
}

/** Opens an egress proxy on a free port. Throws when the upstream proxy is invalid. */
export async function openEgressProxy(config: EgressConfig, log: Log): Promise<EgressProxy> {
  const listeners: ((denied: EgressDenied) => void)[] = [];
  const unreachableListeners: ((target: Target, how: Unreachable) => void)[] = [];
  const reported = new Set<DenyReason>();
  const report = ({ host, port }: Target, reason: DenyReason) => {
    if (REPORTED_ONCE.has(reason) && reported.has(reason)) return;
    reported.add(reason);
    for (const listener of listeners) listener({ host, port, reason, atMs: Date.now() });
  };
  const unreachable = ({ host, port }: Target, how: Unreachable) => {
    for (const listener of unreachableListeners) listener({ host, port }, how);
  };
  const guard = createGuard(config, report, unreachable, log);
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
    onUnreachable: listener => void unreachableListeners.push(listener),
    counts: guard.counts,
    close: async unused => {
      closing ??= close(unused);
      await closing;
    },
  };
}
