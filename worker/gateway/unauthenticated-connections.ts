// The connections of a server without a valid ticket so far. Closes the oldest of too many.
import type { Server, Socket } from 'node:net';

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>;

const nameOf = ({ remoteAddress, remotePort }: Peer) => `${remoteAddress} ${remotePort}`;

/**
 * Keeps at most `max` of them; beyond that the oldest is closed and reported to `onDropped`.
 * Rejecting the newest instead would let a client that sends nothing lock out all others. A client
 * with a ticket is counted for a few milliseconds only.
 */
export class UnauthenticatedConnections {
  readonly #waiting = new Map<string, Socket>();
  readonly #max: number;
  readonly #onDropped: (socket: Socket) => void;

  constructor(server: Server, max: number, onDropped: (socket: Socket) => void) {
    this.#max = max;
    this.#onDropped = onDropped;
    server.on('connection', (socket: Socket) => this.#add(socket));
  }

  /**
   * The connection has presented a ticket and no longer counts. With TLS the inner socket has the
   * same addresses.
   */
  authenticated(socket: Peer): void {
    this.#waiting.delete(nameOf(socket));
  }

  #add(socket: Socket): void {
    const name = nameOf(socket);
    this.#waiting.set(name, socket);
    socket.once('close', () => {
      if (this.#waiting.get(name) === socket) this.#waiting.delete(name);
    });
    const [oldest] = this.#waiting;
    if (this.#waiting.size <= this.#max || !oldest) return;
    this.#waiting.delete(oldest[0]);
    this.#onDropped(oldest[1]);
    oldest[1].destroy();
  }
}
