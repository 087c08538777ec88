// The gateway on port 9222, the only access to slots. Owns the two WebSocket endpoints (/v1/slot,
// /v1/status), their tickets, and the shutdown of all sockets.
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { edge } from '../../common/edge.ts';
import { listen, type Service, untilDeadline } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import { PING_MS, type WorkerStatus } from '../../common/protocol.ts';
import { createTicketChecker } from '../../common/ticket.ts';
import { oncePerTurn } from '../browser/cdp-pipe.ts';
import type { SlotPool } from '../browser/slot-pool.ts';
import { gatewayMetrics } from './gateway-metrics.ts';
import {
  ConnectionRejector,
  createGatewayServer,
  MAX_GATEWAY_CONNECTIONS,
  type Tls,
} from './gateway-server.ts';
import { KeepAlive } from './keep-alive.ts';
import { isOrdinary } from './rejections.ts';
import { type SlotClaim, SlotSocket, type SlotSocketDeps } from './slot-socket.ts';
import { createStatusSockets, type StatusSockets } from './status-socket.ts';
import { UnauthenticatedConnections } from './unauthenticated-connections.ts';

/** Largest frame from an API: 10 MiB of HTML, escaped as JSON in the worst case. */
const MAX_FRAME_BYTES = 64 * 2 ** 20;
/** Connections that have not presented a ticket yet. */
const MAX_UNAUTHENTICATED = 512;
/** Time at shutdown for pages to close and for clients to answer the closing handshake. */
const CLOSING_MS = 500;

interface GatewayDeps {
  /** With `tls` the gateway uses TLS; with `tls.ca` it requires client certificates of that CA. */
  config: { host: string; port: number; tls?: Tls };
  pool: string;
  secret: string;
  slots: Pick<SlotPool, 'claim' | 'release' | 'drain' | 'endRenders'>;
  status(): WorkerStatus;
  log: Log;
  metrics: Metrics;
}

export class Gateway implements Service {
  readonly name = 'gateway';
  readonly #deps: GatewayDeps;
  readonly #checkTicket: ReturnType<typeof createTicketChecker>;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
  });
  readonly #statusSockets: StatusSockets;
  readonly #slotSocketDeps: SlotSocketDeps;
  readonly #rejector: ConnectionRejector;
  readonly #server: Server;
  readonly #unauthenticated: UnauthenticatedConnections;
  readonly #keepAlive: KeepAlive;
  #ticker: NodeJS.Timeout | undefined;

  constructor(deps: GatewayDeps) {
    const { config, pool, secret, slots, status, log, metrics } = deps;
    this.#deps = deps;
    this.#checkTicket = createTicketChecker(secret, pool);
    this.#statusSockets = createStatusSockets(status, log);
    const counts = gatewayMetrics(metrics, pool);
    this.#slotSocketDeps = {
      slots,
      claim: ticket => this.#claim(ticket),
      mayStayOpen: () => this.#sockets.clients.size < MAX_GATEWAY_CONNECTIONS / 2,
      counts,
      log,
    };
    this.#rejector = new ConnectionRejector(counts.countRejection, log);
    this.#server = createGatewayServer(config.tls, this.#rejector, log);
    this.#unauthenticated = new UnauthenticatedConnections(
      this.#server,
      MAX_UNAUTHENTICATED,
      socket => this.#rejector.record(socket, 503, 'crowded'),
    );
    this.#keepAlive = new KeepAlive(log);
    const onUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer) =>
      this.#onUpgrade(request, socket, head);
    this.#server.on(
      'upgrade',
      edge(log, onUpgrade, (_request, socket) => socket.destroy()),
    );
  }

  port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Sends the current status to every API for which it has changed. */
  push(): void {
    this.#statusSockets.push();
  }

  async start(): Promise<void> {
    const { config, log } = this.#deps;
    await listen(this.#server, config.port, config.host, error =>
      log.error({ err: error }, 'the gateway failed'),
    );
    this.#ticker = setInterval(() => {
      this.#keepAlive.check();
      this.#statusSockets.sendAll();
    }, PING_MS / 2);
  }

  /** No new slot; running renders finish until the deadline, and are ended then. */
  async #drain(deadline: AbortSignal): Promise<void> {
    const { slots } = this.#deps;
    const drained = slots.drain();
    this.#statusSockets.push();
    await untilDeadline(drained, deadline);
    slots.endRenders('worker_stopping', 'the worker is shutting down');
    // Sockets close after their pages: an API takes the close for the end of the render.
    await Promise.race([drained, sleep(CLOSING_MS, undefined, { ref: false })]);
  }

  /** Drains, then closes all sockets. */
  async stop(deadline: AbortSignal): Promise<void> {
    await this.#drain(deadline);
    clearInterval(this.#ticker);
    this.#statusSockets.stop();
    for (const ws of this.#sockets.clients) {
      ws.close(1_001);
      setTimeout(() => ws.terminate(), CLOSING_MS).unref();
    }
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }

  #onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const url = URL.parse(request.url ?? '/', 'ws://worker');
    const ticket = url?.searchParams.get('ticket') ?? '';
    if (url?.pathname === '/v1/slot') this.#openSlotSocket(ticket, request, socket, head);
    else if (url?.pathname === '/v1/status') this.#openStatusSocket(ticket, request, socket, head);
    else this.#rejector.reject(socket, 404, 'path');
  }

  #openStatusSocket(ticket: string, request: IncomingMessage, socket: Socket, head: Buffer): void {
    const checked = this.#checkTicket(ticket, 'status');
    if (!checked.ok) return this.#rejector.reject(socket, 401, checked.reason);
    this.#unauthenticated.authenticated(socket);
    this.#sockets.handleUpgrade(request, socket, head, ws => {
      this.#keepAlive.watch(ws);
      this.#statusSockets.serve(ws, checked.ticket.api);
    });
  }

  #openSlotSocket(ticket: string, request: IncomingMessage, socket: Socket, head: Buffer): void {
    const claimed = this.#claim(ticket);
    if (!claimed.ok)
      return this.#rejector.reject(socket, isOrdinary(claimed.reason) ? 503 : 401, claimed.reason);
    // If the socket closes during the handshake, the callback below never runs and the slot would
    // stay claimed.
    const onEarlyClose = () => void this.#deps.slots.release(claimed.page);
    socket.once('close', onEarlyClose);
    this.#unauthenticated.authenticated(socket);
    this.#sockets.handleUpgrade(request, socket, head, ws => {
      this.#keepAlive.watch(ws);
      new SlotSocket(ws, oncePerTurn(socket), this.#slotSocketDeps).serve(claimed);
      socket.off('close', onEarlyClose);
    });
  }

  #claim(text: string): SlotClaim {
    const { slots, status } = this.#deps;
    const checked = this.#checkTicket(text, 'slot');
    if (!checked.ok) return checked;
    const page = this.#statusSockets.admit(checked.ticket.api)
      ? slots.claim(checked.ticket.account, checked.ticket.isolation === 'warm')
      : undefined;
    if (!page) return { ok: false, reason: status().draining ? 'draining' : 'full' };
    return { ok: true, page, ticket: checked.ticket };
  }
}
