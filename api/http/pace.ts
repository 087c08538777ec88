// Spreads what comes too often: each caller waits until it is his turn at a fixed rate, as long as that is not long.
import { setTimeout as sleep } from 'node:timers/promises';

export interface PaceOptions {
  /** Between one and the next. */
  gapMs: number;
  /** Whoever would have to wait for longer does not wait at all: what waits stays bounded. */
  longestMs: number;
}

/** Gives what a caller waits for. The first ones of a while do not wait. `nowMs` is monotonic. */
export function createPace(
  { gapMs, longestMs }: PaceOptions,
  nowMs = () => performance.now(),
  wait = (ms: number) => sleep(ms, undefined, { ref: false }),
) {
  let freeAtMs = Number.NEGATIVE_INFINITY;
  return async (): Promise<void> => {
    const now = nowMs();
    const atMs = Math.max(now, freeAtMs);
    if (atMs - now > longestMs) return;
    freeAtMs = atMs + gapMs;
    if (atMs > now) await wait(atMs - now);
  };
}
