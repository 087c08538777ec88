// `npm run bench:trial [-- --rounds 8 --renders 60 --load 0.3 --callers 200]`: measures the latency
// of a customer with a modest load beside many trial clients. Prints the figures; exits with 1 if
// the target is missed.
import { setTimeout as sleep } from 'node:timers/promises';
import { arrivals } from './arrivals.ts';
import { alternate, capacityOf, compared, LIMIT_MS, RULES, USUAL_NUMBERS } from './beside.ts';
import { cpuBetween, cpuOf } from './cpu.ts';
import { modest } from './customers.ts';
import { machine, readNumbers, runScript } from './script.ts';
import { startService } from './service.ts';
import { overloadTrial } from './trial-overload.ts';

const {
  rounds,
  renders,
  load: share,
  callers,
} = readNumbers({ rounds: 8, renders: 60, load: 0.3, callers: 200 }, USUAL_NUMBERS, RULES);

await runScript(LIMIT_MS, async atEnd => {
  const service = await startService(atEnd, { PRESSROOM_TRUSTED_PROXIES: '127.0.0.1/32' });
  const customer = await service.customer('customer');
  const capacity = await capacityOf(customer);
  const perSecond = capacity * share;
  console.log(
    `${machine()}; capacity ${capacity.toFixed(1)}/s; a customer with ${perSecond.toFixed(1)}/s, ${callers} trial clients; ${rounds} rounds of ${renders} renders`,
  );
  const visits = { served: 0, rejected: 0, unserved: 0, ms: 0, nodeMs: 0, mongodMs: 0, benchMs: 0 };
  const modestIn = (round: number) => modest(customer, arrivals(renders, perSecond, round + 1));
  const { alone, beside } = await alternate(rounds, {
    alone: modestIn,
    beside: async round => {
      const end = new AbortController();
      const [began, cpu, own] = [performance.now(), cpuOf(service.pid), process.cpuUsage()];
      const overloading = overloadTrial(service, callers, end.signal);
      overloading.catch(() => end.abort()); // awaited below
      await sleep(1_000); // until all clients have started
      const latencies = await modestIn(round).finally(() => end.abort());
      const { served, rejected, unserved } = await overloading;
      visits.served += served;
      visits.rejected += rejected;
      visits.unserved += unserved;
      visits.ms += performance.now() - began;
      const { node, mongod } = cpuBetween(cpu, cpuOf(service.pid));
      visits.nodeMs += node;
      visits.mongodMs += mongod;
      visits.benchMs += process.cpuUsage(own).user / 1_000 + process.cpuUsage(own).system / 1_000;
      return latencies;
    },
  });
  const figure = compared('customer', 'trial clients', alone, beside);
  const rate = (count: number) => ((count * 1_000) / visits.ms).toFixed(1);
  const cores = (spentMs: number) => (spentMs / visits.ms).toFixed(2);
  console.log(
    `  trial clients: ${rate(visits.served)} renders/s, ${rate(visits.rejected)} rejected/s, ${visits.unserved} queue timeouts`,
  );
  console.log(
    `  cores in use: Node ${cores(visits.nodeMs)}, mongod ${cores(visits.mongodMs)}, load client ${cores(visits.benchMs)}`,
  );
  return [figure];
});
