// @proves POST /v1/renders
// Upgrades and rollbacks of the API processes, one after the other, while renders wait.
import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { JobDocument } from '../../../api/store/store.ts';
import { asyncClient } from '../../support/async-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { type JobLedger, openJobLedger } from '../harness/job-ledger.ts';
import { ROOT } from '../harness/pressroom-process.ts';

const run = promisify(execFile);
const git = async (...args: string[]) => (await run('git', args, { cwd: ROOT })).stdout.trim();

const JOBS = 2_000;
/** The plan allows more requests in progress. */
const SUBMITTED_AT_ONCE = 8;
const ENDED_MS = 900_000;
/** A time in which a process that knew the jobs would start some. */
const OLD_SERVES_MS = 5_000;

describe('a change of version while asynchronous renders wait', function () {
  this.timeout(1_500_000);
  const at = temporaryFolder();
  let old: string;
  let deployment: Deployment;
  let ledger: JobLedger;

  before(async function () {
    const log = await git('log', '--diff-filter=A', '--format=%H', '--', 'api/jobs/job-id.ts');
    const first = log.split('\n').at(-1);
    const known =
      first && (await git('rev-parse', '--verify', '--quiet', `${first}~1`).catch(() => ''));
    if (!known) skip(this, 'this clone has no commit without asynchronous renders');
    old = at('old');
    await mkdir(old);
    await git('archive', `--output=${old}.tar`, known as string);
    await run('tar', ['-xf', `${old}.tar`, '-C', old]);
    await symlink(join(ROOT, 'node_modules'), join(old, 'node_modules'));
  });
  beforeEach(async () => {
    // The version before ignores the variable.
    deployment = await startDeployment({ slots: 3, api: { PRESSROOM_ASYNC: 'on' } });
    ledger = await openJobLedger(deployment);
  });
  afterEach(async () => {
    await ledger?.close();
    await deployment?.stop();
  });

  const jobs = () => deployment.cluster.client.db('pressroom').collection<JobDocument>('jobs');
  const count = (status: JobDocument['status']) => jobs().countDocuments({ status });
  const snapshot = () =>
    jobs()
      .find({}, { projection: { 'pdf.inline': 0 } })
      .sort({ _id: 1 })
      .toArray();

  async function submitAll(): Promise<{ job: string }[]> {
    const account = await deployment.account();
    const clients = deployment.apis.map(({ port }) => asyncClient(port, account.key));
    const submitted: { job: string }[] = [];
    let begun = 0;
    const caller = async () => {
      while (begun < JOBS) {
        const client = clients[begun++ % clients.length]!;
        submitted.push({ job: (await client.submit({ html: '<p>x</p>' })).id });
      }
    };
    await Promise.all(Array.from({ length: SUBMITTED_AT_ONCE }, caller));
    return submitted;
  }
  /** One process after the other. */
  async function replaceAll(root?: string): Promise<void> {
    for (const api of deployment.apis) {
      expect(await api.process.kill('SIGTERM')).to.equal(0);
      await api.start({}, root);
    }
  }
  async function expectAllSucceeded(submitted: { job: string }[]): Promise<void> {
    const ended = await ledger.allEnded(submitted, ENDED_MS);
    expect(ended.size).to.equal(submitted.length);
    const others = [...ended.values()].filter(({ status }) => status !== 'succeeded');
    expect(others).to.deep.equal([]);
  }

  it(`loses none of ${JOBS} in a rollback to the version before them, and goes on after it`, async () => {
    const submitted = await submitAll();
    await eventually(async () => expect(await count('succeeded')).to.be.greaterThan(100));
    await replaceAll(old);
    const before = await snapshot();
    expect(await count('running')).to.equal(0);
    expect(await count('queued')).to.be.greaterThan(0);
    const account = await deployment.account();
    const endMs = performance.now() + OLD_SERVES_MS;
    while (performance.now() < endMs)
      expect((await deployment.render(account, { html: '<p>x</p>' })).status).to.equal(200);
    expect(await snapshot()).to.deep.equal(before);
    await replaceAll();
    await sleep(1_000);
    expect(await count('queued')).to.be.greaterThan(0);
    await replaceAll();
    await expectAllSucceeded(submitted);
  });
});
