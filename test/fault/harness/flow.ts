// One direction of a connection of a link: a queue of frames, each sent in order when it is due and
// not held.
import type { Socket } from 'node:net';
import { type Frame, type FrameKind, splitFrames } from './frames.ts';

/** What happens to the next frame. */
export type Fate =
  | 'pass'
  | 'lose'
  | 'cut'
  | 'duplicate'
  | 'swallow'
  | { delayMs: number }
  | { replacement: Buffer };

/** The port of a flow to its connection, read each time, since conditions change. */
export interface FlowConnection {
  silent(): boolean;
  delayMs(): number;
  /** Called once for each frame, before it leaves. */
  fate(frame: Frame): Fate;
  /** The destination; undefined before the target is dialled. */
  sink(): Socket | undefined;
  /** Resets the whole connection, or silences it. */
  cut(): void;
  swallow(): void;
}

export interface Flow {
  /** Accepts all data of the source. */
  from(source: Socket): void;
  /** Runs this after all previous frames. */
  afterwards(act: () => void): void;
  /** Sends what may leave now. */
  step(): void;
  /** Drops the delays of rules and sends what may leave now. */
  flush(): void;
  /** Drops all held frames. */
  clear(): void;
}

interface Item {
  readonly arrivedAtMs: number;
  readonly frame?: Frame;
  act?(): void;
  /** Set by a rule. */
  notBeforeMs: number;
  judged: boolean;
}

/** The bytes held before reading stops; about the kernel's send buffer (net.ipv4.tcp_wmem). */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

export function createFlow(
  kind: FrameKind,
  { silent, delayMs, fate, sink, cut, swallow }: FlowConnection,
): Flow {
  const splitter = splitFrames(kind);
  let queue: Item[] = [];
  let heldBytes = 0;
  let writing = false;
  let timer: NodeJS.Timeout | undefined;
  let source: Socket | undefined;

  function add(what: { frame: Frame } | { act(): void }): void {
    queue.push({ ...what, arrivedAtMs: performance.now(), notBeforeMs: 0, judged: false });
    step();
  }

  function step(): void {
    clearTimeout(timer);
    for (let item = queue[0]; item && !writing && !silent(); item = queue[0]) {
      const waitMs = Math.max(item.arrivedAtMs + delayMs(), item.notBeforeMs) - performance.now();
      if (waitMs > 0) {
        timer = setTimeout(step, waitMs);
        return;
      }
      if (item.frame) leave(item, item.frame);
      else {
        queue.shift();
        item.act!();
      }
    }
  }

  function leave(item: Item, frame: Frame): void {
    const decided = item.judged ? 'pass' : fate(frame);
    item.judged = true;
    if (decided === 'cut') return cut();
    if (decided === 'swallow') return swallow();
    if (typeof decided === 'object' && 'delayMs' in decided) {
      item.notBeforeMs = performance.now() + decided.delayMs;
      return;
    }
    queue.shift();
    if (decided === 'lose') release(frame);
    else if (decided === 'duplicate') write(frame, Buffer.concat([frame.wire, frame.wire]));
    else write(frame, decided === 'pass' ? frame.wire : decided.replacement);
  }

  function write(frame: Frame, bytes: Buffer): void {
    const socket = sink();
    if (!socket?.writable) return release(frame);
    // Frames for a slow receiver stay here and not in the socket, so that the link can hold them.
    writing = true;
    socket.write(bytes, () => {
      writing = false;
      release(frame);
      step();
    });
  }

  function release(frame: Frame): void {
    heldBytes -= frame.wire.length;
    if (heldBytes < MAX_HELD_BYTES) source?.resume();
  }

  function hold(frames: Frame[]): void {
    for (const frame of frames) heldBytes += frame.wire.length;
    if (heldBytes >= MAX_HELD_BYTES) source?.pause();
    for (const frame of frames) add({ frame });
  }

  return {
    from: socket => {
      source = socket;
      socket.on('data', chunk => hold(splitter.push(chunk)));
      socket.on('end', () => hold(splitter.rest()));
    },
    afterwards: act => add({ act }),
    step,
    flush: () => {
      if (queue[0]) queue[0].notBeforeMs = 0;
      step();
    },
    clear: () => {
      clearTimeout(timer);
      queue = [];
    },
  };
}
