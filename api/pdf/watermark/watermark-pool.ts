// The threads that add watermarks: how many there are, how many PDFs may wait for one, each
// account's share of both, and what becomes of the PDFs when a thread breaks.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { ApiError, renderFailed } from '../../../common/contract/errors.ts';
import type { Service } from '../../../common/lifecycle.ts';
import { overShare } from '../../accounts/account-errors.ts';
import { SharedBound } from '../../accounts/shared-bound.ts';

/**
 * The event loop and the database's client need a core too; with two threads one account never has
 * all.
 */
export const THREADS = Math.max(2, availableParallelism() - 1);
export const MAX_WAITING_WATERMARKS = 64;
/**
 * 300 pages take a fifth of a second; a PDF of 100 MiB full of small objects takes some. No PDF
 * waits longer for a thread.
 */
const DRAW_MS = 30_000;
const IDLE_MS = 60_000;
/**
 * A PDF without images takes fifteen times its size as objects. Beyond this the thread ends, and
 * not the process.
 */
const THREAD_HEAP_MIB = 512;

interface Options {
  /** The module that adds the watermark, without a default export (see watermark-pdf.ts). */
  filename?: string;
  threads?: number;
  maxWaiting?: number;
  drawMs?: number;
  /** Of each thread. */
  heapMiB?: number;
}

const tooMany = () =>
  renderFailed('overloaded', 'Too many PDFs are waiting for their watermark. Try again.', {
    retryAfterS: 2,
  });

export class WatermarkPool implements Service {
  readonly name = 'watermarks';
  readonly #options: Required<Options>;
  /** PDFs that wait or are drawn on, and of these the latter. */
  readonly #present: SharedBound;
  readonly #running: SharedBound;
  /** By account, in the order of their turns: an account that was served goes to the end. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #pool: Piscina<Uint8Array, Uint8Array> | undefined;
  #stopped = false;

  constructor({
    filename = fileURLToPath(new URL('watermark-pdf.ts', import.meta.url)),
    threads = THREADS,
    maxWaiting = MAX_WAITING_WATERMARKS,
    drawMs = DRAW_MS,
    heapMiB = THREAD_HEAP_MIB,
  }: Options = {}) {
    this.#options = { filename, threads, maxWaiting, drawMs, heapMiB };
    this.#present = new SharedBound(threads + maxWaiting);
    this.#running = new SharedBound(threads);
  }

  async start(): Promise<void> {}

  /**
   * The PDF with the watermark on every page. The memory of `pdf`, which must be the only thing in
   * its ArrayBuffer, moves to the thread. Throws render_failed (overloaded when too many wait, else
   * internal), concurrency_limit when too many of this account do, or the signal's reason.
   */
  async add(pdf: Uint8Array<ArrayBuffer>, accountId: string, signal: AbortSignal): Promise<Buffer> {
    signal.throwIfAborted();
    this.#enter(accountId);
    try {
      await this.#turn(accountId, signal);
      try {
        return await this.#addInThread(pdf, signal);
      } finally {
        this.#releaseThread(accountId);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ApiError) throw error;
      throw renderFailed(
        'internal',
        'The watermark could not be drawn. Try again without `sandbox`, or send the request ID to your administrator.',
        {
          cause: error,
        },
      );
    } finally {
      this.#present.release(accountId, 1);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#pool?.destroy();
  }

  /** Created for the first PDF: most installations never need one. */
  #open(): Piscina<Uint8Array, Uint8Array> {
    if (this.#pool) return this.#pool;
    const { filename, threads: maxThreads, heapMiB } = this.#options;
    const resourceLimits = { maxOldGenerationSizeMb: heapMiB };
    const pool = new Piscina<Uint8Array, Uint8Array>({
      filename,
      name: 'addWatermarkInThread',
      minThreads: 0,
      maxThreads,
      idleTimeout: IDLE_MS,
      recordTiming: false,
      resourceLimits,
    });
    // A thread that ends between two PDFs emits an error; without a listener it would end the
    // process.
    pool.on('error', () => {});
    this.#pool = pool;
    return pool;
  }

  #enter(accountId: string): void {
    const rejection = this.#present.reserve(accountId, 1);
    if (rejection === 'full') throw tooMany();
    if (rejection === 'share') throw overShare();
  }

  /**
   * The queue for a thread is ours: the pool's own has no bound for tasks that can be aborted, and
   * loses its turn when a thread breaks.
   */
  async #turn(accountId: string, signal: AbortSignal): Promise<void> {
    if (this.#running.reserve(accountId, 1) === undefined) return;
    const called = Promise.withResolvers<void>();
    const queue = this.#waiting.get(accountId) ?? new Set();
    this.#waiting.set(accountId, queue.add(called.resolve));
    const abort = (reason: unknown) => {
      queue.delete(called.resolve);
      if (queue.size === 0 && this.#waiting.get(accountId) === queue)
        this.#waiting.delete(accountId);
      called.reject(reason);
    };
    const onAbort = () => abort(signal.reason);
    const timer = setTimeout(() => abort(tooMany()), this.#options.drawMs);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await called.promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** The thread goes to the next account that may have one. */
  #releaseThread(accountId: string): void {
    this.#running.release(accountId, 1);
    for (const [next, queue] of this.#waiting) {
      if (this.#running.reserve(next, 1) !== undefined) continue;
      const [call] = queue;
      queue.delete(call!);
      this.#waiting.delete(next);
      if (queue.size > 0) this.#waiting.set(next, queue);
      return call!();
    }
  }

  async #addInThread(pdf: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<Buffer> {
    if (this.#stopped) throw new Error('the process is shutting down');
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.#options.drawMs)]);
    const { buffer, byteOffset, byteLength } = await this.#open().run(pdf, {
      transferList: [pdf.buffer],
      signal: limit,
    });
    return Buffer.from(buffer, byteOffset, byteLength);
  }
}
