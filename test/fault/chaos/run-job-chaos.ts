// Chaos with asynchronous renders: submits jobs while processes, Chrome and MongoDB are killed and
// frozen, and then checks that none is lost and each is counted once.
import { setTimeout as sleep } from 'node:timers/promises';
import { attemptsOf } from '../../../api/jobs/attempt-log.ts';
import { MAX_ATTEMPTS } from '../../../api/jobs/job-attempt.ts';
import type { JobDocument } from '../../../api/store/store.ts';
import { asyncClient } from '../../support/async-fixture.ts';
import { pdfText } from '../../support/pdf.ts';
import { type Deployment, type DeploymentAccount, startDeployment } from '../harness/deployment.ts';
import { type JobLedger, openJobLedger } from '../harness/job-ledger.ts';
import { type Chance, createChance } from '../harness/random.ts';
import type { Harm } from './faults.ts';
import { runFaults } from './run-faults.ts';

export interface JobChaosOptions {
  seed: number;
  forMs: number;
  /** How many are submitted in that time. */
  jobs: number;
  log(line: string): void;
}

export interface JobChaosReport {
  members: number;
  faults: Record<string, number>;
  /** Submissions that were answered with 202. */
  accepted: number;
  /** Other submissions, by their status, or `no answer`. */
  refused: Record<string, number>;
  /** How many jobs ended with each status. */
  statuses: Record<string, number>;
  /** How many had each number of attempts. */
  attempts: Record<string, number>;
  /** From the last fault until the last job has ended. */
  recoveryMs: number;
  /** Empty when every promise held. */
  violations: string[];
}

const ACCOUNTS = 4;
/** The rest of the time is for jobs that wait. */
const SUBMITTING = 0.8;
/** Jobs that wait at the end: two a second on a busy machine, after a lease and a sweep. */
const recoveryMs = (jobs: number) => 120_000 + jobs * 500;
/** PDFs whose text is read. */
const READ = 50;

const counted = (values: Iterable<string | number>): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
};

interface Submitted {
  job: string;
  account: DeploymentAccount;
  text: string;
}

/** Evenly over the time. One without an answer is replaced by another one. */
async function submitAll(
  deployment: Deployment,
  chance: Chance,
  { jobs, forMs }: JobChaosOptions,
): Promise<{ submitted: Submitted[]; refused: Record<string, number> }> {
  const accounts: DeploymentAccount[] = [];
  while (accounts.length < ACCOUNTS) accounts.push(await deployment.account());
  const submitted: Submitted[] = [];
  const refusals: string[] = [];
  const startMs = performance.now();

  async function submit(nth: number): Promise<void> {
    const atMs = startMs + (nth / jobs) * forMs * SUBMITTING;
    await sleep(Math.max(0, atMs - performance.now()));
    for (let attempt = 0; ; attempt++) {
      const account = chance.pick(accounts);
      const client = asyncClient(chance.pick(deployment.apis).port, account.key);
      const text = `job ${nth} attempt ${attempt}`;
      const body = { html: `<p>${text}</p>`, wait_delay: `${chance.int(0, 300)}ms` };
      try {
        const { id } = await client.submit(body);
        return void submitted.push({ job: id, account, text });
      } catch (error) {
        refusals.push(/^\d{3} /.exec((error as Error).message)?.[0].trim() ?? 'no answer');
      }
      await sleep(500);
    }
  }
  await Promise.all(Array.from({ length: jobs }, (_, nth) => submit(nth)));
  return { submitted, refused: counted(refusals) };
}

/** Jobs that ended once, but not as they should. `crashes`: how many renderers were killed. */
function wrongEnds(jobs: Iterable<JobDocument>, crashes: number): string[] {
  const crashed: string[] = [];
  const wrong: string[] = [];
  for (const job of jobs) {
    const { _id, status, error } = job;
    const attempts = attemptsOf(job);
    if (status === 'succeeded') continue;
    const line = `${_id} is ${status} after ${attempts} attempts: ${error?.message}`;
    // As if the page had crashed it, which is not tried again.
    if (error?.reason === 'page_crash') crashed.push(line);
    // Otherwise three workers or processes must have been killed.
    else if (status !== 'failed' || attempts < MAX_ATTEMPTS) wrong.push(line);
  }
  return crashed.length > crashes ? [...wrong, ...crashed] : wrong;
}

async function wrongTexts(
  deployment: Deployment,
  submitted: readonly Submitted[],
  jobs: ReadonlyMap<string, JobDocument>,
): Promise<string[]> {
  const succeeded = submitted.filter(({ job }) => jobs.get(job)?.status === 'succeeded');
  const wrong: string[] = [];
  for (const { job, account, text } of succeeded.slice(0, READ)) {
    const client = asyncClient(deployment.apis[0]!.port, account.key);
    const pdf = await client.call('GET', `/${job}/pdf`);
    const found = pdf.status === 200 ? (await pdfText(pdf.body)).trim() : String(pdf.status);
    if (found !== text) wrong.push(`${job} printed "${found}", not "${text}"`);
  }
  return wrong;
}

async function judge(
  deployment: Deployment,
  ledger: JobLedger,
  submitted: readonly Submitted[],
  crashes: number,
  withinMs: number,
): Promise<{ jobs: JobDocument[]; violations: string[] }> {
  try {
    const jobs = await ledger.allEnded(submitted, withinMs);
    const wrong = wrongEnds(jobs.values(), crashes);
    return {
      jobs: [...jobs.values()],
      violations: [...wrong, ...(await wrongTexts(deployment, submitted, jobs))],
    };
  } catch (error) {
    return { jobs: [], violations: [(error as Error).message] };
  }
}

export async function runJobChaos(options: JobChaosOptions): Promise<JobChaosReport> {
  const { seed, forMs, jobs, log } = options;
  const chance = createChance(seed);
  const members = chance.percent(33) ? 3 : 1;
  const deployment = await startDeployment({
    slots: 3,
    members,
    // With enough requests in progress at once for the submissions that wait for MongoDB.
    api: {
      PRESSROOM_ASYNC: 'on',
      PRESSROOM_PLANS: 'scale=1000 async_parallel=4',
      PRESSROOM_DRAIN_DELAY: '200ms',
    },
  });
  try {
    const ledger = await openJobLedger(deployment);
    const harm: Harm = { killed: new Set(), violations: [] };
    const submitting = submitAll(deployment, createChance(chance.int(0, 2 ** 30)), options);
    const faults = await runFaults({ deployment, chance, forMs, harm, log });
    const faultsEndMs = performance.now();
    const { submitted, refused } = await submitting;
    let crashes = 0;
    for (const [name, times] of Object.entries(faults))
      if (name.startsWith('kill a renderer')) crashes += times;
    const judged = await judge(deployment, ledger, submitted, crashes, recoveryMs(jobs));
    const endedMs = performance.now() - faultsEndMs;
    await ledger.close();
    return {
      members,
      faults,
      accepted: submitted.length,
      refused,
      statuses: counted(judged.jobs.map(({ status }) => status)),
      attempts: counted(judged.jobs.map(attemptsOf)),
      recoveryMs: endedMs,
      violations: [...harm.violations, ...judged.violations],
    };
  } finally {
    await deployment.stop();
  }
}
