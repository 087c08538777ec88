// How long a render may wait for a slot. Pure: times in, a time out.

export interface WaitLimits {
  /** While a worker is known. */
  waitMs: number;
  /** While none is: a pool that grows from zero needs longer than a busy one. */
  waitWithoutWorkersMs: number;
}

/**
 * When a wait that began at `sinceMs` ends. `knownSinceMs`: since when a worker is known without a break, undefined while none is.
 * The first worker of a pool gets its full `waitMs` to serve those who waited for it, but nobody waits longer than the longer limit.
 */
export function givesUpAtMs(sinceMs: number, knownSinceMs: number | undefined, limits: WaitLimits): number {
  const longest = sinceMs + Math.max(limits.waitMs, limits.waitWithoutWorkersMs);
  return knownSinceMs === undefined
    ? sinceMs + limits.waitWithoutWorkersMs
    : Math.min(Math.max(sinceMs, knownSinceMs) + limits.waitMs, longest);
}
