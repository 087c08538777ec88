// An open loop: renders start at given times, independent of earlier ones. Latency is measured from
// the scheduled start.
import { setTimeout as sleep } from 'node:timers/promises';
import { createChance } from '../test/fault/harness/random.ts';

/**
 * Start times in ms of `count` renders at a mean rate with exponential intervals. The same seed
 * returns the same times.
 */
export function arrivals(count: number, perSecond: number, seed: number): number[] {
  const chance = createChance(seed);
  let atMs = 0;
  return Array.from({ length: count }, () => {
    atMs += (-Math.log(1 - chance.next()) / perSecond) * 1_000;
    return atMs;
  });
}

/**
 * Returns the result and the duration of each render in the order of `atMs`. Rejects with the first
 * failure.
 */
export async function openLoop<T>(
  atMs: readonly number[],
  render: (nth: number) => Promise<T>,
): Promise<{ tookMs: number; answer: T }[]> {
  const startMs = performance.now();
  return Promise.all(
    atMs.map(async (at, nth) => {
      await sleep(at);
      const answer = await render(nth);
      return { tookMs: performance.now() - startMs - at, answer };
    }),
  );
}
