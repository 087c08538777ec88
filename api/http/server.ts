// The HTTP server as a service: listens, bounds what it takes in, answers what is not HTTP, and
// drains when it stops.
import { randomUUIDv7 } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Network, subscriberOf } from '../../common/addresses.ts';
import { type ApiError, invalid } from '../../common/contract/errors.ts';
import { listen, type Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import { SharedBound } from '../accounts/shared-bound.ts';
import { isTrustedProxy } from './client-ip.ts';
import {
  type BrokenRequest,
  badTarget,
  brokenRequest,
  noProxy,
  rawAnswer,
  readTarget,
} from './connection-errors.ts';
import { probeHalfClosed } from './half-closed.ts';

export interface HttpConfig {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /**
   * After readiness has fallen calls are still accepted so long, until load balancers have noticed.
   * Each answer then closes its connection.
   */
  drainDelayMs: number;
  /** Their connections are those of many callers, and have no share. */
  trustedProxies?: readonly Network[];
  maxConnections?: number;
  headersTimeoutMs?: number;
  /** How often time-outs are looked for. */
  checkEveryMs?: number;
}

export interface HttpServer extends Service {
  /** The port it listens on, once started. */
  port(): number;
  /** Connections that are open now. */
  connections(): number;
}

/** Longer than the 60 s that a body may take, which is answered with more words. */
const REQUEST_TIMEOUT_MS = 75_000;
/** Longer than the idle time of common load balancers (60 s), so that it is they who close. */
const KEEP_ALIVE_MS = 65_000;
/**
 * An answer of which a caller takes nothing for so long is given up: it counts against the memory
 * of all.
 */
const UNREAD_MS = 30_000;
/**
 * One address has a share of them, so that one client with thousands of connections locks out no
 * other.
 */
export const MAX_CONNECTIONS = 10_000;
/** How long a caller who is still sending garbage has to read the answer. */
const RAW_ANSWER_MS = 2_000;
/** What may come after a request that was refused, while the answers before it are due. */
const MAX_BYTES_AFTER = 64 * 1_024;

/** What the application does with requests. */
interface Handler {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** The error of a request whose method is unknown to HTTP and to Node's parser. */
  refuseMethod(path: string): ApiError;
}

/** `onBroken` is called for each request that is answered here, without `handle`. */
export function httpServer(
  config: HttpConfig,
  { handle, refuseMethod }: Handler,
  log: Log,
  onBroken: () => void,
): HttpServer {
  const {
    headersTimeoutMs = 10_000,
    checkEveryMs = 1_000,
    trustedProxies = [],
    maxConnections = MAX_CONNECTIONS,
  } = config;
  const server = createServer({
    headersTimeout: headersTimeoutMs,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: checkEveryMs,
    maxHeaderSize: 16 * 1_024,
    requireHostHeader: false, // checked below, to answer with the envelope
  });
  server.maxConnections = maxConnections;
  const places = new SharedBound(maxConnections);
  // Otherwise Node closes a connection when its client closes its half. Public, but missing in
  // Node's documentation and types.
  Object.assign(server, { httpAllowHalfOpen: true });
  const sockets = new Set<Socket>();
  const running = new Map<Duplex, Set<ServerResponse>>();
  /** Connections that get no further answer, with the bytes that had been read by then. */
  const answered = new WeakMap<Duplex, number>();
  let stopping = false;

  /** Sends the last response of the connection: what the client sends after it is ignored. */
  function answerRaw(socket: Duplex, error: ApiError): void {
    if (answered.has(socket)) return;
    answered.set(socket, (socket as Socket).bytesRead);
    const requestId = randomUUIDv7();
    onBroken();
    log.info({ requestId, status: error.status, code: error.code }, 'broken request');
    const write = () => {
      if (!socket.writable) return;
      socket.end(rawAnswer(error, requestId));
      // Their handlers could write after it; by then the kernel has the whole response.
      for (const response of running.get(socket) ?? []) response.destroy();
      const timer = setTimeout(() => socket.destroy(), RAW_ANSWER_MS);
      socket.once('close', () => clearTimeout(timer)).resume();
    };
    // A client that pipelines requests matches each response with its oldest unanswered request.
    const previous = [...(running.get(socket) ?? [])].findLast(({ req }) => req.complete);
    if (previous) previous.once('close', write);
    else write();
  }

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const subscriber = subscriberOf(address);
    if (!isTrustedProxy(address, trustedProxies) && places.refusal(subscriber, 1)) {
      socket.destroy();
      return;
    }
    places.hold(subscriber, 1);
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      places.give(subscriber, 1);
    });
    socket.once('end', () => probeHalfClosed(socket, () => [...(running.get(socket) ?? [])]));
  });

  server.on('clientError', (error: BrokenRequest, socket: Duplex) => {
    if (answered.has(socket)) return;
    const silent = socket instanceof Object && (socket as Socket).bytesRead === 0;
    const begun = [...(running.get(socket) ?? [])].some(
      ({ req, headersSent }) => headersSent && !req.complete,
    );
    if (error.code === 'ECONNRESET' || !socket.writable || silent || begun) socket.destroy();
    else answerRaw(socket, brokenRequest(error, refuseMethod));
  });

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const readBefore = answered.get(socket);
    if (readBefore !== undefined) {
      // Node keeps each of these in memory until the answers before it are written.
      if (socket.bytesRead - readBefore > MAX_BYTES_AFTER) socket.destroy();
      return;
    }
    const target = readTarget(request.url!);
    const hosts = request.headersDistinct['host']?.length ?? 0;
    if (hosts === 0 && request.httpVersion === '1.1')
      return answerRaw(socket, invalid('The header `Host` is missing.'));
    // Node uses the first; a proxy may have used another (RFC 9112 section 3.2).
    if (hosts > 1) return answerRaw(socket, invalid('The header `Host` appears more than once.'));
    if (target === undefined) return answerRaw(socket, badTarget());
    request.url = target;
    const responses = running.get(socket) ?? new Set();
    running.set(socket, responses.add(response));
    response.once('close', () => {
      responses.delete(response);
      if (responses.size === 0) running.delete(socket);
      if (!server.listening) setImmediate(() => server.closeIdleConnections());
    });
    // The answer is written: from here on a caller who does not read it is given up.
    response.once('prefinish', () => socket.setTimeout(UNREAD_MS));
    if (stopping) response.setHeader('Connection', 'close');
    handle(request, response);
  }
  server.on('request', onRequest);
  // Node has detached its HTTP parser and its listeners from this socket.
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    const before = running.get(socket);
    if (!before) return answerRaw(socket, noProxy());
    // Pending responses to earlier requests can no longer be written.
    for (const response of before) response.destroy();
    socket.destroy();
  });
  // Whoever asks before sending a body is answered by who would read it.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', request =>
    answerRaw(request.socket, invalid('The header `Expect` may only be `100-continue`.')),
  );

  async function stop(deadline: AbortSignal): Promise<void> {
    // From the first moment on: a kept connection that is closed when it is idle could meet its
    // caller's next call, which would be lost.
    stopping = true;
    for (const responses of running.values())
      for (const response of responses)
        if (!response.headersSent) response.setHeader('Connection', 'close');
    await sleep(config.drainDelayMs, undefined, { signal: deadline }).catch(() => undefined);
    const closed = new Promise(resolve => server.close(resolve));
    // Node counts a connection that has not said anything yet as busy.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    // Node looks for late headers no more once the server is closed.
    const late = setTimeout(() => {
      for (const socket of sockets) if (!running.has(socket)) socket.destroy();
    }, headersTimeoutMs);
    const onDeadline = () => server.closeAllConnections();
    deadline.addEventListener('abort', onDeadline);
    if (deadline.aborted) onDeadline();
    await closed;
    clearTimeout(late);
    deadline.removeEventListener('abort', onDeadline);
  }

  return {
    name: 'http server',
    port: () => (server.address() as AddressInfo).port,
    connections: () => sockets.size,
    start: async () => {
      await listen(server, config.port, config.host, error =>
        log.error({ err: error }, 'the HTTP server failed'),
      );
      log.info({ host: config.host, port: (server.address() as AddressInfo).port }, 'listening');
    },
    stop,
  };
}
