// @proves DELETE /v1/renders/{id}
// Kills an API process at each write that cancels, expires or repairs an asynchronous render.
import { expect } from 'chai';
import type { JobDocument } from '../../../api/store/store.ts';
import { eventually } from '../../support/eventually.ts';
import { type ApiReplica, type Deployment, startDeployment } from '../harness/deployment.ts';
import {
  bothSides,
  endsAreRight,
  type FailPoint,
  killStopped,
  openFailPoint,
  stopNext,
  untilStopped,
} from '../harness/fail-points.ts';
import { type JobLedger, openJobLedger } from '../harness/job-ledger.ts';
import { type JobScene, jobWrites } from '../harness/job-writes.ts';

/** So few that a process has stopped at each of them before the first gives up, after 5 s. */
const AT_ONCE = 4;
const RECOVERY_MS = 90_000;

describe('an API process that is killed while it repairs asynchronous renders', function () {
  this.timeout(600_000);
  let deployment: Deployment;
  let ledger: JobLedger;
  let api: ApiReplica;

  beforeEach(async () => {
    const options = { apis: 1, slots: 4, links: true, api: { PRESSROOM_ASYNC: 'on' } };
    deployment = await startDeployment(options);
    ledger = await openJobLedger(deployment);
    [api] = deployment.apis as [ApiReplica];
  });
  afterEach(async () => {
    await ledger?.close();
    await deployment?.stop();
  });

  const pointsOf = (...scenes: JobScene[]) =>
    bothSides(() => jobWrites().repair.filter(({ scene }) => scenes.includes(scene)));
  const releaseAll = () => {
    for (const { id } of deployment.accounts) deployment.probePages.release(id);
  };
  async function expectRight(points: readonly FailPoint[]): Promise<void> {
    releaseAll();
    endsAreRight(points, await ledger.allEnded(points, RECOVERY_MS));
  }
  async function open(each: ReturnType<typeof pointsOf>[number]): Promise<FailPoint> {
    const point = await openFailPoint(deployment, api, each);
    if (each.write.scene === 'expire ended') await point.client.end(point.job!);
    else await deployment.probePages.until(point.account.id, 1);
    return point;
  }

  it('loses none at a write of a shutdown', async () => {
    await api.process.kill('SIGTERM');
    await api.start({ PRESSROOM_DRAIN_TIMEOUT: '1s' });
    const points: FailPoint[] = [];
    for (const each of pointsOf('shut down')) points.push(await open(each));
    void api.process.kill('SIGTERM');
    await untilStopped(points);
    await killStopped(api);
    await api.start();
    await expectRight(points);
  });

  it('loses none at a write of a cancel', async () => {
    const writes = pointsOf('cancel waiting', 'cancel running');
    const ended: FailPoint[] = [];
    while (writes.length > 0) {
      const points: FailPoint[] = [];
      for (const each of writes.splice(0, AT_ONCE)) points.push(await open(each));
      for (const { client, job } of points) client.call('DELETE', `/${job}`).catch(() => {});
      await untilStopped(points);
      releaseAll();
      await killStopped(api);
      await api.start();
      ended.push(...points);
    }
    await expectRight(ended);
  });

  /** Makes the next sweep find the job of a fail point whose process was killed. */
  async function prepare({ write: { scene }, account, job }: FailPoint): Promise<void> {
    const { client } = deployment.cluster;
    const jobs = client.db('pressroom').collection<JobDocument>('jobs');
    const changed = scene.startsWith('expire')
      ? { expiresAt: new Date(Date.now() - 1_000) }
      : { attemptLog: Array(scene === 'third orphan' ? 3 : 1).fill({ startedAt: new Date() }) };
    await jobs.updateOne({ _id: job! }, { $set: changed });
    if (scene.startsWith('expire')) return;
    const accounts = client
      .db('pressroom')
      .collection<{ _id: string; leases: unknown[] }>('accounts');
    await accounts.updateOne({ _id: account.id }, { $set: { leases: [] } });
  }

  /** Otherwise the kills of all these cases interrupt a job three times. */
  const untilOthersEnded = () =>
    eventually(async () => {
      const running = (await api.process.metrics()).sum('pressroom_async_running');
      expect(running).to.be.at.most(1);
    });

  it('loses none at a write of a sweep', async () => {
    const scenes = ['orphan', 'third orphan', 'expire waiting', 'expire running', 'expire ended'];
    const ended: FailPoint[] = [];
    for (const each of pointsOf(...(scenes as JobScene[]))) {
      // On the process that has stopped at the write before.
      const point = await open(each);
      await untilOthersEnded();
      await killStopped(api);
      await prepare(point);
      stopNext(api, point);
      await api.start();
      await untilStopped([point]);
      deployment.probePages.release(point.account.id);
      ended.push(point);
    }
    await killStopped(api);
    await api.start();
    await expectRight(ended);
  });
});
