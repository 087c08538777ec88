// A degraded MongoDB: slow writes, elections, a killed primary, a full disk, a changed password;
// and the errors and logs that follow.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { httpCall } from '../../support/http-call.ts';
import { skip } from '../../support/skip.ts';
import {
  type Deployment,
  type DeploymentAccount,
  type DeploymentOptions,
  startDeployment,
} from '../harness/deployment.ts';
import { openLink } from '../harness/link.ts';
import {
  type PatientCallers,
  startPatientCallers,
  type Visit,
  visit,
} from '../harness/patient-callers.ts';
import { quiet } from '../harness/quiet.ts';
import { mountSmallDisk, type SmallDisk } from '../harness/small-disk.ts';

const GONE = 'MongoDB has no reachable primary';
const BACK = 'MongoDB has a primary again';
const STILL = { html: '<p>x</p>' };
/** The time limit of a database operation, and the tolerance for a busy machine. */
const ANSWERED_MS = 5_000 + 10_000;

describe('a degraded MongoDB', function () {
  this.timeout(240_000);
  let deployment: Deployment;
  let account: DeploymentAccount;
  let open: (() => unknown)[] = [];

  async function start(options: DeploymentOptions): Promise<void> {
    deployment = await startDeployment({ ...options, api: { PRESSROOM_PLANS: 'scale=32' } });
    open.push(() => deployment.stop());
    account = await deployment.account();
  }
  afterEach(async () => {
    for (const close of open.reverse()) await close();
    open = [];
  });

  function come(): PatientCallers {
    const callers = startPatientCallers(deployment, account, 3);
    open.push(() => callers.stop());
    return callers;
  }

  const total = async (name: string, labels?: Record<string, string>) => {
    const samples = await Promise.all(deployment.apis.map(({ process }) => process.metrics()));
    return samples.reduce((sum, each) => sum + each.sum(name, labels), 0);
  };
  const delivered = (visits: readonly Visit[]) => visits.filter(({ status }) => status === 200);

  /** Every error is the database's, with Retry-After; every PDF is counted once; no leases. */
  async function allIsRight(visits: readonly Visit[]): Promise<void> {
    const failed = visits.filter(({ status }) => status !== 200);
    for (const { status, why, retryAfterS, ms } of failed) {
      expect([status, why, retryAfterS]).to.deep.equal([502, 'render_failed/database', 1]);
      expect(ms).to.be.lessThan(ANSWERED_MS);
    }
    await eventually(async () => expect(await total('pressroom_lease_writes_waiting')).to.equal(0));
    const count = delivered(visits).length;
    expect(await account.usage()).to.equal(count);
    expect(await total('pressroom_renders_total', { outcome: 'ok' })).to.equal(count);
    expect(await total('pressroom_renders_settled_total')).to.equal(count);
    expect(await total('pressroom_renders_uncounted_total')).to.equal(0);
    await quiet(deployment);
  }

  it('delays PDFs and counts when each write takes two seconds', async () => {
    await start({ apis: 1, slots: 4 });
    const [api] = deployment.apis;
    await deployment.cluster.fail(['findAndModify', 'update'], {
      blockConnection: true,
      blockTimeMS: 2_000,
    });
    const long = visit(deployment, account, deployment.probePages.page(account.id, 'long'), api!);
    await deployment.probePages.until(account.id, 1);
    const aliveMs = performance.now();
    const visits = await Promise.all(
      Array.from({ length: 6 }, () => visit(deployment, account, STILL, api!)),
    );
    const bad = await visit(deployment, account, { ...STILL, wait_for_selector: '][' }, api!);
    expect([bad.status, bad.why]).to.deep.equal([400, 'validation_error']);
    // Longer than a lease: slow renewals keep it.
    await sleep(Math.max(0, aliveMs + 17_000 - performance.now()));
    expect(deployment.probePages.alive(account.id)).to.equal(1);
    deployment.probePages.release(account.id);
    visits.push(await long);
    for (const { status, usage, ms } of visits) {
      expect([status, usage]).to.deep.equal([200, undefined]);
      // Two seconds for the admission, and one for the settlement.
      expect(ms).to.be.at.least(3_000);
    }
    const { log } = api!.process;
    // The last line may be logged after its response.
    await eventually(() => {
      const late = log.filter(({ msg }) => msg === 'a render is not counted yet, retrying');
      expect(late.map(line => line['reason'])).to.deep.equal(
        visits.map(() => 'MongoDB did not respond within 1000 ms'),
      );
    });
    expect(log.filter(({ msg }) => msg === GONE)).to.deep.equal([]);
    const [took, times] = await Promise.all(
      ['sum', 'count'].map(each =>
        total(`pressroom_mongodb_operation_duration_seconds_${each}`, { operation: 'admit' }),
      ),
    );
    expect(took! / times!).to.be.at.least(2);
    await deployment.cluster.working();
    await allIsRight(visits);
  });

  it('causes at most some clear errors when its primary steps down or is killed', async () => {
    await start({ members: 3 });
    const callers = come();
    const served = () => callers.next(({ status }) => status === 200);
    await served();
    await deployment.cluster.stepDown();
    await served();
    const dead = await deployment.cluster.primary();
    await dead.kill();
    const host = `127.0.0.1:${dead.port}`;
    for (const { process } of deployment.apis) {
      const line = await process.logLine(GONE, ({ members }) =>
        /ECONN|closed/.test((members as Record<string, string>)[host]!),
      );
      expect(line['calls']).to.equal('wait');
      expect(Object.values(line['members'] as object)).to.include('is a secondary');
      await process.logLine(BACK);
    }
    await served();
    await dead.start();
    await served();
    await callers.stop();
    expect(delivered(callers.visits).length).to.be.greaterThan(callers.visits.length / 2);
    await allIsRight(callers.visits);
  });

  it('is detected when it rejects a login that was valid before', async () => {
    await start({ apis: 0 });
    const admin = deployment.cluster.client.db('admin');
    await admin.command({ createUser: 'press', pwd: 'the first', roles: ['readWriteAnyDatabase'] });
    const link = await openLink(deployment.cluster.members[0]!.port, 'mongodb');
    open.push(() => link.close());
    const api = await deployment.addApi({
      MONGODB_URI: deployment.cluster
        .uriThrough(link.port)
        .replace('//', '//press:the%20first@')
        .concat('&authSource=admin'),
    });
    const visits = [await visit(deployment, account, STILL, api)];
    await admin.command({ updateUser: 'press', pwd: 'the second' });
    visits.push(await visit(deployment, account, STILL, api));
    expect(delivered(visits).length).to.equal(2);

    // Only a new connection needs the password.
    link.cut();
    for (let count = 0; count < 3; count++) {
      const failed = await visit(deployment, account, STILL, api);
      expect([failed.status, failed.why]).to.deep.equal([502, 'render_failed/database']);
      visits.push(failed);
    }
    const line = await api.process.logLine(
      'MongoDB rejected the login; the user or password has changed',
    );
    expect(line).to.deep.include({
      level: 'error',
      user: 'press',
      member: `127.0.0.1:${link.port}`,
    });
    expect(JSON.stringify(api.process.log))
      .to.not.contain('the first')
      .and.not.contain('the%20first');
    expect([await api.process.probe('/livez'), await api.process.probe('/readyz')]).to.deep.equal([
      200, 200,
    ]);
    const { checks } = JSON.parse((await httpCall(api.port, 'GET', '/readyz')).body.toString());
    expect(checks.database).to.deep.equal({ status: 'unavailable' });

    await admin.command({ updateUser: 'press', pwd: 'the first' });
    await eventually(async () => {
      const again = await visit(deployment, account, STILL, api);
      visits.push(again);
      expect(again.status).to.equal(200);
    });
    await allIsRight(visits);
  });

  it('recovers with all acknowledged writes after its disk was full', async function () {
    let disk: SmallDisk;
    try {
      disk = mountSmallDisk(640);
    } catch (error) {
      skip(this, `A small disk can not be mounted here: ${(error as Error).message}`);
    }
    open.push(() => disk.remove());
    await start({ dataDir: disk.path });
    const [member] = deployment.cluster.members;
    const callers = come();
    await callers.next(({ status }) => status === 200);
    disk.fill();
    // Its checkpoint, once a minute, which crashes it.
    await deployment.cluster.client
      .db('admin')
      .command({ fsync: 1 })
      .catch(() => {});
    await callers.next(({ why }) => why === 'render_failed/database');
    for (const { process } of deployment.apis) {
      const { members } = await process.logLine(GONE);
      expect(members)
        .to.have.property(`127.0.0.1:${member!.port}`)
        .that.matches(/ECONNREFUSED|closed|ECONNRESET/);
    }
    disk.makeRoom();
    await member!.kill();
    await member!.start();
    for (const { process } of deployment.apis) await process.logLine(BACK);
    await callers.next(({ status }) => status === 200);
    await callers.stop();
    await allIsRight(callers.visits);
  });
});
