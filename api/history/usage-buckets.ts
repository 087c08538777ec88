// The histogram of render durations per day: fixed buckets, each 20 % wider than the last, and
// percentiles read from it. Pure.

const FIRST_MS = 10;
/** A percentile is accurate to 10 %: half the width of a bucket. */
const GROWTH = 1.2;

/** Upper bounds from 10 ms to 8 minutes, longer than any render. The last one has no limit. */
export const USAGE_BUCKETS_MS: readonly number[] = Array.from(
  { length: 60 },
  (_, index) => FIRST_MS * GROWTH ** index,
);

/** The index of the bucket that contains `ms`. Upper bounds are inclusive. */
export function bucketOf(ms: number): number {
  const index = USAGE_BUCKETS_MS.findIndex(bound => ms <= bound);
  return index === -1 ? USAGE_BUCKETS_MS.length - 1 : index;
}

/** Fewer durations have no meaningful percentiles. */
export const MIN_SAMPLES = 20;

/** `counts` by bucket index; `share` 0.5 is the median. Null for fewer than MIN_SAMPLES. */
export function percentileMs(
  counts: Readonly<Record<string, number>>,
  share: number,
): number | null {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (total < MIN_SAMPLES) return null;
  const rank = Math.ceil(share * total);
  let seen = 0;
  const bucket = USAGE_BUCKETS_MS.findIndex((_, index) => {
    seen += counts[index] ?? 0;
    return seen >= rank;
  });
  return Math.round(USAGE_BUCKETS_MS[bucket]! / Math.sqrt(GROWTH));
}

type Counts = Record<string, number>;

/** Adds a histogram, or other counts by name, to `sum`. */
export function addCounts(sum: Counts, counts: Readonly<Counts>): void {
  for (const [bucket, count] of Object.entries(counts)) sum[bucket] = (sum[bucket] ?? 0) + count;
}

/** The sum of several histograms, or of other counts by name. */
export function addedUp(histograms: Iterable<Readonly<Counts>>): Counts {
  const sum: Counts = {};
  for (const counts of histograms) addCounts(sum, counts);
  return sum;
}
