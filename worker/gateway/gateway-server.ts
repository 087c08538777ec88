// The HTTP or TLS server below the gateway's WebSockets: its limits, and what it refuses before a
// ticket is read.
import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { edge } from '../../common/edge.ts';
import type { Log } from '../../common/log.ts';
import { type GatewayRefusal, isOrdinary } from './refusals.ts';

/**
 * Sockets at once; far above slots and APIs together, far below what hurts. APIs may keep half of
 * them open for later slots.
 */
export const MAX_GATEWAY_CONNECTIONS = 2_048;
const HANDSHAKE_MS = 5_000;
/** How often Node looks for connections that are older than that; its default is 30 s. */
const CONNECTIONS_CHECK_MS = 1_000;
const LIMITS = {
  headersTimeout: HANDSHAKE_MS,
  requestTimeout: HANDSHAKE_MS,
  connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
};

export interface Tls {
  cert: string;
  key: string;
  /** Clients must show a certificate of this authority. */
  ca: string | undefined;
}

/** Counts and logs a connection that is refused, once for each. */
export class Refuser {
  readonly #count: (reason: GatewayRefusal) => void;
  readonly #log: Log;

  constructor(count: (reason: GatewayRefusal) => void, log: Log) {
    this.#count = count;
    this.#log = log;
  }

  /** Nothing that the client wrote is logged: a ticket could be among it. */
  note(socket: Socket, code: number, reason: GatewayRefusal): void {
    this.#count(reason);
    this.#log[isOrdinary(reason) ? 'debug' : 'warn'](
      { code, reason, peer: socket.remoteAddress },
      'a connection was refused',
    );
  }

  refuse(socket: Socket, code: number, reason: GatewayRefusal): void {
    this.note(socket, code, reason);
    socket.on('error', () => {});
    // Node leaves the other half open, and has no time limit for a socket that has asked for an
    // upgrade: a client that never closes its half would keep it for ever.
    socket.once('finish', () => socket.destroy());
    socket.end(
      `HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\nConnection: close\r\nContent-Length: 0\r\nX-Pressroom-Reason: ${reason}\r\n\r\n`,
    );
  }

  /** The handshake failed, so that there is no connection to answer on. */
  handshakeFailed(error: NodeJS.ErrnoException): void {
    if (error.code === 'ECONNRESET') return;
    this.#count('tls');
    this.#log.warn({ err: error }, 'a TLS handshake was refused');
  }

  /** The server has closed a connection beyond MAX_CONNECTIONS. */
  dropped(): void {
    this.#count('crowded');
  }
}

export function createGatewayServer(tls: Tls | undefined, refuser: Refuser, log: Log): Server {
  const answerPlain: RequestListener = edge(
    log,
    (request, response) => {
      refuser.note(request.socket, 426, 'path');
      response
        .writeHead(426, { 'content-type': 'text/plain', connection: 'close' })
        .end('Only WebSockets with a ticket are served here.\n');
    },
    request => request.socket.destroy(),
  );
  const mutual = tls?.ca !== undefined;
  const server = tls
    ? createTlsServer(
        {
          ...LIMITS,
          ...tls,
          handshakeTimeout: HANDSHAKE_MS,
          requestCert: mutual,
          rejectUnauthorized: mutual,
        },
        answerPlain,
      )
    : createServer(LIMITS, answerPlain);
  server.maxConnections = MAX_GATEWAY_CONNECTIONS;
  server.on('tlsClientError', (error: NodeJS.ErrnoException) => refuser.handshakeFailed(error));
  server.on('drop', () => refuser.dropped());
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    // A connection that is gone already was not refused.
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const silent = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    refuser.refuse(socket, silent ? 408 : 400, silent ? 'silent' : 'http');
  });
  return server;
}
