// Spreads what comes too often: each caller waits until it is his turn at a fixed rate, or for the longest that anybody waits.
import { setTimeout as sleep } from 'node:timers/promises';

export interface PaceOptions {
  /** Between one and the next. */
  gapMs: number;
  /** Whoever comes when the line is as long as this waits for so long, and takes no turn: no crowd is large enough to get by without waiting. */
  longestMs: number;
}

/** Gives what a caller waits for; who comes when nobody has for `gapMs` does not wait. `nowMs` is monotonic. */
export function createPace(
  { gapMs, longestMs }: PaceOptions,
  nowMs = () => performance.now(),
  wait = (ms: number) => sleep(ms, undefined, { ref: false }),
) {
  let freeAtMs = Number.NEGATIVE_INFINITY;
  return async (): Promise<void> => {
    const now = nowMs();
    const waitMs = Math.max(0, freeAtMs - now);
    if (waitMs > longestMs) return wait(longestMs);
    freeAtMs = now + waitMs + gapMs;
    if (waitMs > 0) await wait(waitMs);
  };
}
