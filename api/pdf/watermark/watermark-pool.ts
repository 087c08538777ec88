// The threads in which PDFs are stamped: how many there are, how many PDFs may wait for one, each account's share of both, and what becomes of them when one breaks.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { ApiError, renderFailed } from '../../../common/contract/errors.ts';
import type { Service } from '../../../common/lifecycle.ts';
import { overShare } from '../../accounts/account-errors.ts';
import { SharedBound } from '../../accounts/shared-bound.ts';

/** The event loop and the database's client need a core too; with two threads one account never has all. */
export const THREADS = Math.max(2, availableParallelism() - 1);
export const MAX_WAITING = 64;
/** 300 pages take a fifth of a second; a PDF of 100 MiB full of small objects takes some. No PDF waits longer for a thread. */
const STAMP_MS = 30_000;
const IDLE_MS = 60_000;
/** A PDF without images takes fifteen times its size as objects. Beyond this the thread ends, and not the process. */
const THREAD_HEAP_MIB = 512;

export interface WatermarkPool extends Service {
  /**
   * The PDF with the watermark on every page; the memory of `pdf` goes with it, which must be the only thing in its ArrayBuffer.
   * Throws render_failed (overloaded when too many wait, else internal), concurrency_limit when too many of this account do, or the signal's reason.
   */
  stamp(pdf: Uint8Array<ArrayBuffer>, accountId: string, signal: AbortSignal): Promise<Buffer>;
}

interface Options {
  /** The module whose default export does it. */
  filename?: string;
  threads?: number;
  maxWaiting?: number;
  stampMs?: number;
  /** Of each thread. */
  heapMiB?: number;
}

const tooMany = () => renderFailed('overloaded', 'Too many PDFs wait for their watermark at the moment. Try again.', { retryAfterS: 2 });

export function createWatermarkPool({
  filename = fileURLToPath(new URL('watermark-pdf.ts', import.meta.url)),
  threads = THREADS,
  maxWaiting = MAX_WAITING,
  stampMs = STAMP_MS,
  heapMiB = THREAD_HEAP_MIB,
}: Options = {}): WatermarkPool {
  let pool: Piscina<Uint8Array, Uint8Array> | undefined;
  let stopped = false;
  /** PDFs that wait or are stamped, and of these the latter. */
  const present = new SharedBound(threads + maxWaiting);
  const running = new SharedBound(threads);
  /** By account, in the order of their turns: an account that was served goes to the end. */
  const waiting = new Map<string, Set<() => void>>();

  /** Made for the first PDF: most installations never stamp one. */
  function open(): Piscina<Uint8Array, Uint8Array> {
    if (pool) return pool;
    const resourceLimits = { maxOldGenerationSizeMb: heapMiB };
    pool = new Piscina({ filename, minThreads: 0, maxThreads: threads, idleTimeout: IDLE_MS, recordTiming: false, resourceLimits });
    // A thread that ends between two PDFs has nobody to tell; unheard, it would end the process.
    pool.on('error', () => {});
    return pool;
  }

  function enter(accountId: string): void {
    const refused = present.take(accountId, 1);
    if (refused === 'full') throw tooMany();
    if (refused === 'share') throw overShare();
  }

  /** The line for a thread is ours: the pool's own has no bound for tasks that can be aborted, and loses its turn when a thread breaks. */
  async function turn(accountId: string, signal: AbortSignal): Promise<void> {
    if (running.take(accountId, 1) === undefined) return;
    const called = Promise.withResolvers<void>();
    const line = waiting.get(accountId) ?? new Set();
    waiting.set(accountId, line.add(called.resolve));
    const leaveLine = () => {
      line.delete(called.resolve);
      if (line.size === 0 && waiting.get(accountId) === line) waiting.delete(accountId);
    };
    const giveUp = (reason: unknown) => {
      leaveLine();
      called.reject(reason);
    };
    const onAbort = () => giveUp(signal.reason);
    const late = setTimeout(() => giveUp(tooMany()), stampMs);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await called.promise;
    } finally {
      clearTimeout(late);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** The thread goes to the next account that may have one. */
  function leave(accountId: string): void {
    running.give(accountId, 1);
    for (const [next, line] of waiting) {
      if (running.take(next, 1) !== undefined) continue;
      const [call] = line;
      line.delete(call!);
      waiting.delete(next);
      if (line.size > 0) waiting.set(next, line);
      return call!();
    }
  }

  async function stampInThread(pdf: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<Buffer> {
    if (stopped) throw new Error('the process stops');
    const limit = AbortSignal.any([signal, AbortSignal.timeout(stampMs)]);
    const { buffer, byteOffset, byteLength } = await open().run(pdf, { transferList: [pdf.buffer], signal: limit });
    return Buffer.from(buffer, byteOffset, byteLength);
  }

  return {
    name: 'stamps',
    async start() {},
    async stamp(pdf, accountId, signal) {
      signal.throwIfAborted();
      enter(accountId);
      try {
        await turn(accountId, signal);
        try {
          return await stampInThread(pdf, signal);
        } finally {
          leave(accountId);
        }
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof ApiError) throw error;
        throw renderFailed('internal', 'The watermark could not be drawn. Try again without `sandbox`, or report the request id.', {
          cause: error,
        });
      } finally {
        present.give(accountId, 1);
      }
    },
    async stop() {
      stopped = true;
      await pool?.destroy();
    },
  };
}
