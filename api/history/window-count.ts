// Counts by name in windows of time, in this process: what is bounded to so many a second or a
// minute.

export interface WindowCount {
  /** Counts one more of `name` and gives true, unless there are `max` in this window. */
  take(name: string): boolean;
  /** Until the window ends. */
  leftMs(): number;
}

/**
 * All names share one window, which begins with the first call after the one before: what it holds
 * in memory is gone with it. `nowMs` is monotonic.
 */
export function createWindowCount(
  max: number,
  windowMs: number,
  nowMs = () => performance.now(),
): WindowCount {
  let endsMs = nowMs() + windowMs;
  let counts = new Map<string, number>();
  return {
    take(name) {
      if (nowMs() >= endsMs) {
        endsMs = nowMs() + windowMs;
        counts = new Map();
      }
      const before = counts.get(name) ?? 0;
      if (before >= max) return false;
      counts.set(name, before + 1);
      return true;
    },
    leftMs: () => endsMs - nowMs(),
  };
}
