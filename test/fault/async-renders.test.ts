// @proves POST /v1/renders, usage, plans
// Asynchronous renders while processes are killed: every accepted job ends once and is counted once.
import { expect } from 'chai';
import { Binary } from 'mongodb';
import { FINAL_STATUSES } from '../../api/jobs/job-status.ts';
import type { JobDocument, OutboxDocument } from '../../api/store/store.ts';
import { asyncClient } from '../support/async-fixture.ts';
import { eventually } from '../support/eventually.ts';
import {
  type ApiReplica,
  type Deployment,
  type DeploymentAccount,
  startDeployment,
} from './harness/deployment.ts';

const JOBS = 40;
/** Long enough that a kill meets running renders. */
const job = (nth: number) => ({ html: `<h1>Job ${nth}</h1>`, wait_delay: '300ms' });

describe('asynchronous renders under failure', function () {
  this.timeout(180_000);
  let deployment: Deployment;
  let account: DeploymentAccount;

  beforeEach(async () => {
    deployment = await startDeployment({ api: { PRESSROOM_ASYNC: 'on' } });
    account = await deployment.account('scale');
  });
  afterEach(() => deployment?.stop());

  const database = () => deployment.cluster.client.db('pressroom');
  const jobs = () => database().collection<JobDocument>('jobs');

  async function submitAll(api: ApiReplica): Promise<string[]> {
    const client = asyncClient(api.port, account.key);
    const ids: string[] = [];
    for (let nth = 0; nth < JOBS; nth++) ids.push((await client.submit(job(nth))).id);
    return ids;
  }
  const running = async () => jobs().countDocuments({ status: 'running' });
  const untilRunning = (atLeast: number) =>
    eventually(async () => expect(await running()).to.be.at.least(atLeast));

  async function expectEachEndedOnce(ids: readonly string[]): Promise<void> {
    await eventually(
      async () =>
        expect(await jobs().countDocuments({ status: { $in: [...FINAL_STATUSES] } })).to.equal(
          ids.length,
        ),
      120_000,
    );
    const ended = await jobs().find().toArray();
    expect(ended.map(({ _id }) => _id)).to.have.members(ids);
    for (const { status, error } of ended)
      expect({ status, error }).to.deep.equal({ status: 'succeeded', error: undefined });
    const outbox = await database().collection<OutboxDocument>('outbox').find().toArray();
    expect(outbox.map(({ _id }) => _id)).to.have.members(ids);
    expect(await account.usage()).to.equal(ids.length);
    const usages = ended.map(({ usage }) => usage);
    expect(new Set(usages).size).to.equal(ids.length);
    await eventually(async () => expect(await account.leases()).to.equal(0));
  }

  it('runs the jobs of a killed API process elsewhere', async () => {
    const [one, two] = deployment.apis as [ApiReplica, ApiReplica];
    const ids = await submitAll(one);
    await untilRunning(2);
    await one.process.kill();
    await expectEachEndedOnce(ids);
    const client = asyncClient(two.port, account.key);
    const pdf = await client.call('GET', `/${ids[0]}/pdf`);
    expect(pdf.body.subarray(0, 5).toString()).to.equal('%PDF-');
  });

  it('loses none when a worker is killed and every API process restarts', async () => {
    const [one, two] = deployment.apis as [ApiReplica, ApiReplica];
    const ids = await submitAll(one);
    await untilRunning(2);
    await deployment.workers[0]!.process.kill();
    await deployment.workers[0]!.start();
    for (const api of [one, two]) {
      await api.process.kill('SIGTERM');
      await api.start();
    }
    await expectEachEndedOnce(ids);
  });

  it('fails a job whose stored request was changed', async () => {
    const client = asyncClient(deployment.apis[0]!.port, account.key);
    const blocking = await Promise.all(
      Array.from({ length: 7 }, () =>
        client.submit({ html: 'x', wait_for_expression: 'false', timeout: '5s' }),
      ),
    );
    const { id } = await client.submit(job(0));
    const changed = new Binary(Buffer.alloc(100));
    await jobs().updateOne({ _id: id }, { $set: { request: { bytes: 72, inline: changed } } });
    const render = await client.end(id);
    expect(render).to.include({ status: 'failed', attempts: 3 });
    expect(render.error).to.include({ code: 'render_failed', reason: 'internal' });
    for (const each of blocking) await client.call('DELETE', `/${each.id}`);
  });
});
