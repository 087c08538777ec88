// The histogram in which a day's durations are kept: fixed buckets that grow by a fifth, and the
// percentile read from them. Pure.

const FIRST_MS = 10;
/** From the middle of a bucket to its ends is less than 10 %: so far a percentile may be off. */
const GROWTH = 1.2;

/**
 * The upper bounds: 10 ms to 8 minutes, which is longer than a render may take. What is longer all
 * the same counts in the last one.
 */
export const USAGE_BUCKETS_MS: readonly number[] = Array.from(
  { length: 60 },
  (_, index) => FIRST_MS * GROWTH ** index,
);

/** The bucket's index; a bound belongs to the bucket that it ends. */
export function bucketOf(ms: number): number {
  const index = USAGE_BUCKETS_MS.findIndex(bound => ms <= bound);
  return index === -1 ? USAGE_BUCKETS_MS.length - 1 : index;
}

/** `counts` by the bucket's index. Null when nothing was counted. `share`: 0.5 for the median. */
export function percentileMs(
  counts: Readonly<Record<string, number>>,
  share: number,
): number | null {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = Math.max(1, Math.ceil(share * total));
  let seen = 0;
  const bucket = USAGE_BUCKETS_MS.findIndex((_, index) => {
    seen += counts[index] ?? 0;
    return seen >= rank;
  });
  return Math.round(USAGE_BUCKETS_MS[bucket]! / Math.sqrt(GROWTH));
}

/** The sum of several histograms, or of other counts by name. */
export function addedUp(
  histograms: Iterable<Readonly<Record<string, number>>>,
): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const counts of histograms)
    for (const [bucket, count] of Object.entries(counts)) sum[bucket] = (sum[bucket] ?? 0) + count;
  return sum;
}
