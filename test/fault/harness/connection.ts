// One connection through a link: the client, the target, and a flow in each direction. Passes on
// ends as ends and resets as resets.
import type { Socket } from 'node:net';
import { createFlow, type Fate } from './flow.ts';
import type { Frame, FrameKind } from './frames.ts';

/** Up: from the client to the target. */
export type Way = 'up' | 'down';

/** The current settings of a link, changed by its owner. */
export interface Conditions {
  readonly silent: Record<Way, boolean>;
  readonly delayMs: Record<Way, number>;
  took(way: Way, bytes: number): void;
  /** `before`: the last frame in the other direction. */
  fate(way: Way, frame: Frame, before: Frame | undefined): Fate;
}

export interface Connection {
  /** Sends what may leave now, after the conditions have changed. */
  step(): void;
  /** Ends its silence and the delays of rules. */
  heal(): void;
  reset(): void;
  destroy(): void;
  /** Resolves when all its sockets are closed. */
  readonly closed: Promise<void>;
}

/**
 * Node cannot reset a socket during its shutdown (libuv returns EINVAL): it would neither be reset
 * nor closed.
 */
function resetSocket(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished && socket.writableLength === 0)
    socket.once('finish', () => socket.resetAndDestroy());
  else socket.resetAndDestroy();
}

export function connectThrough(
  client: Socket,
  dial: () => Socket,
  kind: FrameKind,
  conditions: Conditions,
): Connection {
  let target: Socket | undefined;
  let silent = false;
  const last: { [way in Way]?: Frame } = {};

  const flow = (way: Way, other: Way, sink: () => Socket | undefined) =>
    createFlow(kind, {
      silent: () => silent || conditions.silent[way],
      delayMs: () => conditions.delayMs[way],
      fate: frame => {
        last[way] = frame;
        return conditions.fate(way, frame, last[other]);
      },
      sink,
      cut: reset,
      swallow: () => {
        silent = true;
      },
    });
  const up = flow('up', 'down', () => target);
  const down = flow('down', 'up', () => client);

  let sockets = 0;
  let end = () => {};
  const closed = new Promise<void>(resolve => {
    end = resolve;
  });

  function take(socket: Socket, way: Way, sink: () => Socket | undefined): void {
    const away = { up, down }[way];
    sockets += 1;
    away.from(socket);
    socket.on('data', chunk => conditions.took(way, chunk.length));
    socket.on('end', () => away.afterwards(() => sink()?.end()));
    // An early end of one socket resets the other.
    socket.on('error', () =>
      away.afterwards(() => {
        const other = sink();
        if (other) resetSocket(other);
      }),
    );
    socket.on('close', () => {
      sockets -= 1;
      if (sockets > 0) return;
      up.clear();
      down.clear();
      end();
    });
  }

  function each(act: (socket: Socket) => void): void {
    up.clear();
    down.clear();
    for (const socket of [client, target]) if (socket) act(socket);
  }

  function reset(): void {
    each(resetSocket);
  }

  // The first entry upward, so that a silence or delay applies to the connect as well.
  up.afterwards(() => {
    target = dial();
    take(target, 'down', () => client);
  });
  take(client, 'up', () => target);
  // A connect without a response is dropped and never reaches the target.
  client.on('end', () => {
    if (!target && conditions.silent.up) client.destroy();
  });

  return {
    step: () => {
      up.step();
      down.step();
    },
    heal: () => {
      silent = false;
      up.flush();
      down.flush();
    },
    reset,
    destroy: () => each(socket => socket.destroy()),
    closed,
  };
}
