// Connections of a hostile caller by the thousand, from an address of its own: each that ends is
// opened again, until all are told to end.
import { connect, type Socket } from 'node:net';

/** On loopback; the innocent call from 127.0.0.1. */
const ADDRESS = '127.0.0.66';
/** So many are opened at once, or the server's backlog is all that is tested. */
const AT_ONCE = 100;
const AGAIN_MS = 1_000;

export interface Crowd {
  /** Opened so far, those opened again included. */
  opened(): number;
  /** Open now. */
  open(): number;
  end(): void;
}

/**
 * Holds `count` connections; `act` is called with each that is open, and its number. Resolves when
 * each was tried.
 */
export async function holdConnections(
  port: number,
  count: number,
  act: (socket: Socket, nth: number) => void,
): Promise<Crowd> {
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

/** Writes `text` every so often for as long as the connection takes it. */
export function drip(socket: Socket, text: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.once('close', () => clearInterval(timer));
}
