// The guard of one slot: an HTTP proxy on a loopback port of its own, the only way from the slot's pages to any network.
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { listen } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { EgressDenied, EgressRefused } from '../../common/protocol.ts';
import type { EgressPolicy } from '../../common/ticket.ts';
import type { DenyReason } from './decide.ts';
import { forward, MAX_HEAD_BYTES } from './forward.ts';
import { createGate, type EgressConfig, type Gate } from './guard.ts';
import type { Counts } from './quota.ts';
import type { Target } from './target.ts';
import { tunnel } from './tunnel.ts';

export type { EgressConfig } from './guard.ts';

export interface Guard {
  readonly port: number;
  /** Opens the way out, once. Until then everything is refused with reason `closed`. */
  admit(policy: EgressPolicy): void;
  /** Limits, and requests before `admit`, are told of once per reason; a refused target each time. */
  onDenied(listener: (denied: EgressDenied) => void): void;
  /** Called for each allowed server that refuses a connection. */
  onRefused(listener: (refused: EgressRefused) => void): void;
  counts(): Counts;
  /**
   * Ends every socket and look-up, and refuses all that comes from now on. The port is given back only when `unused` has settled: what is left of the pages could
   * reach another guard there, with another render's policy. Calling it again waits for the same end.
   */
  close(unused?: Promise<unknown>): Promise<void>;
}

const TOLD_ONCE = new Set<DenyReason>(['closed', 'requests', 'connections', 'bytes']);

async function openProxy(gate: Gate): Promise<Server> {
  const server = createServer({ maxHeaderSize: MAX_HEAD_BYTES, keepAliveTimeout: gate.idleMs, requestTimeout: 0, headersTimeout: 0 });
  const onRequest: RequestListener = (request, response) => forward(gate, request, response);
  const onConnect = (request: IncomingMessage, socket: Duplex, head: Buffer) => tunnel(gate, request, socket as Socket, head);
  server.on(
    'connection',
    gate.edge(gate.hold, socket => socket.destroy()),
  );
  server.on(
    'request',
    gate.edge(onRequest, request => request.socket.destroy()),
  );
  server.on(
    'connect',
    gate.edge(onConnect, (_request, socket) => socket.destroy()),
  );
  server.on('clientError', (_error, socket) => socket.destroy());
  await listen(server, 0, '127.0.0.1', () => {}); // Chrome sees the connection fail, the worker lives
  return server;
}

/** Opens a guard on a free port; it costs little more than the `listen`. Throws when the upstream proxy is written wrongly. */
export async function openGuard(config: EgressConfig, log: Log): Promise<Guard> {
  const listeners: ((denied: EgressDenied) => void)[] = [];
  const refusedListeners: ((refused: EgressRefused) => void)[] = [];
  const told = new Set<DenyReason>();
  const report = ({ host, port }: Target, reason: DenyReason) => {
    if (TOLD_ONCE.has(reason) && told.has(reason)) return;
    told.add(reason);
    for (const listener of listeners) listener({ host, port, reason, atMs: Date.now() });
  };
  const refused = ({ host, port }: Target) => {
    for (const listener of refusedListeners) listener({ host, port });
  };
  const gate = createGate(config, report, refused, log);
  const server = await openProxy(gate);
  let closing: Promise<unknown> | undefined;
  const close = async (unused?: Promise<unknown>) => {
    await Promise.allSettled([gate.close(), unused]);
    await new Promise(resolve => server.close(resolve));
  };

  return {
    port: (server.address() as AddressInfo).port,
    admit: gate.admit,
    onDenied: listener => void listeners.push(listener),
    onRefused: listener => void refusedListeners.push(listener),
    counts: gate.counts,
    close: async unused => {
      closing ??= close(unused);
      await closing;
    },
  };
}
