// Counts events by name in fixed time windows, for limits per second or minute in this process.

/**
 * All names share one window, and its counts are freed with it. A new window begins with the first
 * call after the last one ended. `nowMs` is monotonic.
 */
export function createWindowCount(max: number, windowMs: number, nowMs = () => performance.now()) {
  let endsMs = nowMs() + windowMs;
  let counts = new Map<string, number>();
  return {
    /** Counts one event of `name`. False, and not counted, when the window already has `max`. */
    take(name: string): boolean {
      if (nowMs() >= endsMs) {
        endsMs = nowMs() + windowMs;
        counts = new Map();
      }
      const before = counts.get(name) ?? 0;
      if (before >= max) return false;
      counts.set(name, before + 1);
      return true;
    },
    /** Time until the window ends. */
    leftMs: (): number => endsMs - nowMs(),
  };
}
