// Port 9222: the only way to a slot. Owns the two WebSocket endpoints (/v1/slot, /v1/status), their tickets, and what ends a slot's connection.
import { createServer, type IncomingMessage, type RequestListener, STATUS_CODES } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { listen, type Service } from '../common/lifecycle.ts';
import type { Log } from '../common/log.ts';
import type { Metrics } from '../common/operations.ts';
import {
  EGRESS_DENIED,
  END,
  oncePerTurn,
  PING,
  PING_MS,
  type PingAnswer,
  SILENCE_MS,
  SLOT_ENDED,
  type SlotEnd,
  STILL,
  type WorkerStatus,
} from '../common/protocol.ts';
import { createTicketChecker, type Ticket } from '../common/ticket.ts';
import { filterFrame } from './cdp-filter.ts';
import { isCrash } from './cdp-pipe.ts';
import type { MemoryWatchdog } from './memory.ts';
import { createNewcomers } from './newcomers.ts';
import type { Slot, Slots } from './slots.ts';

/** The largest frame taken from an API: html of 10 MiB escaped as JSON at its worst. */
const MAX_FRAME_BYTES = 64 * 2 ** 20;
/** The largest frame taken from a page: an event names a `data:` URL in full, and a body of 10 MiB can hold one. A piece of a PDF is 1.4 MiB. */
const MAX_PAGE_FRAME_BYTES = 16 * 2 ** 20;
/** The most that may wait to be sent to one API before the slot is ended: a page can make events faster than a network takes them. */
const MAX_WAITING_BYTES = 64 * 2 ** 20;
/** Sockets at once; far above slots and APIs together, far below what hurts. */
const MAX_CONNECTIONS = 2_048;
/** Of these, how many may have shown no ticket yet. */
const MAX_NEWCOMERS = 512;
const HANDSHAKE_MS = 5_000;
/** How often Node looks for connections that are older than that; its default is 30 s. */
const LOOK_MS = 1_000;
/** A peer that does not answer the closing handshake is cut off. */
const CLOSING_MS = 1_000;
/** Why a connection is refused, and why a slot or a connection of its page is ended: the closed lists of the metrics. */
const TICKET_REFUSALS = ['malformed', 'signature', 'expired', 'pool', 'purpose', 'used'] as const;
const REFUSALS = ['path', 'tls', 'http', 'silent', 'crowded', 'full', 'draining', ...TICKET_REFUSALS] as const;
type Refusal = (typeof REFUSALS)[number];
/** Part of a worker's ordinary life, not a sign of somebody who should not be here. */
const ORDINARY = new Set<Refusal>(['full', 'draining']);
const ENDS = ['chrome_died', 'worker_stopping', 'renderer_crashed', 'memory', 'deadline', 'flooded', 'refused'] as const;
const DENIALS = ['address', 'port', 'name', 'unresolved', 'requests', 'connections', 'bytes', 'closed'] as const;

interface Deps {
  /** With `tls` it speaks TLS; with `ca` only to clients that show a certificate of that authority. */
  config: { host: string; port: number; tls?: { cert: string; key: string; ca: string | undefined } };
  pool: string;
  secret: string;
  slots: Slots;
  watchdog: Pick<MemoryWatchdog, 'killedRecently'>;
  status(): WorkerStatus;
  log: Log;
  metrics: Metrics;
}

export interface Gateway extends Service {
  port(): number;
  /** Tells every API the present status, when it has changed. */
  push(): void;
}

export function createGateway({ config, pool, secret, slots, watchdog, status, log, metrics }: Deps): Gateway {
  const check = createTicketChecker(secret, pool);
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_FRAME_BYTES });
  const watchers = new Set<WebSocket>();
  const live = new Map<WebSocket, number>();
  const countEnd = metrics.counterBy('pressroom_slot_ends_total', 'Slots that the worker ended on its own, by why.', 'reason', ENDS, {
    pool,
  });
  const countRefusal = metrics.counterBy(
    'pressroom_gateway_refused_total',
    'Connections that the gateway refused, by why.',
    'reason',
    REFUSALS,
  );
  const countDenial = metrics.counterBy(
    'pressroom_egress_denied_total',
    'Connections of pages that the guard did not make, by why.',
    'reason',
    DENIALS,
  );

  const limits = { headersTimeout: HANDSHAKE_MS, requestTimeout: HANDSHAKE_MS, connectionsCheckingInterval: LOOK_MS };
  const answerPlain: RequestListener = (request, response) => {
    note(request.socket, 426, 'path');
    response.writeHead(426, { 'content-type': 'text/plain', connection: 'close' }).end('Only WebSockets with a ticket are served here.\n');
  };
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
  const newcomers = createNewcomers(server, MAX_NEWCOMERS, socket => note(socket, 503, 'crowded'));
  server.on('upgrade', onUpgrade);
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
    log[ORDINARY.has(reason) ? 'debug' : 'warn']({ code, reason, peer: socket.remoteAddress }, 'a connection was refused');
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
    const ticket = check(url.searchParams.get('ticket') ?? '', purpose);
    if (!ticket.ok) return refuse(socket, 401, ticket.reason);
    newcomers.letIn(socket);
    if (purpose === 'status') return sockets.handleUpgrade(request, socket, head, ws => serveStatus(ws));
    const slot = slots.claim();
    if (!slot) return refuse(socket, 503, status().draining ? 'draining' : 'full');
    // It is told even when a release in the same turn makes the numbers what they were: until the next word an API holds its claim for one that was not told.
    told = '';
    push();
    // A socket that dies inside the handshake never reaches the callback: then the slot must not stay claimed.
    const onEarlyClose = () => void slots.release(slot);
    socket.once('close', onEarlyClose);
    sockets.handleUpgrade(request, socket, head, ws => {
      socket.off('close', onEarlyClose);
      serveSlot(ws, slot, ticket.ticket, oncePerTurn(socket));
    });
  }

  function keepAlive(ws: WebSocket): void {
    const heard = () => live.set(ws, performance.now());
    heard();
    ws.on('pong', heard);
    ws.on('message', heard);
    ws.on('error', error => log.debug({ err: error }, 'a socket failed'));
    ws.on('close', () => live.delete(ws));
  }

  function serveStatus(ws: WebSocket): void {
    keepAlive(ws);
    watchers.add(ws);
    ws.on('close', () => watchers.delete(ws));
    ws.send(JSON.stringify(status()));
  }

  function serveSlot(ws: WebSocket, slot: Slot, ticket: Ticket, gather: () => void): void {
    const { pipe } = slot.chrome;
    const say = (method: string, params: object) => ws.send(JSON.stringify({ method, params }));
    /** The slot comes back at once, whatever the peer does. */
    const takeBack = (reason: SlotEnd, message: string) => {
      countEnd(reason);
      log.warn({ reason, message, renderId: ticket.renderId, slot: slot.number }, 'a slot was ended');
      setTimeout(() => ws.terminate(), CLOSING_MS).unref();
      void slots.release(slot);
    };
    const end = (reason: SlotEnd, message: string) => {
      if (ws.readyState !== ws.OPEN) return;
      say(SLOT_ENDED, { reason, message });
      ws.close(4_000, reason);
      takeBack(reason, message);
    };

    const answer = (id: number, result: object) => ws.send(JSON.stringify({ id, result }));
    const own = {
      [PING]: (id: number) => answer(id, { frameId: slot.frameId } satisfies PingAnswer),
      [STILL]: (id: number) => {
        slots.hide(slot);
        answer(id, {});
      },
      [END]: (id: number) => void slots.release(slot).then(() => answer(id, {})),
    };

    keepAlive(ws);
    // The library has answered bytes that are no WebSocket frame, or too large a one, with a closing frame already.
    ws.on('error', error => slot.state === 'claimed' && takeBack('refused', error.message));
    slot.onEnd = end;
    slot.guard.onDenied(denied => {
      countDenial(denied.reason);
      if (ws.readyState === ws.OPEN) say(EGRESS_DENIED, denied);
    });
    slot.guard.admit(ticket.egress);
    const deadline = setTimeout(end, ticket.maxMs, 'deadline', `the slot was open for ${ticket.maxMs} ms`);
    ws.on('close', () => {
      clearTimeout(deadline);
      void slots.release(slot);
    });
    pipe.route(slot.sessionId, frame => {
      if (ws.readyState !== ws.OPEN) return;
      if (isCrash(frame))
        return watchdog.killedRecently(slot.chrome)
          ? end('memory', 'the page used more memory than a render may')
          : end('renderer_crashed', "the page's process crashed");
      // The API cannot count what it has not read yet, and reads a frame as a whole: an error's message can be as long as a page likes.
      if (frame.length > MAX_PAGE_FRAME_BYTES) return end('flooded', `the page made a frame of ${frame.length} bytes`);
      if (ws.bufferedAmount > MAX_WAITING_BYTES) return end('flooded', 'the page made more events than the network took');
      gather();
      ws.send(frame, { binary: false });
    });
    ws.on('message', (data: Buffer, isBinary) => {
      if (isBinary) return end('refused', 'a binary frame');
      const filtered = filterFrame(data, slot.sessionId);
      if (filtered.kind === 'forward') pipe.forward(filtered.parts);
      else if (filtered.kind === 'own') own[filtered.method](filtered.id);
      else if (filtered.kind === 'garbage') end('refused', filtered.problem);
      else {
        log.warn({ method: filtered.method, problem: filtered.problem, renderId: ticket.renderId }, 'a command was refused');
        ws.send(JSON.stringify({ id: filtered.id, error: { code: -32_601, message: `${filtered.method}: ${filtered.problem}` } }));
      }
    });
  }

  /** The last word, or nothing when the next must be said whatever it is. */
  let told = '';
  const tell = (text: string) => {
    told = text;
    for (const ws of watchers) if (ws.readyState === ws.OPEN) ws.send(text);
  };
  /** A claim or a release changes several numbers in one turn: they are told together, and only when they differ. */
  let changed = false;
  const push = () => {
    if (changed) return;
    changed = true;
    setImmediate(() => {
      changed = false;
      const text = JSON.stringify(status());
      if (text !== told) tell(text);
    });
  };

  /** A frozen or partitioned API cannot keep a render running past its lease: it is cut off after SILENCE_MS, and seen in time for SLOT_ENDS_MS. */
  const tick = () => {
    const now = performance.now();
    for (const [ws, heard] of live) {
      if (now - heard > SILENCE_MS) {
        log.warn({ silentMs: Math.round(now - heard) }, 'an API was silent for too long and is cut off');
        ws.terminate();
      } else if (ws.readyState === ws.OPEN) ws.ping();
    }
    tell(JSON.stringify(status()));
  };
  let ticker: NodeJS.Timeout | undefined;

  return {
    name: 'gateway',
    port: () => (server.address() as AddressInfo).port,
    push,
    start: async () => {
      await listen(server, config.port, config.host, error => log.error({ err: error }, 'the gateway failed'));
      ticker = setInterval(tick, PING_MS / 2);
    },
    stop: async hurry => {
      const drained = slots.drain();
      push();
      const late = new Promise<void>(resolve => {
        if (hurry.aborted) resolve();
        hurry.addEventListener('abort', () => resolve(), { once: true });
      });
      await Promise.race([drained, late]);
      for (const slot of slots.claimed()) slot.onEnd?.('worker_stopping', 'the worker stops');
      clearInterval(ticker);
      for (const ws of watchers) ws.close(1_001);
      for (const ws of sockets.clients) setTimeout(() => ws.terminate(), 500).unref();
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
