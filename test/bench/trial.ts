// `npm run bench:trial [-- --rounds 8 --renders 60 --load 0.3 --callers 200]`: what a customer with a modest load feels of trial callers who hammer the service.
// Alternating rounds of one run: the customer alone, then beside them, with the same arrivals. Prints the figures; exits with 1 when
// the wanted one is missed. Ends by itself.
import { availableParallelism, cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { arrivals } from './arrivals.ts';
import { cpuBetween, cpuOf } from './cpu.ts';
import { document, type Felt, joined, modest } from './customers.ts';
import { load, median, quantile } from './load.ts';
import { mustBePdf, startService } from './service.ts';
import { hammer } from './visitors.ts';

/** The customer's p95 beside the trial callers, as a multiple of that without them. */
const WANTED = 1.5;
const LIMIT_MS = 30 * 60_000;
const WARM_UP = 40;
const CAPACITY_RENDERS = 120;

const options = { rounds: '8', renders: '60', load: '0.3', callers: '200' };
const { values } = parseArgs({
  options: Object.fromEntries(Object.entries(options).map(([name, fallback]) => [name, { type: 'string' as const, default: fallback }])),
});
const [rounds, renders, share, callers] = [values['rounds'], values['renders'], values['load'], values['callers']].map(Number) as [
  number,
  number,
  number,
  number,
];
if (![rounds, renders, callers].every(n => Number.isInteger(n) && n > 0 && n <= 10_000))
  throw new Error('--rounds, --renders and --callers are whole numbers from 1 to 10000');
if (!(share > 0 && share < 1)) throw new Error('--load is the share of the capacity that the customer uses, between 0 and 1');

const ms = (value: number) => `${value.toFixed(0).padStart(4)} ms`;
const show = (name: string, { tookMs, queuedMs: queued }: Felt) =>
  console.log(
    `  ${name.padEnd(20)} p50 ${ms(quantile(tookMs, 0.5))}   p95 ${ms(quantile(tookMs, 0.95))}   of it waiting for a slot: p95 ${ms(quantile(queued, 0.95))}   (${tookMs.length} renders)`,
  );

const service = await startService({ PRESSROOM_TRUSTED_PROXIES: '127.0.0.1/32' });
const limit = setTimeout(() => {
  console.error(`the bench did not end within ${LIMIT_MS / 60_000} min`);
  process.exitCode = 1;
  void service.close(); // what runs then fails
}, LIMIT_MS);
try {
  const customer = await service.customer('customer');
  await load(WARM_UP, 2, async nth => mustBePdf(await customer(document(nth))));
  const capacity = (await load(CAPACITY_RENDERS, availableParallelism(), async nth => mustBePdf(await customer(document(nth))))).perSecond;
  const perSecond = capacity * share;
  console.log(
    `${availableParallelism()} cores (${cpus()[0]?.model}), load ${loadavg()[0]!.toFixed(1)}; capacity ${capacity.toFixed(1)}/s; a customer with ${perSecond.toFixed(1)}/s, ${callers} trial callers; ${rounds} rounds of ${renders}`,
  );
  const alone: Felt[] = [];
  const beside: Felt[] = [];
  const visits = { served: 0, refused: 0, unserved: 0, ms: 0, nodeMs: 0, mongodMs: 0, benchMs: 0 };
  for (let round = 0; round < rounds; round++) {
    const times = arrivals(renders, perSecond, round + 1);
    const steps = {
      alone: async () => void alone.push(await modest(customer, times)),
      beside: async () => {
        const end = new AbortController();
        const [began, cpu, own] = [performance.now(), cpuOf(service.pid), process.cpuUsage()];
        const hammering = hammer(service, callers, end.signal);
        hammering.catch(() => end.abort()); // it is thrown below
        await sleep(1_000); // until all of them are there
        beside.push(await modest(customer, times).finally(() => end.abort()));
        const { served, refused, unserved } = await hammering;
        visits.served += served;
        visits.refused += refused;
        visits.unserved += unserved;
        visits.ms += performance.now() - began;
        const { node, mongod } = cpuBetween(cpu, cpuOf(service.pid), 1);
        visits.nodeMs += node;
        visits.mongodMs += mongod;
        visits.benchMs += process.cpuUsage(own).user / 1_000 + process.cpuUsage(own).system / 1_000;
      },
    };
    // Who goes first changes, so that what the machine does meanwhile hits both alike.
    for (const step of round % 2 === 0 ? (['alone', 'beside'] as const) : (['beside', 'alone'] as const)) await steps[step]();
  }
  show('customer alone', joined(alone));
  show('beside trial callers', joined(beside));
  const ratio = quantile(joined(beside).tookMs, 0.95) / quantile(joined(alone).tookMs, 0.95);
  const ofRounds = alone.map((felt, round) => quantile(beside[round]!.tookMs, 0.95) / quantile(felt.tookMs, 0.95));
  console.log(
    `  p95 ratio ${ratio.toFixed(2)}; of the rounds ${median(ofRounds).toFixed(2)} (${Math.min(...ofRounds).toFixed(2)} to ${Math.max(...ofRounds).toFixed(2)})`,
  );
  const rate = (count: number) => ((count * 1_000) / visits.ms).toFixed(1);
  const cores = (spentMs: number) => (spentMs / visits.ms).toFixed(2);
  console.log(
    `  trial callers got ${rate(visits.served)} renders/s and ${rate(visits.refused)} refusals/s; ${visits.unserved} waited in vain`,
  );
  console.log(
    `  meanwhile cores in use: node ${cores(visits.nodeMs)}, mongod ${cores(visits.mongodMs)}, the callers themselves ${cores(visits.benchMs)}`,
  );
  const met = ratio <= WANTED;
  console.log(met ? `The wanted ratio of at most ${WANTED} is met.` : `MISSED: the wanted ratio is at most ${WANTED}.`);
  if (!met) process.exitCode = 1;
} finally {
  clearTimeout(limit);
  await service.close();
}
