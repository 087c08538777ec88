// `npm run bench:fairness [-- --rounds 8 --renders 60 --load 0.3]`: what two customers with a modest load feel of a third that floods the service.
// Alternating rounds of one run: the two without the flood, then beside it, with the same arrivals. Prints the figures; exits with 1 when
// the wanted one is missed. Ends by itself.
import { availableParallelism, cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { arrivals } from './arrivals.ts';
import { document, type Felt, flood, joined, modest } from './customers.ts';
import { load, median, quantile } from './load.ts';
import { mustBePdf, startService } from './service.ts';

/** The p95 of the modest customers beside the flood, as a multiple of theirs without it. */
const WANTED = 1.5;
const LIMIT_MS = 30 * 60_000;
const WARM_UP = 40;
const CAPACITY_RENDERS = 120;

const options = { rounds: '8', renders: '60', load: '0.3' };
const { values } = parseArgs({
  options: Object.fromEntries(Object.entries(options).map(([name, fallback]) => [name, { type: 'string' as const, default: fallback }])),
});
const [rounds, renders, share] = [Number(values['rounds']), Number(values['renders']), Number(values['load'])];
if (![rounds, renders].every(n => Number.isInteger(n) && n > 0 && n <= 10_000))
  throw new Error('--rounds and --renders are whole numbers from 1 to 10000');
if (!(share > 0 && share < 1))
  throw new Error('--load is the share of the capacity that the two modest customers use together, between 0 and 1');

const ms = (value: number) => `${value.toFixed(0).padStart(4)} ms`;
const show = (name: string, { tookMs, queuedMs: queued }: Felt) =>
  console.log(
    `  ${name.padEnd(16)} p50 ${ms(quantile(tookMs, 0.5))}   p95 ${ms(quantile(tookMs, 0.95))}   of it waiting for a slot: p50 ${ms(quantile(queued, 0.5))}   p95 ${ms(quantile(queued, 0.95))}   (${tookMs.length} renders)`,
  );

const service = await startService();
const limit = setTimeout(() => {
  console.error(`the bench did not end within ${LIMIT_MS / 60_000} min`);
  process.exitCode = 1;
  void service.close(); // what runs then fails
}, LIMIT_MS);
try {
  const [a, b, flooding] = [await service.customer('a'), await service.customer('b'), await service.customer('flood')];
  await load(WARM_UP, 2, async nth => mustBePdf(await a(document(nth))));
  const capacity = (await load(CAPACITY_RENDERS, availableParallelism(), async nth => mustBePdf(await b(document(nth))))).perSecond;
  const perSecond = (capacity * share) / 2;
  console.log(
    `${availableParallelism()} cores (${cpus()[0]?.model}), load ${loadavg()[0]!.toFixed(1)}; capacity ${capacity.toFixed(1)}/s; two customers with ${perSecond.toFixed(1)}/s each; ${rounds} rounds of ${renders}`,
  );
  const alone: Record<'a' | 'b', Felt[]> = { a: [], b: [] };
  const beside: Record<'a' | 'b', Felt[]> = { a: [], b: [] };
  let [served, refused, floodMs] = [0, 0, 0];
  for (let round = 0; round < rounds; round++) {
    const times = { a: arrivals(renders, perSecond, 2 * round + 1), b: arrivals(renders, perSecond, 2 * round + 2) };
    const steps = {
      alone: async () => {
        const felt = await Promise.all([modest(a, times.a), modest(b, times.b)]);
        alone.a.push(felt[0]);
        alone.b.push(felt[1]);
      },
      beside: async () => {
        const end = new AbortController();
        const began = performance.now();
        const running = flood(flooding, end.signal);
        running.catch(() => end.abort()); // it is thrown below
        await sleep(1_000); // until its plan is full
        const felt = await Promise.all([modest(a, times.a), modest(b, times.b)]).finally(() => end.abort());
        const flooded = await running;
        beside.a.push(felt[0]);
        beside.b.push(felt[1]);
        served += flooded.served;
        refused += flooded.refused;
        floodMs += performance.now() - began;
      },
    };
    // Who goes first changes, so that what the machine does meanwhile hits both alike.
    for (const step of round % 2 === 0 ? (['alone', 'beside'] as const) : (['beside', 'alone'] as const)) await steps[step]();
  }
  const ratios: number[] = [];
  for (const name of ['a', 'b'] as const) {
    show(`${name} without`, joined(alone[name]));
    show(`${name} beside flood`, joined(beside[name]));
    const ofRounds = alone[name].map((felt, round) => quantile(beside[name][round]!.tookMs, 0.95) / quantile(felt.tookMs, 0.95));
    ratios.push(quantile(joined(beside[name]).tookMs, 0.95) / quantile(joined(alone[name]).tookMs, 0.95));
    console.log(
      `  p95 ratio ${ratios.at(-1)!.toFixed(2)}; of the rounds ${median(ofRounds).toFixed(2)} (${Math.min(...ofRounds).toFixed(2)} to ${Math.max(...ofRounds).toFixed(2)})`,
    );
  }
  console.log(
    `  the flood got ${((served * 1_000) / floodMs).toFixed(1)} renders/s and ${((refused * 1_000) / floodMs).toFixed(0)} refusals/s`,
  );
  const met = ratios.every(ratio => ratio <= WANTED);
  console.log(met ? `The wanted ratio of at most ${WANTED} is met.` : `MISSED: the wanted ratio is at most ${WANTED}.`);
  if (!met) process.exitCode = 1;
} finally {
  clearTimeout(limit);
  await service.close();
}
