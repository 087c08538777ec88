// What both benches of fairness do: customers with a modest load, alone and beside others, in
// alternating rounds of one run with the same arrivals.
import { availableParallelism } from 'node:os';
import { document, type Felt, joined } from './customers.ts';
import type { Figure } from './figures.ts';
import { load, median, quantile } from './load.ts';
import { whole } from './script.ts';
import { type Customer, mustBePdf } from './service.ts';

/** A customer's p95 beside the others, as a multiple of that without them. */
const WANTED = 1.5;
export const LIMIT_MS = 30 * 60_000;
const WARM_UP = 40;
const CAPACITY_RENDERS = 120;

/** What they read from the command line: whole numbers, and `load`, a share. */
export const USUAL_NUMBERS = whole(1, 10_000);
export const RULES = {
  load: {
    accepted: 'the share of the capacity that the modest customers use together, between 0 and 1',
    isGood: (value: number) => value > 0 && value < 1,
  },
};

/** Warms the service up, and gives the renders that it does a second when every core has one. */
export async function capacityOf(customer: Customer): Promise<number> {
  const render = async (nth: number) => mustBePdf(await customer(document(nth)));
  await load(WARM_UP, 2, render);
  return (await load(CAPACITY_RENDERS, availableParallelism(), render)).perSecond;
}

/** Who goes first changes, so that what the machine does meanwhile hits both alike. */
export async function alternate(
  rounds: number,
  steps: (round: number) => Record<'alone' | 'beside', () => Promise<void>>,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const { alone, beside } = steps(round);
    for (const step of round % 2 === 0 ? [alone, beside] : [beside, alone]) await step();
  }
}

const ms = (value: number) => `${value.toFixed(0).padStart(4)} ms`;
const p95 = ({ tookMs }: Felt) => quantile(tookMs, 0.95);

function show(name: string, { tookMs, queuedMs }: Felt): void {
  const took = `p50 ${ms(quantile(tookMs, 0.5))}   p95 ${ms(quantile(tookMs, 0.95))}`;
  const queued = `p50 ${ms(quantile(queuedMs, 0.5))}   p95 ${ms(quantile(queuedMs, 0.95))}`;
  console.log(
    `  ${name.padEnd(29)} ${took}   of it waiting for a slot: ${queued}   (${tookMs.length} renders)`,
  );
}

/**
 * Prints what a customer felt, round by round in both lists; gives the ratio of the p95s over all
 * rounds, which is wanted to be at most WANTED.
 */
export function compared(
  name: string,
  others: string,
  alone: readonly Felt[],
  beside: readonly Felt[],
): Figure {
  show(`${name} alone`, joined(alone));
  show(`${name} beside ${others}`, joined(beside));
  const ratio = p95(joined(beside)) / p95(joined(alone));
  const ofRounds = alone.map((felt, round) => p95(beside[round]!) / p95(felt));
  const range = `${Math.min(...ofRounds).toFixed(2)} to ${Math.max(...ofRounds).toFixed(2)}`;
  console.log(
    `  p95 ratio ${ratio.toFixed(2)}; of the rounds ${median(ofRounds).toFixed(2)} (${range})`,
  );
  return {
    what: `p95 of ${name} beside ${others}, to that without them`,
    value: ratio,
    unit: 'times',
    atMost: WANTED,
  };
}
