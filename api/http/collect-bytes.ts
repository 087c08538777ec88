// Collects the bytes of a request within limits. Nothing is buffered past a limit, and an aborted
// request is left paused.
import type { IncomingMessage } from 'node:http';
import { ClientClosed } from './errors.ts';

export interface Bounds {
  maxBytes: number;
  tooLarge(): Error;
  /** Called before each block of memory is allocated; an error it returns ends the reading. */
  reserve?(bytes: number): Error | undefined;
  /**
   * The longest time without data, and the longest time in total; `late` makes the error.
   */
  silent?: { ms: number; late(): Error };
  total: { ms: number; late(): Error };
  /** The minimum rate after `graceMs`. */
  slow?: { graceMs: number; bytesPerS: number; late(): Error };
}

/**
 * Blocks double from the first size to the second. The chunks themselves are not kept: a chunk of
 * one byte is an object of 210 bytes, so 10 MB in such chunks took 2 GB.
 */
const BLOCK_BYTES = { first: 4 * 1_024, largest: 64 * 1_024 };

/** Rejects with the error of the limit, or with ClientClosed when the client disconnected. */
export function collectBytes(request: IncomingMessage, bounds: Bounds): Promise<Buffer> {
  const { maxBytes, tooLarge, reserve, silent, total, slow } = bounds;
  const declaredBytes = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  return new Promise((resolve, reject) => {
    const blocks: Buffer[] = [];
    let bytes = 0;
    /** Bytes left in the last block. */
    let free = 0;
    const startMs = performance.now();
    let readMs = startMs;
    let isOver = false;
    const timers: NodeJS.Timeout[] = [];

    /**
     * Fails at `dueMs`, which arriving data may postpone. Data that has arrived is read first: this
     * process itself may have stalled.
     */
    function failAt(dueMs: () => number, late: () => Error): void {
      const check = () => {
        if (isOver) return;
        if (dueMs() <= performance.now()) fail(late());
        // Postponed, or the timer fired some tenths of a millisecond early.
        else failAt(dueMs, late);
      };
      timers.push(setTimeout(() => setImmediate(check), dueMs() - performance.now()));
    }
    function over(): void {
      isOver = true;
      for (const timer of timers) clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose);
    }
    function fail(error: Error): void {
      over();
      request.pause();
      blocks.length = 0;
      reject(error);
    }
    function addBlock(): Error | undefined {
      const size = Math.min(
        Math.max(bytes, BLOCK_BYTES.first),
        BLOCK_BYTES.largest,
        declaredBytes - bytes,
      );
      const error = reserve?.(size);
      if (error) return error;
      blocks.push(Buffer.allocUnsafeSlow(size));
      free = size;
      return undefined;
    }
    function keep(piece: Buffer): Error | undefined {
      if (bytes + piece.length > maxBytes) return tooLarge();
      for (let at = 0; at < piece.length; ) {
        const error = free === 0 ? addBlock() : undefined;
        if (error) return error;
        const block = blocks.at(-1)!;
        const copied = piece.copy(block, block.length - free, at);
        at += copied;
        bytes += copied;
        free -= copied;
      }
      return undefined;
    }
    function onData(piece: Buffer): void {
      readMs = performance.now();
      const error = keep(piece);
      if (error) fail(error);
    }
    function onEnd(): void {
      over();
      resolve(Buffer.concat(blocks, bytes));
    }
    const onClose = () => fail(new ClientClosed());
    request.on('data', onData).once('end', onEnd).once('close', onClose);
    if (silent) failAt(() => readMs + silent.ms, silent.late);
    failAt(() => startMs + total.ms, total.late);
    if (slow) failAt(() => startMs + slow.graceMs + (bytes / slow.bytesPerS) * 1_000, slow.late);
  });
}
