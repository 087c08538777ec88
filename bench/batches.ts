// `npm run bench:batches [-- --rounds 3 --batches 20 --waiting 100000 --calls 150]`: compares batches
// with plain inserts into the same MongoDB, measures the memory of an API process with many waiting
// renders, and another account's latency beside many batches. Prints the ratios; exits with 1 if a
// target is missed.
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Deployment, startDeployment } from '../test/fault/harness/deployment.ts';
import { batchClient } from '../test/support/async-fixture.ts';
import { renderCall } from '../test/support/http-call.ts';
import { memoryOfProcess } from '../test/support/processes.ts';
import { alternate } from './beside.ts';
import { document } from './customers.ts';
import { digits, type Figure, spread } from './figures.ts';
import { load, median, quantile } from './load.ts';
import { type AtEnd, machineLine, readNumbers, runScript, USUAL } from './script.ts';
import { mustBePdf } from './service.ts';

const LIMIT_MS = 45 * 60_000;
const OF_A_BATCH = 1_000;
const BODY_BYTES = 25_000;
const CALLERS = 4;
/** Both accounts of the latency have work for all slots. */
const BUSY = 2;
const SETTLED_MS = 3_000;

const { rounds, batches, waiting, calls } = readNumbers({
  rounds: 3,
  batches: 20,
  waiting: 100_000,
  calls: 150,
});

/** The plan of every account here. */
const API = {
  ...USUAL,
  PRESSROOM_ASYNC: 'on',
  PRESSROOM_PLANS: `scale=8 queue=${2 * Math.max(waiting, rounds * batches * OF_A_BATCH)}`,
};

const bodyOf = (item: object) => `${JSON.stringify(item)}\n`.repeat(OF_A_BATCH);

/** Invoices, until there are BODY_BYTES. MongoDB compresses what is inserted plainly. */
function largeDocument(): string {
  let html = '';
  for (let nth = 0; html.length < BODY_BYTES; nth++) html += document(nth);
  return html.slice(0, BODY_BYTES);
}

async function compareInserts({ apis, account, cluster }: Deployment): Promise<Figure[]> {
  const { submit } = batchClient(apis[0]!.port, (await account()).key);
  const item = { html: largeDocument() };
  const body = bodyOf(item);
  const request = Buffer.from(JSON.stringify(item));
  const plain = cluster.client.db('bench').collection('plain', { writeConcern: { w: 'majority' } });
  const documents = () => Array.from({ length: OF_A_BATCH }, () => ({ request }));
  const seconds = async (work: () => Promise<unknown>) =>
    (await load(batches, CALLERS, async () => void (await work()))).elapsedMs / 1_000;
  const times = await alternate(rounds, {
    batches: () => seconds(() => submit(body)),
    inserts: () => seconds(() => plain.insertMany(documents())),
  });
  console.log(
    `  ${batches} batches of ${OF_A_BATCH}: ${spread(times.batches)} s, plain inserts: ${spread(times.inserts)} s`,
  );
  const ratios = times.batches.map((took, round) => took / times.inserts[round]!);
  const unit = 'times plain inserts';
  return [{ what: 'batches of 25 kB bodies', value: median(ratios), unit, atMost: 2 }];
}

async function measureMemory({ apis, account }: Deployment): Promise<Figure[]> {
  const { submit } = batchClient(apis[0]!.port, (await account()).key);
  const { pid } = apis[0]!.process;
  const body = bodyOf({ html: '<p>small</p>' });
  await submit(body);
  const residentMb = async () => {
    await sleep(SETTLED_MS);
    return memoryOfProcess(pid).residentMb;
  };
  const before = await residentMb();
  await load(waiting / OF_A_BATCH, CALLERS, async () => void (await submit(body)));
  const after = await residentMb();
  console.log(`  API with ${waiting} waiting renders: ${digits(before)} to ${digits(after)} MB`);
  const what = `memory of the API with ${waiting} waiting renders`;
  return [{ what, value: after - before, unit: 'MB more', atMost: 30 }];
}

/** Another account's renders beside one batch, and beside many. */
async function compareLatency(target: Deployment, agent: Agent): Promise<Figure[]> {
  const { port } = target.apis[0]!;
  const { key } = await target.account();
  const tookMs = async (count: number) => {
    const found: number[] = [];
    await load(count, BUSY, async nth => {
      const beganMs = performance.now();
      mustBePdf(await renderCall(port, key, { html: document(nth) }, {}, agent));
      found.push(performance.now() - beganMs);
    });
    return found;
  };
  const beside = async (count: number) => {
    const { submit, read } = batchClient(port, (await target.account()).key);
    const body = bodyOf({ html: document(0) });
    const ids: string[] = [];
    while (ids.length < count) ids.push((await submit(body)).id);
    const found = await tookMs(calls);
    for (const id of ids) await read(`/v1/batches/${id}`, 'DELETE');
    return found;
  };
  await tookMs(calls);
  const found = await alternate(rounds, {
    alone: () => tookMs(calls),
    one: () => beside(1),
    many: () => beside(batches),
  });
  const p95 = (of: number[][]) => quantile(of.flat(), 0.95);
  console.log(
    `  p95 of another account: alone ${digits(p95(found.alone))} ms, beside one batch ${digits(p95(found.one))} ms, beside ${batches} ${digits(p95(found.many))} ms`,
  );
  const what = `p95 of another account beside ${batches} batches`;
  const unit = 'times that beside one';
  return [{ what, value: p95(found.many) / p95(found.one), unit, atMost: 1.15 }];
}

async function started(atEnd: AtEnd, workers: number): Promise<Deployment> {
  const target = await startDeployment({ apis: 1, workers, api: API, worker: USUAL });
  atEnd(target.stop);
  return target;
}

await runScript(LIMIT_MS, async atEnd => {
  console.log(`${machineLine()}; ${rounds} rounds, ${batches} batches`);
  const agent = new Agent({ keepAlive: true });
  atEnd(async () => agent.destroy());
  const withoutWorkers = await started(atEnd, 0);
  const figures = [
    ...(await compareInserts(withoutWorkers)),
    ...(await measureMemory(withoutWorkers)),
  ];
  return [...figures, ...(await compareLatency(await started(atEnd, 1), agent))];
});
