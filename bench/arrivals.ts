// An open loop: renders that begin when their time has come, however long those before them take.
// Each is measured from when it should have begun.
import { setTimeout as sleep } from 'node:timers/promises';
import { createChance } from '../test/fault/harness/random.ts';

/**
 * When renders begin, in ms from the start: `count` independent callers' calls at a mean rate
 * (exponential distances). The same seed gives the same times.
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
 * Gives each render's answer and how long it took, in the order of `atMs`. Rejects with the first
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
