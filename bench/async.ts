// `npm run bench:async [-- --rounds 6 --renders 80]`: compares asynchronous renders with synchronous
// ones, and their start and intake with plain inserts into the same MongoDB. Prints the ratios;
// exits with 1 if a target is missed.
import { Agent } from 'node:http';
import { jobCollections } from '../api/store/job-documents.ts';
import type { JobDocument } from '../api/store/store.ts';
import type { AsyncRender } from '../common/contract/async-renders.ts';
import { type Deployment, startDeployment } from '../test/fault/harness/deployment.ts';
import { httpCall, renderCall } from '../test/support/http-call.ts';
import { alternate } from './beside.ts';
import { document } from './customers.ts';
import { type Figure, spread } from './figures.ts';
import { load, median, quantile } from './load.ts';
import { machineLine, readNumbers, runScript, USUAL } from './script.ts';
import { mustBePdf } from './service.ts';

const LIMIT_MS = 30 * 60_000;
const WARM_UP = 40;
const INTAKE_CALLERS = 8;
const POLL_MS = 20;

const { rounds, renders, slots, submissions } = readNumbers({
  rounds: 6,
  renders: 80,
  slots: 2,
  submissions: 400,
});

type Sides = Awaited<ReturnType<typeof openSides>>;

/** Asynchronous and synchronous renders of one account, and plain inserts. */
async function openSides({ apis, cluster, account }: Deployment, agent: Agent, end: AbortSignal) {
  // Seven asynchronous renders of this plan may run: more than there are slots.
  const { key } = await account('scale');
  const { port } = apis[0]!;
  const { jobs } = jobCollections(cluster.client.db('pressroom'));
  const plain = cluster.client
    .db('bench')
    .collection<JobDocument>('plain', { writeConcern: { w: 'majority' } });
  return {
    async submit(html: string): Promise<AsyncRender> {
      end.throwIfAborted();
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ html });
      const answer = await httpCall(port, 'POST', '/v1/renders', headers, body, agent);
      if (answer.status !== 202) throw new Error(`${answer.status} ${answer.body}`);
      return JSON.parse(answer.body.toString());
    },
    async ended(ids: readonly string[]): Promise<JobDocument[]> {
      for (;;) {
        end.throwIfAborted();
        const found = await jobs.find({ _id: { $in: [...ids] } }).toArray();
        if (found.every(({ endedAt }) => endedAt)) return found;
        await new Promise(resolve => setTimeout(resolve, POLL_MS));
      }
    },
    async render(html: string): Promise<void> {
      mustBePdf(await renderCall(port, key, { html }, {}, agent));
    },
    /** The time of one majority insert of this job. */
    async insertMs(job: JobDocument): Promise<number> {
      const beganMs = performance.now();
      await plain.insertOne({ ...job, _id: `${job._id} ${beganMs} ${Math.random()}` });
      return performance.now() - beganMs;
    },
  };
}

/** Renders per second of a backlog, from the last submission on. */
async function backlogPerSecond({ submit, ended }: Sides, count: number): Promise<number> {
  const ids: string[] = [];
  await load(count, 4, async nth => void ids.push((await submit(document(nth))).id));
  const done = await ended(ids);
  const from = Math.max(...done.map(({ createdAt }) => createdAt.getTime()));
  const ends = done.map(({ endedAt }) => endedAt!.getTime()).filter(at => at > from);
  return (ends.length * 1_000) / (Math.max(...ends) - from);
}

async function compareThroughput(sides: Sides): Promise<Figure[]> {
  const synchronous = async (count: number) =>
    (await load(count, slots, nth => sides.render(document(nth)))).perSecond;
  await synchronous(WARM_UP);
  await backlogPerSecond(sides, WARM_UP);
  const rates = await alternate(rounds, {
    backlog: () => backlogPerSecond(sides, renders),
    synchronous: () => synchronous(renders),
  });
  console.log(
    `  backlog: ${spread(rates.backlog)} renders/s, synchronous: ${spread(rates.synchronous)}`,
  );
  const ratios = rates.backlog.map((rate, round) => rate / rates.synchronous[round]!);
  const unit = 'times the synchronous one';
  return [{ what: 'throughput of a backlog', value: median(ratios), unit, atLeast: 0.85 }];
}

/** From the 202 to the start, with a free slot. */
async function compareStart({ submit, ended, insertMs }: Sides): Promise<Figure[]> {
  const delays: number[] = [];
  const inserts: number[] = [];
  for (let nth = 0; nth < rounds * 10; nth++) {
    const { id } = await submit(document(nth));
    const acceptedMs = Date.now();
    const [job] = await ended([id]);
    delays.push(Math.max(0, job!.startedAt!.getTime() - acceptedMs));
    inserts.push(await insertMs(job!));
  }
  console.log(
    `  start after the 202: ${spread(delays)} ms; majority insert: ${spread(inserts)} ms`,
  );
  const times = (share: number) => quantile(delays, share) / median(inserts);
  const unit = 'majority inserts';
  return [
    { what: 'start, median', value: times(0.5), unit, atMost: 5 },
    { what: 'start, p99', value: times(0.99), unit, atMost: 20 },
  ];
}

async function compareIntake({ submit, ended, insertMs }: Sides): Promise<Figure[]> {
  const [sample] = await ended([(await submit('<p>sample</p>')).id]);
  const perSecond = async (work: (nth: number) => Promise<unknown>) =>
    (await load(submissions, INTAKE_CALLERS, async nth => void (await work(nth)))).perSecond;
  const rates = await alternate(rounds, {
    submitted: () => perSecond(nth => submit(`<p>${nth}</p>`)),
    inserted: () => perSecond(() => insertMs(sample!)),
  });
  console.log(
    `  intake: ${spread(rates.submitted)} per s, inserts: ${spread(rates.inserted)} per s`,
  );
  const ratios = rates.submitted.map((rate, round) => rate / rates.inserted[round]!);
  const unit = 'times plain inserts';
  return [{ what: 'intake of small bodies', value: median(ratios), unit, atLeast: 0.3 }];
}

await runScript(LIMIT_MS, async (atEnd, end) => {
  const api = { ...USUAL, PRESSROOM_ASYNC: 'on' };
  const target = await startDeployment({ apis: 1, workers: 1, slots, api, worker: USUAL });
  atEnd(target.stop);
  const agent = new Agent({ keepAlive: true });
  atEnd(async () => agent.destroy());
  const sides = await openSides(target, agent, end);
  console.log(`${machineLine()}; ${slots} slots, ${rounds} rounds of ${renders} renders`);
  return [
    ...(await compareThroughput(sides)),
    ...(await compareStart(sides)),
    ...(await compareIntake(sides)),
  ];
});
