// Shared by the fairness benchmarks: customers with a modest load, alone and beside other clients,
// in alternating rounds with the same arrivals.
import { availableParallelism } from 'node:os';
import { document, joined, type Latencies } from './customers.ts';
import type { Figure } from './figures.ts';
import { load, median, quantile } from './load.ts';
import { whole } from './script.ts';
import { type Customer, mustBePdf } from './service.ts';

/** Target: p95 of a customer beside others, as a multiple of that without them. */
const TARGET = 1.5;
export const LIMIT_MS = 30 * 60_000;
const WARM_UP = 40;
const CAPACITY_RENDERS = 120;

/** Command-line options: whole numbers, and `load`, a fraction. */
export const USUAL_NUMBERS = whole(1, 10_000);
export const RULES = {
  load: {
    accepted: 'the share of the capacity that the modest customers use together, between 0 and 1',
    isGood: (value: number) => value > 0 && value < 1,
  },
};

/** Warms up the service, and returns its throughput with one render per core. */
export async function capacityOf(customer: Customer): Promise<number> {
  const render = async (nth: number) => mustBePdf(await customer(document(nth)));
  await load(WARM_UP, 2, render);
  return (await load(CAPACITY_RENDERS, availableParallelism(), render)).perSecond;
}

/**
 * Measures each side once a round, and returns the results by side. The order alternates, so that
 * changes of the machine affect all sides equally.
 */
export async function alternate<K extends string, T>(
  rounds: number,
  sides: Record<K, (round: number) => Promise<T>>,
): Promise<Record<K, T[]>> {
  const names = Object.keys(sides) as K[];
  const results = Object.fromEntries(names.map(name => [name, [] as T[]])) as Record<K, T[]>;
  for (let round = 0; round < rounds; round++)
    for (const name of round % 2 === 0 ? names : names.toReversed())
      results[name].push(await sides[name](round));
  return results;
}

const ms = (value: number) => `${value.toFixed(0).padStart(4)} ms`;
const p95 = ({ tookMs }: Latencies) => quantile(tookMs, 0.95);

function show(name: string, { tookMs, queuedMs }: Latencies): void {
  const took = `p50 ${ms(quantile(tookMs, 0.5))}   p95 ${ms(quantile(tookMs, 0.95))}`;
  const queued = `p50 ${ms(quantile(queuedMs, 0.5))}   p95 ${ms(quantile(queuedMs, 0.95))}`;
  console.log(`  ${name.padEnd(29)} ${took}   queue time: ${queued}   (${tookMs.length} renders)`);
}

/**
 * Prints the latencies of a customer per round, and returns the ratio of the p95s over all rounds.
 */
export function compared(
  name: string,
  others: string,
  alone: readonly Latencies[],
  beside: readonly Latencies[],
): Figure {
  show(`${name} alone`, joined(alone));
  show(`${name} beside ${others}`, joined(beside));
  const ratio = p95(joined(beside)) / p95(joined(alone));
  const ofRounds = alone.map((latencies, round) => p95(beside[round]!) / p95(latencies));
  const range = `${Math.min(...ofRounds).toFixed(2)} to ${Math.max(...ofRounds).toFixed(2)}`;
  console.log(
    `  p95 ratio ${ratio.toFixed(2)}; per round ${median(ofRounds).toFixed(2)} (${range})`,
  );
  return {
    what: `p95 of ${name} beside ${others}, relative to without`,
    value: ratio,
    unit: 'times',
    atMost: TARGET,
  };
}
