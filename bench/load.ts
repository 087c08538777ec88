// Runs renders in a closed loop and calculates statistics.

export interface Round {
  elapsedMs: number;
  perSecond: number;
  p50Ms: number;
  p95Ms: number;
}

/** The quantile of values (nearest rank). */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]!;
}

/** The median. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
};

/** Runs `render` `renders` times, `parallel` at once. Rejects with the first failure. */
export async function load(
  renders: number,
  parallel: number,
  render: (nth: number) => Promise<void>,
): Promise<Round> {
  const times: number[] = [];
  let next = 0;
  const lane = async () => {
    while (next < renders) {
      const began = performance.now();
      await render(next++);
      times.push(performance.now() - began);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: parallel }, lane));
  const elapsedMs = performance.now() - began;
  return {
    elapsedMs,
    perSecond: (renders * 1_000) / elapsedMs,
    p50Ms: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
  };
}
