// The connections of a server that have not shown a ticket yet. Anyone can open them, so their number is bounded; owns which of them must go.
import type { Server, Socket } from 'node:net';

export interface Newcomers {
  /** The connection has shown a ticket and counts no more. Of TLS, its inner socket is known too. */
  letIn(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): void;
  count(): number;
}

const nameOf = ({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>) => `${remoteAddress} ${remotePort}`;

/**
 * Keeps at most `max` of them: for one more the oldest is cut off and told to `onDropped`. Refusing the newest instead would let whoever opens sockets and says
 * nothing keep everybody out, while one with a ticket needs its place for a few milliseconds only.
 */
export function createNewcomers(server: Server, max: number, onDropped: (socket: Socket) => void): Newcomers {
  const waiting = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket);
    waiting.set(name, socket);
    socket.once('close', () => {
      if (waiting.get(name) === socket) waiting.delete(name);
    });
    const [oldest] = waiting;
    if (waiting.size <= max || !oldest) return;
    waiting.delete(oldest[0]);
    onDropped(oldest[1]);
    oldest[1].destroy();
  });
  return {
    letIn: socket => void waiting.delete(nameOf(socket)),
    count: () => waiting.size,
  };
}
