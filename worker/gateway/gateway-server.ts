// The HTTP or TLS server below the gateway's WebSockets: its limits, and the connections that it
// rejects before a ticket is read.
import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { edge } from '../../common/edge.ts';
import type { Log } from '../../common/log.ts';
import { type GatewayRejection, isOrdinary } from './rejections.ts';

/**
 * Concurrent sockets: far more than slots and API processes need. APIs may keep half of them open
 * for later slots.
 */
export const MAX_GATEWAY_CONNECTIONS = 2_048;
const HANDSHAKE_MS = 5_000;
/** How often Node checks for expired handshakes; its default is 30 s. */
const CONNECTIONS_CHECK_MS = 1_000;
const LIMITS = {
  headersTimeout: HANDSHAKE_MS,
  requestTimeout: HANDSHAKE_MS,
  connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
};

export interface Tls {
  cert: string;
  key: string;
  /** Clients must present a certificate of this CA. */
  ca: string | undefined;
}

/** Rejects connections, and counts and logs each of them. */
export class ConnectionRejector {
  readonly #count: (reason: GatewayRejection) => void;
  readonly #log: Log;

  constructor(count: (reason: GatewayRejection) => void, log: Log) {
    this.#count = count;
    this.#log = log;
  }

  /** Logs nothing from the client, since it may contain a ticket. */
  record(socket: Socket, code: number, reason: GatewayRejection): void {
    this.#count(reason);
    this.#log[isOrdinary(reason) ? 'debug' : 'warn'](
      { code, reason, peer: socket.remoteAddress },
      'rejected a connection',
    );
  }

  reject(socket: Socket, code: number, reason: GatewayRejection): void {
    this.record(socket, code, reason);
    socket.on('error', () => {});
    // Node has no timeout for upgraded sockets and leaves the other half open: a client that never
    // closes its half would keep the socket forever.
    socket.once('finish', () => socket.destroy());
    socket.end(
      `HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\nConnection: close\r\nContent-Length: 0\r\nX-Pressroom-Reason: ${reason}\r\n\r\n`,
    );
  }

  /** The TLS handshake failed, so no response can be sent. */
  handshakeFailed(error: NodeJS.ErrnoException): void {
    if (error.code === 'ECONNRESET') return;
    this.#count('tls');
    this.#log.warn({ err: error }, 'a TLS handshake failed');
  }

  /** The server closed a connection beyond MAX_GATEWAY_CONNECTIONS. */
  dropped(): void {
    this.#count('crowded');
  }
}

export function createGatewayServer(
  tls: Tls | undefined,
  rejector: ConnectionRejector,
  log: Log,
): Server {
  const answerPlain: RequestListener = edge(
    log,
    (request, response) => {
      rejector.record(request.socket, 426, 'path');
      response
        .writeHead(426, { 'content-type': 'text/plain', connection: 'close' })
        .end('This port accepts only WebSocket connections with a ticket.\n');
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
  server.on('tlsClientError', (error: NodeJS.ErrnoException) => rejector.handshakeFailed(error));
  server.on('drop', () => rejector.dropped());
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    // A connection that the client has closed does not count as rejected.
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const silent = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    rejector.reject(socket, silent ? 408 : 400, silent ? 'silent' : 'http');
  });
  return server;
}
