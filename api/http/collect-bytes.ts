// Receives the bytes of a request within limits: all of them, or piece by piece. Nothing is buffered
// past a limit, and an aborted request is left paused.
import type { IncomingMessage } from 'node:http';
import { ClientClosed } from './errors.ts';

export interface ReceiveBounds {
  maxBytes: number;
  tooLarge(): Error;
  /**
   * The longest time without data, and the longest time in total; `late` makes the error.
   */
  silent?: { ms: number; late(): Error };
  total: { ms: number; late(): Error };
  /** The minimum rate after `graceMs`. */
  slow?: { graceMs: number; bytesPerS: number; late(): Error };
}

/** Called before each block of memory is allocated; an error it returns ends the reading. */
type Reserve = (bytes: number) => Error | undefined;

export interface Bounds extends ReceiveBounds {
  reserve?: Reserve;
}

/**
 * Blocks double from the first size to the second. The chunks themselves are not kept: a chunk of
 * one byte is an object of 210 bytes, so 10 MB in such chunks took 2 GB.
 */
const BLOCK_BYTES = { first: 4 * 1_024, largest: 64 * 1_024 };

/** Bytes that arrive in pieces of any size. */
export class Blocks {
  readonly #reserve: Reserve | undefined;
  #blocks: Buffer[] = [];
  #bytes = 0;
  /** Bytes left in the last block. */
  #free = 0;

  constructor(reserve?: Reserve) {
    this.#reserve = reserve;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** What was reserved for the bytes so far. */
  get reservedBytes(): number {
    return this.#bytes + this.#free;
  }

  /** Copies the piece. `mostBytes`: how many can follow at most, this piece included. */
  add(piece: Buffer, mostBytes = Number.POSITIVE_INFINITY): Error | undefined {
    const most = this.#bytes + mostBytes;
    for (let at = 0; at < piece.length; ) {
      const error = this.#free === 0 ? this.#addBlock(most - this.#bytes) : undefined;
      if (error) return error;
      const block = this.#blocks.at(-1)!;
      const copied = piece.copy(block, block.length - this.#free, at);
      at += copied;
      this.#bytes += copied;
      this.#free -= copied;
    }
    return undefined;
  }

  /** Returns all bytes, and holds none of them afterwards. */
  take(): Buffer {
    const all = Buffer.concat(this.#blocks, this.#bytes);
    this.#blocks = [];
    this.#bytes = 0;
    this.#free = 0;
    return all;
  }

  #addBlock(mostBytes: number): Error | undefined {
    const size = Math.min(Math.max(this.#bytes, BLOCK_BYTES.first), BLOCK_BYTES.largest, mostBytes);
    const error = this.#reserve?.(size);
    if (error) return error;
    this.#blocks.push(Buffer.allocUnsafeSlow(size));
    this.#free = size;
    return undefined;
  }
}

/**
 * Passes the bytes to `take` as they arrive. While a promise that it returned is pending, the request
 * is paused and no limit of time applies. Rejects with the error that `take` returned or rejected
 * with, with that of a limit, or with ClientClosed when the client disconnected; never before the
 * last promise of `take` has settled.
 */
export function receiveBytes(
  request: IncomingMessage,
  { maxBytes, tooLarge, silent, total, slow }: ReceiveBounds,
  take: (piece: Buffer) => Error | Promise<void> | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    let taking: Promise<unknown> | undefined;
    /** Since when a piece is being taken, and how long earlier ones took. */
    let takingSinceMs = 0;
    let tookMs = 0;
    let hasEnded = false;
    let isOver = false;
    const timers = new Set<NodeJS.Timeout>();
    /** A clock that stands still while a piece is taken. */
    const clockMs = () => (taking ? takingSinceMs : performance.now()) - tookMs;
    const startMs = clockMs();
    let readMs = startMs;

    /**
     * Fails at `dueMs`, which arriving data may postpone. Data that has arrived is read first: this
     * process itself may have stalled.
     */
    function failAt(dueMs: () => number, late: () => Error): void {
      const check = () => {
        if (isOver) return;
        if (!taking && dueMs() <= clockMs()) fail(late());
        // Postponed, or the timer fired some tenths of a millisecond early.
        else failAt(dueMs, late);
      };
      const timer = setTimeout(() => {
        timers.delete(timer);
        setImmediate(check);
      }, dueMs() - clockMs());
      timers.add(timer);
    }
    function over(): void {
      isOver = true;
      for (const timer of timers) clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose);
    }
    function fail(error: Error): void {
      if (isOver) return;
      over();
      request.pause();
      if (taking) void taking.then(() => reject(error));
      else reject(error);
    }
    function onData(piece: Buffer): void {
      readMs = clockMs();
      bytes += piece.length;
      const taken = bytes > maxBytes ? tooLarge() : take(piece);
      if (taken instanceof Error) fail(taken);
      else if (taken) hold(taken);
    }
    function hold(taken: Promise<void>): void {
      request.pause();
      takingSinceMs = performance.now();
      taking = taken.then(release, error => {
        taking = undefined;
        fail(error);
      });
    }
    function release(): void {
      tookMs += performance.now() - takingSinceMs;
      taking = undefined;
      if (isOver) return;
      if (hasEnded) end();
      else request.resume();
    }
    function end(): void {
      over();
      resolve();
    }
    // Also while the last piece is being taken.
    function onEnd(): void {
      hasEnded = true;
      request.off('close', onClose);
      if (!taking) end();
    }
    const onClose = () => fail(new ClientClosed());
    request.on('data', onData).once('end', onEnd).once('close', onClose);
    if (silent) failAt(() => readMs + silent.ms, silent.late);
    failAt(() => startMs + total.ms, total.late);
    if (slow) failAt(() => startMs + slow.graceMs + (bytes / slow.bytesPerS) * 1_000, slow.late);
  });
}

/** Rejects with the error of the limit, or with ClientClosed when the client disconnected. */
export async function collectBytes(request: IncomingMessage, bounds: Bounds): Promise<Buffer> {
  const declaredBytes = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  const blocks = new Blocks(bounds.reserve);
  await receiveBytes(request, bounds, piece => blocks.add(piece, declaredBytes - blocks.bytes));
  return blocks.take();
}
