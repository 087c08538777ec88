// Reproducible random numbers: every scenario prints its seed, and PRESSROOM_TEST_SEED repeats the
// choices of a run.

export interface Chance {
  readonly seed: number;
  /** From 0 to below 1. */
  next(): number;
  /** An integer from `from` to `to`, both included. */
  int(from: number, to: number): number;
  /** True with this probability in percent. */
  percent(share: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** mulberry32: small, and good enough to choose faults. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    seed,
    next,
    int,
    percent: share => next() * 100 < share,
    pick: from => from[int(0, from.length - 1)]!,
  };
}

/** Random numbers with the requested seed, or a new one. Prints the seed. */
export function chanceOfThisRun(
  scenario: string,
  given = process.env['PRESSROOM_TEST_SEED'],
): Chance {
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  if (!Number.isSafeInteger(seed))
    throw new Error(`PRESSROOM_TEST_SEED=${given}: must be an integer`);
  console.log(`      seed of ${scenario}: ${seed}`);
  return createChance(seed);
}
