// The claimed jobs of this process that have no slot yet. Each is prepared, then waits until a slot
// is free that no other of them is about to take, and is dispatched.

export interface SlotWait {
  /** Resolves when the job may be dispatched; the first that asked goes first. Rejects when aborted. */
  slotFree(): Promise<void>;
  /** The job is with the dispatcher, or has ended. May be called twice. */
  dispatched(): void;
}

export class SlotOrder {
  /** All of them. */
  #count = 0;
  /** Those that wait for a free slot. Called when one is. */
  readonly #ready = new Set<() => void>();
  readonly #stopped = new AbortController();
  /** Those that may be dispatched and are not yet. */
  #leaving = 0;
  readonly #onChange: () => void;

  /** `onChange`: a job is ready, or was dispatched. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  count(): number {
    return this.#count;
  }

  ready(): number {
    return this.#ready.size;
  }

  add(ended: AbortSignal): SlotWait {
    const signal = AbortSignal.any([ended, this.#stopped.signal]);
    let state: 'prepared' | 'leaving' | 'dispatched' = 'prepared';
    this.#count++;
    return {
      slotFree: async () => {
        signal.throwIfAborted();
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const onAbort = () => {
          this.#ready.delete(leave);
          reject(signal.reason);
        };
        const leave = () => {
          signal.removeEventListener('abort', onAbort);
          this.#ready.delete(leave);
          this.#leaving++;
          state = 'leaving';
          resolve();
        };
        signal.addEventListener('abort', onAbort);
        this.#ready.add(leave);
        this.#onChange();
        await promise;
      },
      dispatched: () => {
        if (state === 'dispatched') return;
        if (state === 'leaving') this.#leaving--;
        this.#count--;
        state = 'dispatched';
        this.#onChange();
      },
    };
  }

  /** No more jobs are dispatched: those that wait, and later ones, are aborted. */
  stop(reason: Error): void {
    this.#stopped.abort(reason);
  }

  /** `free`: slots that no synchronous render waits for. */
  serve(free: number): void {
    for (const leave of this.#ready) if (free > this.#leaving) leave();
  }
}
