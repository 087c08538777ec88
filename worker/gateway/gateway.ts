// Port 9222: the only way to a slot. Owns the two WebSocket endpoints (/v1/slot, /v1/status), their tickets, which are refused, and how silence ends a connection.
import { createServer, type IncomingMessage, type RequestListener, STATUS_CODES } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type WebSocket, WebSocketServer } from 'ws';
import { edge } from '../../common/edge.ts';
import { listen, type Service, unlessHurried } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import { PING_MS, SILENCE_MS, type WorkerStatus } from '../../common/protocol.ts';
import { createTicketChecker } from '../../common/ticket.ts';
import { oncePerTurn } from '../browser/cdp-pipe.ts';
import type { SlotPool } from '../browser/slot-pool.ts';
import { createNewcomers } from './newcomers.ts';
import { isOrdinary, REFUSALS, type Refusal } from './refusals.ts';
import { type Claim, createSlotSockets } from './slot-socket.ts';
import { createStatusSockets } from './status-socket.ts';

/** The largest frame taken from an API: html of 10 MiB escaped as JSON at its worst. */
const MAX_FRAME_BYTES = 64 * 2 ** 20;
/** Sockets at once; far above slots and APIs together, far below what hurts. Half of them may be kept by APIs for slots to come. */
const MAX_CONNECTIONS = 2_048;
/** Of these, how many may have shown no ticket yet. */
const MAX_NEWCOMERS = 512;
const HANDSHAKE_MS = 5_000;
/** How often Node looks for connections that are older than that; its default is 30 s. */
const LOOK_MS = 1_000;
/** At the end of the worker: for pages to be closed, and for clients to answer the closing handshake. */
const CLOSING_MS = 500;

interface Deps {
  /** With `tls` it speaks TLS; with `ca` only to clients that show a certificate of that authority. */
  config: { host: string; port: number; tls?: { cert: string; key: string; ca: string | undefined } };
  pool: string;
  secret: string;
  slots: Pick<SlotPool, 'claim' | 'release' | 'drain' | 'endRenders'>;
  status(): WorkerStatus;
  log: Log;
  metrics: Metrics;
}

export interface Gateway extends Service {
  port(): number;
  /** Tells every API the present status, when it has changed. */
  push(): void;
}

export function createGateway({ config, pool, secret, slots, status, log, metrics }: Deps): Gateway {
  const check = createTicketChecker(secret, pool);
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_FRAME_BYTES });
  const statusSockets = createStatusSockets(status, log);
  const live = new Map<WebSocket, number>();
  const countRefusal = metrics.counterBy(
    'pressroom_gateway_refused_total',
    'Connections that the gateway refused, by why.',
    'reason',
    REFUSALS,
  );
  const serveSlots = createSlotSockets({ pool, slots, claim, onRefused: countRefusal, hasRoom, log, metrics });

  function hasRoom(): boolean {
    return sockets.clients.size < MAX_CONNECTIONS / 2;
  }

  const limits = { headersTimeout: HANDSHAKE_MS, requestTimeout: HANDSHAKE_MS, connectionsCheckingInterval: LOOK_MS };
  const answerPlain: RequestListener = edge(
    log,
    (request, response) => {
      note(request.socket, 426, 'path');
      response
        .writeHead(426, { 'content-type': 'text/plain', connection: 'close' })
        .end('Only WebSockets with a ticket are served here.\n');
    },
    request => request.socket.destroy(),
  );
  const { tls } = config;
  const mutual = tls?.ca !== undefined;
  const server = tls
    ? createTlsServer({ ...limits, ...tls, handshakeTimeout: HANDSHAKE_MS, requestCert: mutual, rejectUnauthorized: mutual }, answerPlain)
    : createServer(limits, answerPlain);
  server.on('tlsClientError', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') return;
    countRefusal('tls');
    log.warn({ err: error }, 'a TLS handshake was refused');
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('drop', () => countRefusal('crowded'));
  const newcomers = createNewcomers(server, MAX_NEWCOMERS, socket => note(socket, 503, 'crowded'));
  server.on(
    'upgrade',
    edge(log, onUpgrade, (_request, socket) => socket.destroy()),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    // One that is gone was refused nothing.
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const silent = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    refuse(socket, silent ? 408 : 400, silent ? 'silent' : 'http');
  });

  /** Once for each connection that is refused. Nothing that its client wrote is logged: a ticket could be among it. */
  function note(socket: Socket, code: number, reason: Refusal): void {
    countRefusal(reason);
    log[isOrdinary(reason) ? 'debug' : 'warn']({ code, reason, peer: socket.remoteAddress }, 'a connection was refused');
  }

  function refuse(socket: Socket, code: number, reason: Refusal): void {
    note(socket, code, reason);
    socket.on('error', () => {});
    // Node leaves the other half open, and looks after no socket that has asked for an upgrade: a client that never closes its half would keep it for ever.
    socket.once('finish', () => socket.destroy());
    socket.end(`HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\nConnection: close\r\nContent-Length: 0\r\nX-Pressroom-Reason: ${reason}\r\n\r\n`);
  }

  function onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const url = URL.parse(request.url ?? '/', 'ws://worker');
    const purpose = url?.pathname === '/v1/slot' ? 'slot' : url?.pathname === '/v1/status' ? 'status' : undefined;
    if (!url || !purpose) return refuse(socket, 404, 'path');
    const ticket = url.searchParams.get('ticket') ?? '';
    if (purpose === 'status') {
      const checked = check(ticket, 'status');
      if (!checked.ok) return refuse(socket, 401, checked.reason);
      newcomers.letIn(socket);
      return sockets.handleUpgrade(request, socket, head, ws => {
        keepAlive(ws);
        statusSockets.serve(ws, checked.ticket.api);
      });
    }
    const claimed = claim(ticket);
    if (!claimed.ok) return refuse(socket, isOrdinary(claimed.reason) ? 503 : 401, claimed.reason);
    // A socket that dies inside the handshake never reaches the callback: then the slot must not stay claimed.
    const onEarlyClose = () => void slots.release(claimed.page);
    socket.once('close', onEarlyClose);
    newcomers.letIn(socket);
    sockets.handleUpgrade(request, socket, head, ws => {
      keepAlive(ws);
      serveSlots(ws, claimed, oncePerTurn(socket));
      socket.off('close', onEarlyClose);
    });
  }

  function claim(text: string): Claim {
    const checked = check(text, 'slot');
    if (!checked.ok) return checked;
    const page = statusSockets.admit(checked.ticket.api) ? slots.claim(checked.ticket.account) : undefined;
    if (!page) return { ok: false, reason: status().draining ? 'draining' : 'full' };
    return { ok: true, page, ticket: checked.ticket };
  }

  function keepAlive(ws: WebSocket): void {
    const heard = () => live.set(ws, performance.now());
    heard();
    ws.on('pong', heard);
    ws.on('message', heard);
    ws.on('error', error => log.debug({ err: error }, 'a socket failed'));
    ws.on('close', () => live.delete(ws));
  }

  /** A frozen or partitioned API cannot keep a render running past its lease: it is cut off after SILENCE_MS, and seen in time for SLOT_ENDS_MS. */
  const tick = () => {
    const now = performance.now();
    for (const [ws, heard] of live) {
      if (now - heard > SILENCE_MS) {
        log.warn({ silentMs: Math.round(now - heard) }, 'an API was silent for too long and is cut off');
        ws.terminate();
      } else if (ws.readyState === ws.OPEN) ws.ping();
    }
    statusSockets.sendAll();
  };
  let ticker: NodeJS.Timeout | undefined;

  return {
    name: 'gateway',
    port: () => (server.address() as AddressInfo).port,
    push: statusSockets.push,
    start: async () => {
      await listen(server, config.port, config.host, error => log.error({ err: error }, 'the gateway failed'));
      ticker = setInterval(tick, PING_MS / 2);
    },
    stop: async hurry => {
      const drained = slots.drain();
      statusSockets.push();
      await unlessHurried(drained, hurry);
      slots.endRenders('worker_stopping', 'the worker stops');
      // Their sockets close when their pages are gone, which an API may take for the end of a render.
      await Promise.race([drained, sleep(CLOSING_MS, undefined, { ref: false })]);
      clearInterval(ticker);
      statusSockets.stop();
      for (const ws of sockets.clients) {
        ws.close(1_001);
        setTimeout(() => ws.terminate(), CLOSING_MS).unref();
      }
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
