// The simulated loads: renders with a time-dependent arrival rate and a duration each.
// Deterministic by seed.
import { createChance } from '../test/fault/harness/random.ts';
import type { Render } from './autoscale-pool.ts';

type Chance = ReturnType<typeof createChance>;

export interface LoadShape {
  name: string;
  durationMs: number;
  minPods: number;
  /** Creates the arrival rate (renders per second) as a function of time, for one seed. */
  rate(chance: Chance): { at(ms: number): number; mostPerSecond: number };
  /** Median duration of a render that arrives at `ms`. Defaults to that of all loads. */
  medianMs?(ms: number): number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const gaussian = (chance: Chance) =>
  Math.sqrt(-2 * Math.log(1 - chance.next())) * Math.cos(2 * Math.PI * chance.next());
const exponential = (chance: Chance, mean: number) => -Math.log(1 - chance.next()) * mean;

/** Bursts of `lengthMs` by start time. */
const during = (starts: readonly number[], lengthMs: number, ms: number) =>
  starts.some(start => ms >= start && ms < start + lengthMs);

function randomStarts(
  chance: Chance,
  durationMs: number,
  leastMs: number,
  meanMoreMs: number,
): number[] {
  const starts: number[] = [];
  for (
    let ms = 3 * MINUTE;
    ms < durationMs - 3 * MINUTE;
    ms += leastMs + exponential(chance, meanMoreMs)
  )
    starts.push(ms);
  return starts;
}

/**
 * A random rate around `mean` (Ornstein-Uhlenbeck process of its logarithm), one value per second.
 */
function wandering(
  chance: Chance,
  durationMs: number,
  mean: number,
  sigma: number,
  correlationMs: number,
): number[] {
  const keep = Math.exp(-SECOND / correlationMs);
  let x = 0;
  return Array.from({ length: durationMs / SECOND + 1 }, () => {
    x = x * keep + gaussian(chance) * sigma * Math.sqrt(1 - keep * keep);
    return mean * Math.exp(x - (sigma * sigma) / 2);
  });
}

/** Five minutes of long renders after each ten minutes of short ones. */
const isLong = (ms: number) => ms % (15 * MINUTE) >= 5 * MINUTE && ms % (15 * MINUTE) < 10 * MINUTE;

export const LOADS: readonly LoadShape[] = [
  {
    name: 'step',
    durationMs: 40 * MINUTE,
    minPods: 1,
    rate: () => ({ mostPerSecond: 14, at: ms => (ms >= 10 * MINUTE && ms < 20 * MINUTE ? 14 : 2) }),
  },
  {
    name: 'ramp',
    durationMs: 50 * MINUTE,
    minPods: 1,
    rate: () => ({
      mostPerSecond: 20,
      at: ms => Math.min(20, 1 + (19 * Math.min(ms, 50 * MINUTE - ms)) / (20 * MINUTE)),
    }),
  },
  {
    name: 'spikes',
    durationMs: 2 * HOUR,
    minPods: 1,
    rate(chance) {
      const starts = randomStarts(chance, 2 * HOUR, 2 * MINUTE, 5 * MINUTE);
      return { mostPerSecond: 20, at: ms => (during(starts, 30 * SECOND, ms) ? 20 : 2) };
    },
  },
  {
    name: 'day and night',
    durationMs: 24 * HOUR,
    minPods: 1,
    rate: () => ({
      mostPerSecond: 9,
      at: ms => 4.75 - 4.25 * Math.cos((2 * Math.PI * ms) / (24 * HOUR)),
    }),
  },
  {
    name: 'hourly batch',
    durationMs: 4 * HOUR,
    minPods: 1,
    rate: () => ({
      mostPerSecond: 40,
      at: ms => (ms % HOUR >= 5 * MINUTE && ms % HOUR < 5.5 * MINUTE ? 40 : 0.5),
    }),
  },
  {
    name: 'noise',
    durationMs: 2 * HOUR,
    minPods: 1,
    rate(chance) {
      const rates = wandering(chance, 2 * HOUR, 6, 0.4, 30 * SECOND);
      return { mostPerSecond: Math.max(...rates), at: ms => rates[Math.floor(ms / SECOND)]! };
    },
  },
  {
    name: 'short to long',
    durationMs: 25 * MINUTE,
    minPods: 3,
    rate: () => ({ mostPerSecond: 20, at: ms => (isLong(ms) ? 3 : 20) }),
    medianMs: ms => (isLong(ms) ? 8_000 : 100),
  },
  {
    name: 'jobs from zero',
    durationMs: 4 * HOUR,
    minPods: 0,
    rate(chance) {
      const starts = randomStarts(chance, 4 * HOUR, 5 * MINUTE, 10 * MINUTE);
      return { mostPerSecond: 4, at: ms => (during(starts, 15 * SECOND, ms) ? 4 : 0) };
    },
  },
];

/** With this median, the mean is 0.74 s and 95 % of renders take 0.2 to 2 s. */
const USUAL_MEDIAN_MS = 630;
const serviceMs = (chance: Chance, medianMs: number) =>
  medianMs * Math.exp(0.58 * gaussian(chance));

/** Generates the renders of a load: a Poisson process, by thinning. */
export function rendersOf(load: LoadShape, seed: number): Render[] {
  const chance = createChance(seed);
  const { at, mostPerSecond } = load.rate(chance);
  const renders: Render[] = [];
  for (let ms = 0; ; ) {
    ms += exponential(chance, SECOND / mostPerSecond);
    if (ms >= load.durationMs) return renders;
    if (chance.next() * mostPerSecond < at(ms))
      renders.push({
        atMs: ms,
        serviceMs: serviceMs(chance, load.medianMs?.(ms) ?? USUAL_MEDIAN_MS),
      });
  }
}
