// @proves POST /v1/renders, usage
// Asynchronous renders while MongoDB, a worker or Chrome fails, and while an API process is frozen for
// longer than a lease lasts.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { attemptsOf } from '../../../api/jobs/attempt-log.ts';
import type { JobDocument, JobStatus } from '../../../api/store/store.ts';
import { type AsyncClient, asyncClient } from '../../support/async-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { chromeProcesses } from '../harness/chrome-processes.ts';
import {
  type ApiReplica,
  type Deployment,
  type DeploymentAccount,
  type DeploymentOptions,
  startDeployment,
} from '../harness/deployment.ts';
import { endsAreRight, openFailPoint, type Side, untilStopped } from '../harness/fail-points.ts';
import { type JobLedger, openJobLedger } from '../harness/job-ledger.ts';
import { jobWrites } from '../harness/job-writes.ts';

const JOBS = 60;
const ENDED_MS = 120_000;
/** A lease lasts 15 s. */
const FROZEN_MS = 22_000;

describe('asynchronous renders during outages', function () {
  this.timeout(300_000);
  let deployment: Deployment;
  let ledger: JobLedger;
  let account: DeploymentAccount;
  let client: AsyncClient;

  async function start(options: DeploymentOptions): Promise<void> {
    deployment = await startDeployment({ ...options, api: { PRESSROOM_ASYNC: 'on' } });
    ledger = await openJobLedger(deployment);
    account = await deployment.account();
    client = asyncClient(deployment.apis[0]!.port, account.key);
  }
  afterEach(async () => {
    await ledger?.close();
    await deployment?.stop();
  });

  const jobs = () => deployment.cluster.client.db('pressroom').collection<JobDocument>('jobs');
  const untilSome = (...statuses: JobStatus[]) =>
    eventually(async () => {
      for (const status of statuses)
        expect(await jobs().countDocuments({ status }), status).to.be.greaterThan(0);
    });
  async function submitAll(): Promise<{ job: string }[]> {
    const body = { html: '<p>x</p>', wait_delay: '300ms' };
    const submitted: { job: string }[] = [];
    while (submitted.length < JOBS) submitted.push({ job: (await client.submit(body)).id });
    return submitted;
  }
  async function expectSucceeded(submitted: { job: string }[]): Promise<void> {
    const ended = await ledger.allEnded(submitted, ENDED_MS);
    const statuses = new Set([...ended.values()].map(({ status }) => status));
    expect([...statuses]).to.deep.equal(['succeeded']);
  }

  it('survive a primary that is killed, and one that steps down', async () => {
    await start({ members: 3 });
    const { cluster } = deployment;
    const submitted = await submitAll();
    await untilSome('queued', 'running', 'succeeded');
    const primary = await cluster.primary();
    await primary.kill();
    await eventually(async () => expect(await cluster.primary()).not.to.equal(primary));
    await primary.start();
    await untilSome('queued', 'running', 'succeeded');
    await cluster.stepDown();
    await expectSucceeded(submitted);
  });

  it('survive the only member of a replica set, killed and restarted', async () => {
    await start({});
    const [member] = deployment.cluster.members;
    const submitted = await submitAll();
    for (let nth = 0; nth < 2; nth++) {
      await untilSome('queued', 'running');
      await member!.kill();
      await sleep(1_000);
      await member!.start();
    }
    await expectSucceeded(submitted);
  });

  it('are ended by the attempt that runs them, not by a frozen process', async () => {
    await start({ apis: 1 });
    const [frozen] = deployment.apis;
    const { probePages } = deployment;
    const { id } = await client.submit(probePages.page(account.id, 'frozen'));
    await probePages.until(account.id, 1);
    const other = await deployment.addApi();
    await frozen!.process.freeze();
    await sleep(FROZEN_MS);
    await eventually(async () => expect(probePages.calls('frozen')).to.equal(2));
    frozen!.process.thaw();
    // The page of the frozen process ends while the other one still runs.
    probePages.letGo('frozen');
    const ended = await ledger.allEnded([{ job: id }], ENDED_MS);
    expect(ended.get(id)).to.include({ status: 'succeeded' });
    expect(attemptsOf(ended.get(id)!)).to.equal(2);
    expect((await asyncClient(other.port, account.key).read(id)).status).to.equal('succeeded');
    expect(ledger.statuses(id)).to.deep.equal([
      ...['queued', 'running', 'queued', 'running', 'succeeded'],
    ]);
  });

  it('are ended once by a process that was frozen while it ended them', async () => {
    await start({ apis: 1, links: true });
    const [frozen] = deployment.apis as [ApiReplica];
    const open = (wanted: string, side: Side) => {
      const write = jobWrites().run.find(({ name }) => name === wanted)!;
      return openFailPoint(deployment, frozen, { write, side });
    };
    const points = [
      await open('count and end of the lease', 'after'),
      await open('success: commit', 'before'),
      await open('success: commit', 'after'),
    ];
    await untilStopped(points);
    await frozen.process.freeze();
    await deployment.addApi();
    await eventually(() => {
      for (const { job } of points) expect(ledger.statuses(job!)).to.include('succeeded');
    }, 2 * FROZEN_MS);
    frozen.toMongod!.heal();
    frozen.process.thaw();
    const ended = await ledger.allEnded(points, ENDED_MS);
    endsAreRight(points, ended);
    // The transactions of the first two were aborted.
    expect(points.map(({ job }) => attemptsOf(ended.get(job!)!))).to.deep.equal([2, 2, 1]);
  });

  it('survive a Chrome that is killed while it renders', async () => {
    await start({ workers: 1, slots: 1 });
    const { id } = await client.submit(deployment.probePages.page(account.id, 'chrome'));
    await deployment.probePages.until(account.id, 1);
    const { pid } = deployment.workers[0]!.process;
    for (const chrome of chromeProcesses(pid).filter(({ kind }) => kind === 'browser'))
      process.kill(chrome.pid, 'SIGKILL');
    deployment.probePages.release(account.id);
    await expectSucceeded([{ job: id }]);
  });

  it('fail with a reason after their worker died in three attempts', async () => {
    await start({ workers: 1, slots: 1 });
    const [worker] = deployment.workers;
    const { id } = await client.submit(deployment.probePages.page(account.id, 'worker'));
    for (let deaths = 0; (await client.read(id)).status !== 'failed'; ) {
      if (deployment.probePages.alive(account.id) === 0) {
        await sleep(100);
        continue;
      }
      // A render is tried twice in an attempt.
      expect(++deaths).to.be.at.most(6);
      await worker!.process.kill();
      await worker!.start();
    }
    const ended = await ledger.allEnded([{ job: id }], ENDED_MS);
    expect(ended.get(id)).to.include({ status: 'failed' });
    expect(attemptsOf(ended.get(id)!)).to.equal(3);
    expect(ended.get(id)!.error).to.include({ code: 'render_failed', reason: 'worker_lost' });
    expect(await account.usage()).to.equal(0);
  });
});
