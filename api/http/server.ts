// The HTTP server as a service: listens, limits connections, responds to invalid HTTP, and drains
// when it stops.
import { randomUUIDv7 } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Network, subscriberOf } from '../../common/addresses.ts';
import { type ApiError, invalid } from '../../common/contract/errors.ts';
import { listen, type Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import { SharedBound } from '../accounts/shared-bound.ts';
import { BATCH_TIMES } from './body.ts';
import { isTrustedProxy } from './caller.ts';
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
  /** 0 selects a free port. */
  port: number;
  /**
   * How long requests are still accepted after /readyz fails, until load balancers have removed
   * this process. Each response then closes its connection.
   */
  drainDelayMs: number;
  /** Their connections carry many clients, so no share applies to them. */
  trustedProxies?: readonly Network[];
  maxConnections?: number;
  headersTimeoutMs?: number;
  /** How often time-outs are looked for. */
  checkEveryMs?: number;
}

/** Longer than any body may take, whose timeout has a more specific error. */
const REQUEST_TIMEOUT_MS = BATCH_TIMES.totalMs + 15_000;
/** Longer than the idle timeout of common load balancers (60 s), so that they close first. */
const KEEP_ALIVE_MS = 65_000;
/**
 * A client that reads nothing of a response for this long is disconnected, since the response
 * occupies memory.
 */
const UNREAD_MS = 30_000;
/**
 * One address has a share of them, so that a client with thousands of connections cannot lock out
 * others.
 */
export const MAX_CONNECTIONS = 10_000;
/** How long a client that still sends invalid data has to read the response. */
const RAW_ANSWER_MS = 2_000;
/** What a client may send after a rejected request, while earlier responses are pending. */
const MAX_BYTES_AFTER = 64 * 1_024;

const DEFAULTS = {
  headersTimeoutMs: 10_000,
  checkEveryMs: 1_000,
  trustedProxies: [],
  maxConnections: MAX_CONNECTIONS,
};

/**
 * HTTP/1.1 requires one `Host` header. Of several Node uses the first; a proxy may have used
 * another (RFC 9112 section 3.2).
 */
function hostError({ headersDistinct, httpVersion }: IncomingMessage): ApiError | undefined {
  const hosts = headersDistinct['host']?.length ?? 0;
  if (hosts === 0 && httpVersion === '1.1') return invalid('The header `Host` is missing.');
  return hosts > 1 ? invalid('The header `Host` appears more than once.') : undefined;
}

/** What the application does with requests. */
interface Handler {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** The error of a request whose method is unknown to HTTP and to Node's parser. */
  methodError(path: string): ApiError;
  /** The base of absolute links in errors. */
  publicUrl: string;
}

export class HttpServer implements Service {
  readonly name = 'http server';
  readonly #config: Required<HttpConfig>;
  readonly #handler: Handler;
  readonly #log: Log;
  readonly #onBroken: () => void;
  readonly #server: Server;
  readonly #shares: SharedBound;
  readonly #sockets = new Set<Socket>();
  /** Pending responses by connection. */
  readonly #running = new Map<Duplex, Set<ServerResponse>>();
  /** Connections that get no further response, with the bytes read before the last one. */
  readonly #answered = new WeakMap<Duplex, number>();
  #stopping = false;

  /** `onBroken` is called for each request that is answered here, without `handle`. */
  constructor(config: HttpConfig, handler: Handler, log: Log, onBroken: () => void) {
    this.#config = { ...DEFAULTS, ...config };
    this.#handler = handler;
    this.#log = log;
    this.#onBroken = onBroken;
    const { headersTimeoutMs, checkEveryMs, maxConnections } = this.#config;
    this.#shares = new SharedBound(maxConnections);
    const server = createServer({
      headersTimeout: headersTimeoutMs,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: checkEveryMs,
      maxHeaderSize: 16 * 1_024,
      requireHostHeader: false, // checked below, to answer with the envelope
    });
    server.maxConnections = maxConnections;
    // Otherwise Node closes a connection when its client closes its half. Public, but missing in
    // Node's documentation and types.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on('connection', socket => this.#onConnection(socket));
    server.on('request', (request, response) => this.#onRequest(request, response));
    // `Expect: 100-continue`: the middleware that reads the body sends the interim response.
    server.on('checkContinue', (request, response) => this.#onRequest(request, response));
    server.on('checkExpectation', ({ socket }) =>
      this.#answerRaw(socket, invalid('The header `Expect` may only be `100-continue`.')),
    );
    server.on('connect', (_request, socket) => this.#onConnect(socket));
    server.on('clientError', (error: BrokenRequest, socket: Duplex) =>
      this.#onClientError(error, socket),
    );
    this.#server = server;
  }

  /** The port it listens on, once started. */
  port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections that are open now. */
  connections(): number {
    return this.#sockets.size;
  }

  async start(): Promise<void> {
    const { host, port } = this.#config;
    await listen(this.#server, port, host, error =>
      this.#log.error({ err: error }, 'the HTTP server failed'),
    );
    this.#log.info({ host, port: this.port() }, 'listening');
  }

  async stop(deadline: AbortSignal): Promise<void> {
    // From the start: closing an idle connection later could lose the client's next request.
    this.#stopping = true;
    for (const response of this.#allResponses())
      if (!response.headersSent) response.setHeader('Connection', 'close');
    await sleep(this.#config.drainDelayMs, undefined, { signal: deadline }).catch(() => undefined);
    const closed = new Promise(resolve => this.#server.close(resolve));
    // Node counts a connection without any request yet as busy.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    // Node no longer checks for late headers once the server is closed.
    const late = setTimeout(() => {
      for (const socket of this.#sockets) if (!this.#running.has(socket)) socket.destroy();
    }, this.#config.headersTimeoutMs);
    const onDeadline = () => this.#server.closeAllConnections();
    deadline.addEventListener('abort', onDeadline);
    if (deadline.aborted) onDeadline();
    await closed;
    clearTimeout(late);
    deadline.removeEventListener('abort', onDeadline);
  }

  #onConnection(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const subscriber = subscriberOf(address);
    const isProxy = isTrustedProxy(address, this.#config.trustedProxies);
    if (!isProxy && this.#shares.rejection(subscriber, 1)) {
      socket.destroy();
      return;
    }
    this.#shares.hold(subscriber, 1);
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#shares.release(subscriber, 1);
    });
    socket.once('end', () => probeHalfClosed(socket, () => this.#responsesOn(socket)));
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const readBefore = this.#answered.get(socket);
    if (readBefore !== undefined) {
      // Node keeps each of these in memory until the answers before it are written.
      if (socket.bytesRead - readBefore > MAX_BYTES_AFTER) socket.destroy();
      return;
    }
    const target = readTarget(request.url!);
    const error = hostError(request) ?? (target === undefined ? badTarget() : undefined);
    if (error) return this.#answerRaw(socket, error);
    request.url = target!;
    this.#track(socket, response);
    // The response is written: from here on a client that does not read is disconnected.
    response.once('prefinish', () => socket.setTimeout(UNREAD_MS));
    if (this.#stopping) response.setHeader('Connection', 'close');
    this.#handler.handle(request, response);
  }

  #track(socket: Socket, response: ServerResponse): void {
    const responses = this.#running.get(socket) ?? new Set();
    this.#running.set(socket, responses.add(response));
    response.once('close', () => {
      responses.delete(response);
      if (responses.size === 0) this.#running.delete(socket);
      if (!this.#server.listening) setImmediate(() => this.#server.closeIdleConnections());
    });
  }

  #onConnect(socket: Duplex): void {
    // Node has detached its HTTP parser and its listeners from this socket.
    socket.on('error', () => socket.destroy());
    if (!this.#running.has(socket)) return this.#answerRaw(socket, noProxy());
    // Pending responses to earlier requests can no longer be written.
    for (const response of this.#responsesOn(socket)) response.destroy();
    socket.destroy();
  }

  #onClientError(error: BrokenRequest, socket: Duplex): void {
    if (this.#answered.has(socket)) return;
    const silent = socket instanceof Object && (socket as Socket).bytesRead === 0;
    const begun = this.#responsesOn(socket).some(
      ({ req, headersSent }) => headersSent && !req.complete,
    );
    if (error.code === 'ECONNRESET' || !socket.writable || silent || begun) socket.destroy();
    else this.#answerRaw(socket, brokenRequest(error, this.#handler.methodError));
  }

  /** Sends the last response of the connection: what the client sends after it is ignored. */
  #answerRaw(socket: Duplex, error: ApiError): void {
    if (this.#answered.has(socket)) return;
    this.#answered.set(socket, (socket as Socket).bytesRead);
    const requestId = randomUUIDv7();
    this.#onBroken();
    this.#log.info({ requestId, status: error.status, code: error.code }, 'malformed request');
    const write = () => {
      if (!socket.writable) return;
      socket.end(rawAnswer(error, requestId, this.#handler.publicUrl));
      // Their handlers could write after it; by then the kernel has the whole response.
      for (const response of this.#responsesOn(socket)) response.destroy();
      const timer = setTimeout(() => socket.destroy(), RAW_ANSWER_MS);
      socket.once('close', () => clearTimeout(timer)).resume();
    };
    // A client that pipelines requests matches each response with its oldest unanswered request.
    const previous = this.#responsesOn(socket).findLast(({ req }) => req.complete);
    if (previous) previous.once('close', write);
    else write();
  }

  /** Pending responses of a connection, oldest first; a copy. */
  #responsesOn(socket: Duplex): ServerResponse[] {
    return [...(this.#running.get(socket) ?? [])];
  }

  #allResponses(): ServerResponse[] {
    return [...this.#running.values()].flatMap(responses => [...responses]);
  }
}
