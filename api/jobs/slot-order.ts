// The claimed jobs of this process that have no slot yet. Each is prepared, then waits until a slot
// is free that no other of them is about to take, and is dispatched. It waits again in the database
// when that takes too long: it holds a lease.

export interface SlotWait {
  /** Resolves when the job may be dispatched; the first that asked goes first. Rejects when aborted. */
  slotFree(): Promise<void>;
  /** The job is with the dispatcher, or has ended. May be called twice. */
  dispatched(): void;
}

export interface SlotOrderOptions {
  /** A job is ready, or was dispatched. */
  onChange(): void;
  /** What `slotFree` rejects with when the job waits again in the database. */
  putBackReason(): Error;
  /** The longest wait for a slot. */
  waitMs?: number;
}

/** As long as a synchronous render waits for a slot, by default. */
const WAIT_MS = 30_000;

interface ReadyJob {
  account: string;
  leave(): void;
  end(reason: unknown): void;
}

export class SlotOrder {
  readonly #options: SlotOrderOptions;
  /** All of them. */
  #count = 0;
  /** Those that wait for a free slot. */
  readonly #ready = new Set<ReadyJob>();
  readonly #stopped = new AbortController();
  /** Those that may be dispatched and are not yet. */
  #leaving = 0;

  constructor(options: SlotOrderOptions) {
    this.#options = options;
  }

  count(): number {
    return this.#count;
  }

  ready(): number {
    return this.#ready.size;
  }

  add(account: string, ended: AbortSignal): SlotWait {
    const { onChange } = this.#options;
    const signal = AbortSignal.any([ended, this.#stopped.signal]);
    let state: 'prepared' | 'leaving' | 'dispatched' = 'prepared';
    this.#count++;
    return {
      slotFree: async () => {
        await this.#untilFree(account, signal, () => {
          this.#leaving++;
          state = 'leaving';
        });
      },
      dispatched: () => {
        if (state === 'dispatched') return;
        if (state === 'leaving') this.#leaving--;
        this.#count--;
        state = 'dispatched';
        onChange();
      },
    };
  }

  /** No more jobs are dispatched: those that wait, and later ones, wait again in the database. */
  stop(): void {
    this.#stopped.abort(this.#options.putBackReason());
  }

  /** `free`: slots that no synchronous render waits for. */
  serve(free: number): void {
    for (const { leave } of this.#ready) if (free > this.#leaving) leave();
  }

  /** Those that wait for a slot, and whose account is accepted, wait again in the database. */
  putBack(isPutBack: (account: string) => boolean): void {
    for (const { account, end } of this.#ready)
      if (isPutBack(account)) end(this.#options.putBackReason());
  }

  async #untilFree(account: string, signal: AbortSignal, onLeave: () => void): Promise<void> {
    const { onChange, putBackReason, waitMs = WAIT_MS } = this.#options;
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const job: ReadyJob = {
      account,
      leave: () => {
        this.#ready.delete(job);
        onLeave();
        resolve();
      },
      end: reason => {
        this.#ready.delete(job);
        reject(reason);
      },
    };
    const onAbort = () => job.end(signal.reason);
    signal.addEventListener('abort', onAbort);
    const timer = setTimeout(() => job.end(putBackReason()), waitMs);
    this.#ready.add(job);
    try {
      onChange();
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }
}
