// What both benches of fairness do: customers with a modest load, alone and beside others, in alternating rounds of one run with the same arrivals; and the verdict.
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { document, type Felt, joined } from './customers.ts';
import { load, median, quantile } from './load.ts';
import { type BenchService, type Customer, mustBePdf } from './service.ts';

/** A customer's p95 beside the others, as a multiple of that without them. */
const WANTED = 1.5;
const LIMIT_MS = 30 * 60_000;
const WARM_UP = 40;
const CAPACITY_RENDERS = 120;

/** From the command line, by their names and defaults: whole numbers, and `load`, a share. Throws when one is something else. */
export function readNumbers<N extends string>(defaults: Record<N | 'load', string>): Record<N | 'load', number> {
  const options = Object.entries<string>(defaults).map(([name, fallback]) => [name, { type: 'string' as const, default: fallback }]);
  const { values } = parseArgs({ options: Object.fromEntries(options) });
  const numbers = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
  for (const [name, value] of Object.entries(numbers)) {
    if (name === 'load' && !(value > 0 && value < 1))
      throw new Error('--load is the share of the capacity that the modest customers use together, between 0 and 1');
    if (name !== 'load' && !(Number.isInteger(value) && value > 0 && value <= 10_000))
      throw new Error(`--${name} is a whole number from 1 to 10000`);
  }
  return numbers as Record<N | 'load', number>;
}

/** Runs the bench on the service and closes it, after LIMIT_MS in any case. */
export async function within(service: BenchService, bench: () => Promise<void>): Promise<void> {
  const limit = setTimeout(() => {
    console.error(`the bench did not end within ${LIMIT_MS / 60_000} min`);
    process.exitCode = 1;
    void service.close(); // what runs then fails
  }, LIMIT_MS);
  try {
    await bench();
  } finally {
    clearTimeout(limit);
    await service.close();
  }
}

/** Warms the service up, and gives the renders that it does a second when every core has one. */
export async function capacityOf(customer: Customer): Promise<number> {
  const render = async (nth: number) => mustBePdf(await customer(document(nth)));
  await load(WARM_UP, 2, render);
  return (await load(CAPACITY_RENDERS, availableParallelism(), render)).perSecond;
}

/** The machine, as the first words of what the bench says of its run. */
export const machine = () => `${availableParallelism()} cores (${cpus()[0]?.model}), load ${loadavg()[0]!.toFixed(1)}`;

/** Who goes first changes, so that what the machine does meanwhile hits both alike. */
export async function alternate(rounds: number, steps: (round: number) => Record<'alone' | 'beside', () => Promise<void>>): Promise<void> {
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
  console.log(`  ${name.padEnd(29)} ${took}   of it waiting for a slot: ${queued}   (${tookMs.length} renders)`);
}

/** Prints what a customer felt, round by round in both lists; gives the ratio of the p95s over all rounds. */
export function compared(name: string, others: string, alone: readonly Felt[], beside: readonly Felt[]): number {
  show(`${name} alone`, joined(alone));
  show(`${name} beside ${others}`, joined(beside));
  const ratio = p95(joined(beside)) / p95(joined(alone));
  const ofRounds = alone.map((felt, round) => p95(beside[round]!) / p95(felt));
  const range = `${Math.min(...ofRounds).toFixed(2)} to ${Math.max(...ofRounds).toFixed(2)}`;
  console.log(`  p95 ratio ${ratio.toFixed(2)}; of the rounds ${median(ofRounds).toFixed(2)} (${range})`);
  return ratio;
}

/** The last line; the exit code is 1 when a ratio is missed. */
export function judge(ratios: readonly number[]): void {
  const met = ratios.every(ratio => ratio <= WANTED);
  console.log(met ? `The wanted ratio of at most ${WANTED} is met.` : `MISSED: the wanted ratio is at most ${WANTED}.`);
  if (!met) process.exitCode = 1;
}
