// Delays what comes too often: to at most one per gap, and never longer than a bound.
import { setTimeout as sleep } from 'node:timers/promises';

export interface PaceOptions {
  /** Between two calls. */
  gapMs: number;
  /** The longest delay. A call that would wait longer waits this long and takes no place in the line. */
  maxMs: number;
}

/** Returns what a call awaits: no delay when none came for `gapMs`. `nowMs` is monotonic. */
export function createPace(
  { gapMs, maxMs }: PaceOptions,
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
