// How long renders took lately, for Retry-After: the median over the last five minutes.

const WINDOW_MS = 5 * 60_000;
/** Enough for a steady median, and bounded whatever the load. */
const MAX_SAMPLES = 1_000;

export interface RecentTimes {
  add(ms: number): void;
  /** Whole seconds between 1 and 30; 1 when nothing was rendered lately. */
  retryAfterS(): number;
}

/** `now` is a monotonic clock in ms. */
export function createRecentTimes(now = () => performance.now()): RecentTimes {
  const samples: { at: number; ms: number }[] = [];
  return {
    add: ms => {
      samples.push({ at: now(), ms });
      if (samples.length > MAX_SAMPLES) samples.shift();
    },
    retryAfterS: () => {
      const since = now() - WINDOW_MS;
      const recent = samples.filter(({ at }) => at >= since).map(({ ms }) => ms);
      recent.sort((a, b) => a - b);
      const median = recent[Math.floor(recent.length / 2)] ?? 0;
      return Math.min(30, Math.max(1, Math.ceil(median / 1_000)));
    },
  };
}
