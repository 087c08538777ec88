// `npm run bench:fairness [-- --rounds 8 --renders 60 --load 0.3]`: measures the latency of two
// customers with a modest load beside a third that overloads the service. Prints the figures; exits
// with 1 if the target is missed.
import { setTimeout as sleep } from 'node:timers/promises';
import { arrivals } from './arrivals.ts';
import { alternate, capacityOf, compared, LIMIT_MS, RULES, USUAL_NUMBERS } from './beside.ts';
import { type Latencies, modest, overload } from './customers.ts';
import { machine, readNumbers, runScript } from './script.ts';
import { startService } from './service.ts';

const {
  rounds,
  renders,
  load: share,
} = readNumbers({ rounds: 8, renders: 60, load: 0.3 }, USUAL_NUMBERS, RULES);

await runScript(LIMIT_MS, async atEnd => {
  const service = await startService(atEnd);
  const [a, b, overloading] = [
    await service.customer('a'),
    await service.customer('b'),
    await service.customer('overload'),
  ];
  const capacity = await capacityOf(a);
  const perSecond = (capacity * share) / 2;
  console.log(
    `${machine()}; capacity ${capacity.toFixed(1)}/s; two customers with ${perSecond.toFixed(1)}/s each; ${rounds} rounds of ${renders} renders`,
  );
  let [served, rejected, overloadMs] = [0, 0, 0];
  const both = (round: number) =>
    Promise.all([
      modest(a, arrivals(renders, perSecond, 2 * round + 1)),
      modest(b, arrivals(renders, perSecond, 2 * round + 2)),
    ]);
  const { alone, beside } = await alternate(rounds, {
    alone: both,
    beside: async round => {
      const end = new AbortController();
      const began = performance.now();
      const running = overload(overloading, end.signal);
      running.catch(() => end.abort()); // awaited below
      await sleep(1_000); // until its plan is full
      const latencies = await both(round).finally(() => end.abort());
      const overloaded = await running;
      served += overloaded.served;
      rejected += overloaded.rejected;
      overloadMs += performance.now() - began;
      return latencies;
    },
  });
  const figures = (['a', 'b'] as const).map((name, nth) => {
    const of = (all: Latencies[][]) => all.map(latencies => latencies[nth]!);
    return compared(name, 'overload', of(alone), of(beside));
  });
  const rate = (count: number, digits: number) => ((count * 1_000) / overloadMs).toFixed(digits);
  console.log(
    `  overloading client: ${rate(served, 1)} renders/s and ${rate(rejected, 0)} rejected/s`,
  );
  return figures;
});
