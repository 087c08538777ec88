// The threads in which PDFs are stamped: how many there are, how many PDFs may wait for one, and what becomes of them when one breaks.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { Service } from '../../../common/lifecycle.ts';
import { renderFailed } from '../../contract/errors.ts';

/** The event loop and the database's client need a core too. */
const THREADS = Math.max(1, availableParallelism() - 1);
const MAX_WAITING = 64;
/** 300 pages take a fifth of a second; a PDF of 100 MiB full of small objects takes some. */
const STAMP_MS = 30_000;
const IDLE_MS = 60_000;
/** A PDF without images takes fifteen times its size as objects. Beyond this the thread ends, and not the process. */
const THREAD_HEAP_MIB = 512;

export interface Stamps extends Service {
  /**
   * The PDF with the watermark on every page; the memory of `pdf` goes with it, which must be the only thing in its ArrayBuffer.
   * Throws render_failed (overloaded when too many wait, else internal), or the signal's reason.
   */
  stamp(pdf: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<Buffer>;
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

export function createStamps({
  filename = fileURLToPath(new URL('stamp.ts', import.meta.url)),
  threads = THREADS,
  maxWaiting = MAX_WAITING,
  stampMs = STAMP_MS,
  heapMiB = THREAD_HEAP_MIB,
}: Options = {}): Stamps {
  let pool: Piscina<Uint8Array, Uint8Array> | undefined;
  let stopped = false;
  let running = 0;
  const waiting: (() => void)[] = [];

  /** Made for the first PDF: most installations never stamp one. */
  function open(): Piscina<Uint8Array, Uint8Array> {
    if (pool) return pool;
    const resourceLimits = { maxOldGenerationSizeMb: heapMiB };
    pool = new Piscina({ filename, minThreads: 0, maxThreads: threads, idleTimeout: IDLE_MS, recordTiming: false, resourceLimits });
    // A thread that ends between two PDFs has nobody to tell; unheard, it would end the process.
    pool.on('error', () => {});
    return pool;
  }

  /** The line for a thread is ours: the pool's own has no bound for tasks that can be aborted, and loses its turn when a thread breaks. */
  async function turn(signal: AbortSignal): Promise<void> {
    if (running < threads) {
      running++;
      return;
    }
    if (waiting.length >= maxWaiting)
      throw renderFailed('overloaded', 'Too many PDFs wait for their watermark at the moment. Try again.', { retryAfterS: 2 });
    const called = Promise.withResolvers<void>();
    const onAbort = () => {
      const place = waiting.indexOf(called.resolve);
      if (place >= 0) waiting.splice(place, 1);
      called.reject(signal.reason);
    };
    waiting.push(called.resolve);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await called.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** The place goes to who waits longest, without being free in between. */
  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }

  return {
    name: 'stamps',
    async start() {},
    async stamp(pdf, signal) {
      signal.throwIfAborted();
      const limit = AbortSignal.any([signal, AbortSignal.timeout(stampMs)]);
      try {
        await turn(limit);
        try {
          if (stopped) throw new Error('the process stops');
          const { buffer, byteOffset, byteLength } = await open().run(pdf, { transferList: [pdf.buffer], signal: limit });
          return Buffer.from(buffer, byteOffset, byteLength);
        } finally {
          leave();
        }
      } catch (error) {
        signal.throwIfAborted();
        if ((error as { code?: unknown }).code === 'render_failed') throw error;
        throw renderFailed('internal', 'The watermark could not be drawn. Try again without `sandbox`, or report the request id.', {
          cause: error,
        });
      }
    },
    async stop() {
      stopped = true;
      await pool?.destroy();
    },
  };
}
