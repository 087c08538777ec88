// @proves POST /v1/renders, usage
// Kills an API process at each write of a submission and of an attempt.
import { expect } from 'chai';
import { type Deployment, startDeployment } from './harness/deployment.ts';
import {
  bothSides,
  endsAreRight,
  type FailPoint,
  killStopped,
  openFailPoint,
  untilStopped,
} from './harness/fail-points.ts';
import { type JobLedger, openJobLedger } from './harness/job-ledger.ts';
import { jobWrites } from './harness/job-writes.ts';

/** So few that a process has stopped at each of them before the first gives up, after 5 s. */
const AT_ONCE = 5;
/** A lease, the sweep after it, and the renders. */
const RECOVERY_MS = 60_000;
/** A lease lasts 13 s without a renewal. The one before was up to 3 s earlier. */
const BLOCKED_MS = 10_000;

describe('an API process that is killed at a write of an asynchronous render', function () {
  this.timeout(240_000);
  let deployment: Deployment;
  let ledger: JobLedger;

  before(async () => {
    deployment = await startDeployment({
      apis: 1,
      slots: 3,
      links: true,
      api: { PRESSROOM_ASYNC: 'on' },
    });
    ledger = await openJobLedger(deployment);
  });
  after(async () => {
    await ledger?.close();
    await deployment?.stop();
  });

  it('loses no job and counts none twice', async () => {
    const api = deployment.apis[0]!;
    const writes = bothSides(() => jobWrites().run);
    const ended: FailPoint[] = [];
    while (writes.length > 0) {
      // A job that is killed in three rounds fails.
      await ledger.untilRetriedEnd(RECOVERY_MS);
      const points: FailPoint[] = [];
      for (const each of writes.splice(0, AT_ONCE))
        points.push(await openFailPoint(deployment, api, each));
      await untilStopped(points);
      await killStopped(api);
      await api.start();
      ended.push(...points);
    }
    endsAreRight(ended, await ledger.allEnded(ended, RECOVERY_MS));
  });

  it('does not block the other renders of its account', async () => {
    const [api] = deployment.apis;
    const other = await deployment.addApi();
    const count = jobWrites().run[0]!;
    const point = await openFailPoint(deployment, api!, { write: count, side: 'after' });
    const { account } = point;
    const page = deployment.probePages.page(account.id, 'a synchronous render');
    const held = deployment.render(account, page, other);
    await untilStopped([point]);
    await deployment.probePages.until(account.id, 1);
    await killStopped(api!);
    const killedMs = performance.now();
    let status = 0;
    while (status !== 200)
      ({ status } = await deployment.render(account, { html: '<p>x</p>' }, other));
    expect(performance.now() - killedMs).to.be.lessThan(BLOCKED_MS);
    deployment.probePages.release(account.id);
    expect((await held).status).to.equal(200);
  });
});
