// How long a render may wait for a slot, and the timer that ends expired waits.

export interface WaitLimits {
  /** While a worker is known. */
  waitMs: number;
  /** While none is known: a pool that grows from zero needs longer than a busy one. */
  waitWithoutWorkersMs: number;
}

/**
 * When a wait that began at `sinceMs` ends. `knownSinceMs`: since when a worker is known without a
 * break, undefined while none is. The first worker of a pool gets its full `waitMs` for the renders
 * that waited for it, but no render waits longer than the longer limit.
 */
export function waitEndsAtMs(
  sinceMs: number,
  knownSinceMs: number | undefined,
  limits: WaitLimits,
): number {
  const longest = sinceMs + Math.max(limits.waitMs, limits.waitWithoutWorkersMs);
  return knownSinceMs === undefined
    ? sinceMs + limits.waitWithoutWorkersMs
    : Math.min(Math.max(sinceMs, knownSinceMs) + limits.waitMs, longest);
}

interface Entry {
  readonly sinceMs: number;
  readonly state: 'waiting' | 'taken' | 'removed';
}

interface Options<E extends Entry> {
  limits: WaitLimits;
  /** All that wait; `expire` may remove some meanwhile. */
  entries(): Iterable<E>;
  /** The wait of this entry is over. */
  expire(entry: E): void;
  now(): number;
}

export class WaitDeadlines<E extends Entry> {
  readonly #options: Options<E>;
  #knownSinceMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: Options<E>, workersKnown: boolean) {
    this.#options = options;
    this.#knownSinceMs = workersKnown ? options.now() : undefined;
  }

  get workersKnown(): boolean {
    return this.#knownSinceMs !== undefined;
  }

  /** To be called with whether a worker is known, whenever that may have changed. */
  setWorkersKnown(known: boolean): void {
    if (known === this.workersKnown) return;
    this.#knownSinceMs = known ? this.#options.now() : undefined;
    this.check();
  }

  /**
   * To be called when an entry was added. Waits end in the order they began, so a timer that runs
   * is early enough for it.
   */
  added(): void {
    if (!this.#timer) this.check();
  }

  /**
   * To be called when a slot that was being opened for this entry did not open: its wait may have
   * ended meanwhile.
   */
  returned(entry: E): void {
    const { limits, now } = this.#options;
    if (waitEndsAtMs(entry.sinceMs, this.#knownSinceMs, limits) <= now()) this.check();
  }

  /** Ends the waits that are over and sets the timer for the next. */
  check(): void {
    const { limits, entries, expire, now } = this.#options;
    this.stop();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const entry of entries()) {
      const endsMs = waitEndsAtMs(entry.sinceMs, this.#knownSinceMs, limits);
      if (endsMs > now()) nextMs = Math.min(nextMs, endsMs);
      else if (entry.state === 'waiting') expire(entry);
    }
    if (nextMs < Number.POSITIVE_INFINITY)
      this.#timer = setTimeout(() => this.check(), Math.ceil(nextMs - now()));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
