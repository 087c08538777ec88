// Kills an API process in the middle of a write of an asynchronous render: before the command
// reaches MongoDB, or after MongoDB has executed it and before its answer arrives.
import { expect } from 'chai';
import type { JobDocument } from '../../../api/store/store.ts';
import { type AsyncClient, asyncClient, batchClient } from '../../support/async-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { NOISE } from '../../support/pages/noise-page.ts';
import type { ApiReplica, Deployment, DeploymentAccount } from './deployment.ts';
import { commandDocument } from './frames.ts';
import type { JobScene, JobWrite, WrittenJob } from './job-writes.ts';
import type { Rule } from './link.ts';

export type Side = 'before' | 'after';

/** A write, the side of it where the process dies, and what became of its job. */
export interface FailPoint {
  write: JobWrite;
  side: Side;
  account: DeploymentAccount;
  client: AsyncClient;
  /** Undefined when the submission was not answered. */
  job: string | undefined;
  /** Removed when it has stopped the command. */
  rule: Rule;
}

export const bothSides = (writes: () => readonly JobWrite[]): { write: JobWrite; side: Side }[] =>
  (['before', 'after'] as const).flatMap(side => writes().map(write => ({ write, side })));

/** Longer than the start of a render on a busy machine. */
const HIT_MS = 30_000;

/** Silences the connection on which the write is sent, from the command or its answer on. */
function stopAt(
  api: ApiReplica,
  { write, side, ...of }: { write: JobWrite; side: Side } & WrittenJob,
): { of: WrittenJob; rule: Rule } {
  const rule = api.toMongod!.onFrame({
    direction: side === 'before' ? 'up' : 'down',
    matches: (frame, { before }) => {
      const message = side === 'before' ? frame : before;
      return message !== undefined && write.matches(commandDocument(message), of);
    },
    do: 'swallow',
    times: 1,
  });
  return { of, rule };
}

const LARGE = `<!-- ${'x'.repeat(80_000)} -->`;

/** What is submitted. All other scenes run a page that is held. */
const BODIES: Partial<Record<JobScene, object>> = {
  submit: { html: NOISE + LARGE },
  succeed: { html: NOISE },
  'succeed with a large request': { html: NOISE + LARGE },
  'page fails': { html: '<p>x</p>', javascript: 'throw new Error("broken")' },
  'expire ended': { html: '<p>x</p>' },
  'run long': { html: '<p>x</p>', wait_delay: '5s' },
};

/** As many requests as are stored in one write. */
const GROUP = 100;
/** The accepted one has one job. */
const BATCHES: Partial<Record<JobScene, string>> = {
  'submit a batch': JSON.stringify({ html: NOISE + LARGE }),
  'submit a broken batch': `${'{"html":"x"}\n'.repeat(GROUP)}{}`,
};

/**
 * Submits the job of a fail point at an API process with links, which then stops at its write.
 * Resolves when the submission was answered, or is the write.
 */
export async function openFailPoint(
  deployment: Deployment,
  api: ApiReplica,
  { write, side }: { write: JobWrite; side: Side },
): Promise<FailPoint> {
  // On `free` a second job waits for the first.
  const account = await deployment.account(write.scene.endsWith('waiting') ? 'free' : 'scale');
  const client = asyncClient(api.port, account.key);
  const page = () => deployment.probePages.page(account.id, `${write.name} ${side}`);
  const { of, rule } = stopAt(api, { write, side, account: account.id });
  if (write.scene.endsWith('waiting')) {
    await client.submit(page());
    await deployment.probePages.until(account.id, 1);
  }
  const batch = BATCHES[write.scene];
  const submission =
    batch === undefined
      ? client.submit(BODIES[write.scene] ?? page())
      : batchClient(api.port, account.key).submit(batch);
  const point: FailPoint = { write, side, account, client, job: undefined, rule };
  const accepted = submission.then(
    ({ id }) => {
      point.job = id;
      of.job = id;
    },
    () => {},
  );
  await (write.scene.startsWith('submit') ? untilStopped([point]) : accepted);
  return point;
}

export const untilStopped = (points: readonly FailPoint[]): Promise<void> =>
  eventually(() => {
    const missing = points.filter(({ rule }) => rule.hits() === 0);
    expect(missing.map(({ write, side }) => `${side} ${write.name}`)).to.deep.equal([]);
  }, HIT_MS);

/** The write is stopped in the next process at this place: a kill forgets it. */
export function stopNext(api: ApiReplica, point: FailPoint): void {
  const { write, side, account, job } = point;
  point.rule = stopAt(api, { write, side, account: account.id, ...(job && { job }) }).rule;
}

/** Kills the process, and drops what it has sent and MongoDB has not received. */
export async function killStopped(api: ApiReplica): Promise<void> {
  await api.process.kill();
  api.toMongod!.cut();
  api.toMongod!.heal();
}

/** What each fail point says of its job is what happened. */
export function endsAreRight(
  points: readonly FailPoint[],
  jobs: ReadonlyMap<string, JobDocument>,
): void {
  for (const { write, side, account } of points) {
    const own = [...jobs.values()].filter(job => job.account === account.id);
    const why = own.map(({ _id, attemptLog, error }) => JSON.stringify({ _id, attemptLog, error }));
    // On `free`, the first job is the one that the second waits for.
    if (write.scene.endsWith('waiting'))
      expect(own.shift()?.status, `${why}`).to.equal('succeeded');
    const expected = write.ends[side];
    const statuses = own.map(({ status }) => status);
    const ends = expected === undefined ? [] : [expected];
    expect(statuses, `${side} ${write.name} ${why}`).to.deep.equal(ends);
  }
}
