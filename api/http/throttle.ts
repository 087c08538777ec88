// Delays frequent calls to at most one per gap, up to a maximum delay.
import { setTimeout as sleep } from 'node:timers/promises';

export interface ThrottleOptions {
  /** Between two calls. */
  gapMs: number;
  /**
   * The longest delay. A call that would wait longer waits this long and does not delay the next
   * one.
   */
  maxMs: number;
}

/**
 * Returns the function that each call awaits. It does not delay the first call after `gapMs`
 * without one. `nowMs` is monotonic.
 */
export function createThrottle(
  { gapMs, maxMs }: ThrottleOptions,
  nowMs = () => performance.now(),
  wait = (ms: number) => sleep(ms, undefined, { ref: false }),
) {
  let freeAtMs = Number.NEGATIVE_INFINITY;
  return async (): Promise<void> => {
    const now = nowMs();
    const waitMs = Math.max(0, freeAtMs - now);
    if (waitMs > maxMs) return wait(maxMs);
    freeAtMs = now + waitMs + gapMs;
    if (waitMs > 0) await wait(waitMs);
  };
}
