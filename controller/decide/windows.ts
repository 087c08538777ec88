// Sliding windows of bounded size: averages, and the highest or lowest number of pods.

/** The values of one slice of time. */
export interface Slice {
  fromMs: number;
  sum: number;
  count: number;
}

const SLICES = 60;

/** Adds a value to a window of `windowMs`. Keeps at most 61 slices. */
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

/** The average since `sinceMs`, 0 without values. Slices have equal weight, however many values. */
export function averageSince(slices: readonly Slice[], sinceMs: number): number {
  const seen = slices.filter(({ fromMs }) => fromMs > sinceMs);
  return seen.reduce((total, { sum, count }) => total + sum / count, 0) / Math.max(1, seen.length);
}

/** A number of pods at a point in time. */
export interface Pods {
  atMs: number;
  pods: number;
}

const withExtreme =
  (remains: (earlier: number, pods: number) => boolean) =>
  (values: readonly Pods[], pods: number, nowMs: number, windowMs: number): Pods[] => [
    ...values.filter(each => each.atMs > nowMs - windowMs && remains(each.pods, pods)),
    { atMs: nowMs, pods },
  ];

/**
 * Adds a value and removes those that can no longer be the highest of the window. The rest is
 * strictly decreasing, so there are never more entries than pods.
 */
export const withPeak = withExtreme((earlier, pods) => earlier > pods);

/** As `withPeak`, for the lowest value. */
export const withLow = withExtreme((earlier, pods) => earlier < pods);

/** The highest value of a window built with `withPeak`, 0 if it is empty. */
export const highest = (peaks: readonly Pods[]): number => peaks[0]?.pods ?? 0;
