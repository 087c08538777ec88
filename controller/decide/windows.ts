// What an autoscaler remembers of a stretch of time, each kept small: averages, and the highest or
// lowest number of pods.

/** Values that fell into one slice of time. */
export interface Slice {
  fromMs: number;
  sum: number;
  count: number;
}

const SLICES = 60;

/** `slices` with one more value, over `windowMs`. At most 61 slices, however often it is called. */
export function withValue(
  slices: readonly Slice[],
  value: number,
  nowMs: number,
  windowMs: number,
): Slice[] {
  const kept = slices.filter(({ fromMs }) => fromMs > nowMs - windowMs);
  const last = kept.at(-1);
  if (last && nowMs - last.fromMs < windowMs / SLICES)
    return [...kept.slice(0, -1), { ...last, sum: last.sum + value, count: last.count + 1 }];
  return [...kept, { fromMs: nowMs, sum: value, count: 1 }];
}

/**
 * The average of what was seen since `sinceMs`; 0 when nothing was. Each slice counts once: looks
 * that come in a bunch do not outvote the others.
 */
export function averageSince(slices: readonly Slice[], sinceMs: number): number {
  const seen = slices.filter(({ fromMs }) => fromMs > sinceMs);
  return seen.reduce((total, { sum, count }) => total + sum / count, 0) / Math.max(1, seen.length);
}

/** A number of pods and when it was so. */
export interface Pods {
  atMs: number;
  pods: number;
}

/**
 * `peaks` with one more, without those that can no longer be the highest of their window: they fall
 * strictly, so that there are never more of them than of pods.
 */
export const withPeak = (
  peaks: readonly Pods[],
  pods: number,
  nowMs: number,
  windowMs: number,
): Pods[] => [
  ...peaks.filter(peak => peak.atMs > nowMs - windowMs && peak.pods > pods),
  { atMs: nowMs, pods },
];

/** The highest of `peaks`, which are those of one window; 0 when there is none. */
export const highest = (peaks: readonly Pods[]): number => peaks[0]?.pods ?? 0;

/** The same for the lowest. */
export const withLow = (
  lows: readonly Pods[],
  pods: number,
  nowMs: number,
  windowMs: number,
): Pods[] => [
  ...lows.filter(low => low.atMs > nowMs - windowMs && low.pods < pods),
  { atMs: nowMs, pods },
];
