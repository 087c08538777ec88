// One direction of one connection of a link: what arrives is kept in its order, and leaves when it
// is due and nothing holds it back.
import type { Socket } from 'node:net';
import { type Frame, type FrameKind, splitFrames } from './frames.ts';

/** What becomes of a frame whose turn has come. */
export type Fate =
  | 'pass'
  | 'lose'
  | 'cut'
  | 'duplicate'
  | 'swallow'
  | { delayMs: number }
  | { replacement: Buffer };

/** What a flow asks of its surroundings, each time anew: conditions change while it waits. */
export interface Surroundings {
  silent(): boolean;
  delayMs(): number;
  /** Asked once for each frame, when its turn has come. */
  fate(frame: Frame): Fate;
  /** Where to write; undefined before the target was dialled. */
  sink(): Socket | undefined;
  /** Resets the whole connection, or silences it. */
  cut(): void;
  swallow(): void;
}

export interface Flow {
  /** Takes all that the source sends. */
  from(source: Socket): void;
  /** Does this after all that has arrived before. */
  afterwards(act: () => void): void;
  /** Looks again whether something may leave. */
  step(): void;
  /** Forgets what a rule has asked to be late, and looks again. */
  hurry(): void;
  /** Throws away what is held. */
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

/**
 * What one direction of one connection holds before it stops reading; about what a kernel takes
 * from a sender whose network has gone (net.ipv4.tcp_wmem).
 */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

export function createFlow(
  kind: FrameKind,
  { silent, delayMs, fate, sink, cut, swallow }: Surroundings,
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
    // What waits for a slow receiver waits here and not in the socket: it is still the link's to
    // hold back.
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
    hurry: () => {
      if (queue[0]) queue[0].notBeforeMs = 0;
      step();
    },
    clear: () => {
      clearTimeout(timer);
      queue = [];
    },
  };
}
