// The connections of a server that have not shown a valid ticket yet, and which of them is closed
// when there are too many.
import type { Server, Socket } from 'node:net';

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>;

const nameOf = ({ remoteAddress, remotePort }: Peer) => `${remoteAddress} ${remotePort}`;

/**
 * Keeps at most `max` of them: beyond that the oldest is closed and reported to `onDropped`.
 * Refusing the newest instead would let a client that opens sockets and sends nothing lock out all
 * others, while a client with a ticket needs its place for a few milliseconds only.
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
   * The connection has shown a ticket and is not counted any more. With TLS, its inner socket has
   * the same addresses.
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
