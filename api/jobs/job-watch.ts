// Notices that jobs have ended, here or in another process: one query for all jobs that a call waits
// for or this process runs.
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { JobName, JobOperations } from './job-operations.ts';

const POLL_MS = 500;

interface Watched extends JobName {
  onEnd: Set<() => void>;
}

/** Stop before the server, which waits for the calls that wait here. */
export class JobWatch implements Service {
  readonly name = 'calls that wait for asynchronous renders';
  readonly #operations: Pick<JobOperations, 'ended'>;
  readonly #log: Log;
  readonly #watched = new Map<string, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #polling = false;
  readonly #stopping = new AbortController();

  constructor(operations: Pick<JobOperations, 'ended'>, log: Log) {
    this.#operations = operations;
    this.#log = log;
  }

  async start(): Promise<void> {}

  /** Answers the waiting calls. Runs are still watched. */
  async stop(): Promise<void> {
    this.#stopping.abort();
  }

  /** Calls `onEnd` once when the job has ended. Returns a function that stops watching. */
  watch({ _id, account }: JobName, onEnd: () => void): () => void {
    const watched = this.#watched.get(_id) ?? { _id, account, onEnd: new Set() };
    this.#watched.set(_id, watched);
    watched.onEnd.add(onEnd);
    this.#schedule();
    return () => {
      watched.onEnd.delete(onEnd);
      if (watched.onEnd.size === 0 && this.#watched.get(_id) === watched) this.#drop(_id);
    };
  }

  /** The job ended in this process. */
  ended(id: string): void {
    const watched = this.#watched.get(id);
    this.#drop(id);
    for (const onEnd of watched?.onEnd ?? []) onEnd();
  }

  /** Resolves when the job has ended, after `waitMs`, when the signal aborts or at shutdown. */
  untilEnd(job: JobName, waitMs: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, waitMs);
    const stop = this.watch(job, resolve);
    const given = AbortSignal.any([signal, this.#stopping.signal]);
    given.addEventListener('abort', () => resolve());
    if (given.aborted) resolve();
    return promise.finally(() => {
      clearTimeout(timer);
      stop();
    });
  }

  #drop(id: string): void {
    this.#watched.delete(id);
    if (this.#watched.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(): void {
    if (this.#polling) return;
    this.#timer ??= setTimeout(async () => {
      this.#timer = undefined;
      this.#polling = true;
      await this.#poll();
      this.#polling = false;
      if (this.#watched.size > 0) this.#schedule();
    }, POLL_MS);
  }

  async #poll(): Promise<void> {
    try {
      for (const id of await this.#operations.ended([...this.#watched.values()])) this.ended(id);
    } catch (error) {
      this.#log.debug({ reason: (error as Error).message }, 'could not read which jobs have ended');
    }
  }
}
