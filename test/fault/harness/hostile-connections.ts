// Thousands of connections of a hostile client from one address: each one that ends is reopened
// until all are closed.
import { connect, type Socket } from 'node:net';

/** On loopback; the other accounts call from 127.0.0.1. */
const ADDRESS = '127.0.0.66';
/** Opened in batches, so that not only the server's backlog is tested. */
const AT_ONCE = 100;
const AGAIN_MS = 1_000;

export interface HeldConnections {
  /** Opened so far, including reopened ones. */
  opened(): number;
  /** Open now. */
  open(): number;
  end(): void;
}

/** Holds `count` connections; calls `act` with each open one. Resolves when each was tried. */
export async function holdConnections(
  port: number,
  count: number,
  act: (socket: Socket, nth: number) => void,
): Promise<HeldConnections> {
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  let [opened, ended] = [0, false];

  function open(nth: number, onTried: () => void): void {
    const socket = connect({ port, host: '127.0.0.1', localAddress: ADDRESS, allowHalfOpen: true });
    sockets.add(socket);
    socket.once('connect', () => {
      opened += 1;
      act(socket, nth);
      onTried();
    });
    socket.on('error', () => socket.destroy());
    socket.once('end', () => socket.destroy());
    socket.resume();
    socket.once('close', () => {
      sockets.delete(socket);
      onTried();
      if (ended) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        open(nth, () => {});
      }, AGAIN_MS);
      timers.add(timer);
    });
  }

  for (let tried = 0; tried < count; tried += AT_ONCE) {
    const group = Array.from({ length: Math.min(AT_ONCE, count - tried) }, (_, at) => tried + at);
    await Promise.all(group.map(nth => new Promise<void>(resolve => open(nth, resolve))));
  }
  return {
    opened: () => opened,
    open: () => [...sockets].filter(({ readyState }) => readyState !== 'opening').length,
    end: () => {
      ended = true;
      for (const timer of timers) clearTimeout(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Writes `text` periodically until the connection ends. */
export function drip(socket: Socket, text: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.once('close', () => clearInterval(timer));
}
