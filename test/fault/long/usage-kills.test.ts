// Usage when an API process is killed with uncounted renders, or stopped during an outage.
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { countedRight } from '../harness/counted-right.ts';
import { openCustomers } from '../harness/customers.ts';
import {
  type Deployment,
  type DeploymentAccount,
  type DeploymentOptions,
  startDeployment,
} from '../harness/deployment.ts';
import { type Ledger, openLedger } from '../harness/ledger.ts';
import { quiet } from '../harness/quiet.ts';
import { chanceOfThisRun } from '../harness/random.ts';

const RENDERS = 200;

describe('the usage of customers of an API process that ends', function () {
  this.timeout(200_000);
  let deployment: Deployment;
  let ledger: Ledger;

  async function open(options: DeploymentOptions): Promise<void> {
    deployment = await startDeployment(options);
    ledger = await openLedger(deployment.cluster);
  }
  afterEach(async () => {
    await ledger?.close();
    await deployment?.stop();
  });

  it(`is between the delivered and the started renders when the process is killed during ${RENDERS} renders`, async () => {
    await open({ api: { PRESSROOM_PLANS: 'scale=32' } });
    const customers = await openCustomers(deployment);
    const [victim] = deployment.apis;
    const rush = customers.come(RENDERS, chanceOfThisRun('usage with a kill'));
    await rush.reached(RENDERS / 2);
    await victim!.process.kill();
    await rush.reached((3 * RENDERS) / 4);
    await victim!.start();
    const visits = await rush.over;
    const broken = visits.filter(({ end }) => end === 'broken');
    expect(broken.length).to.be.greaterThan(0);
    expect(broken.every(({ api }) => api === victim)).to.equal(true);
    await countedRight(deployment, customers, ledger, visits, victim);
  });

  /** A render that gets its PDF but cannot be counted, since `away` makes MongoDB unavailable. */
  async function deliver(account: DeploymentAccount, away: () => Promise<void>): Promise<string> {
    const call = deployment.render(account, deployment.probePages.page(account.id, 'a page'));
    await deployment.probePages.until(account.id, 1);
    await away();
    deployment.probePages.release(account.id);
    const answer = await call;
    expect(answer.status).to.equal(200);
    expect(answer.headers).to.not.have.property('x-usage-count');
    return answer.headers['x-request-id']!;
  }
  const linesOf = (requestId: string) =>
    deployment.apis[0]!.process.log.filter(line => line['requestId'] === requestId);

  it('includes a render during an outage when MongoDB recovers before the process must exit', async () => {
    await open({ apis: 1 });
    const account = await deployment.account();
    const [api] = deployment.apis;
    const [mongod] = deployment.cluster.members;
    await deliver(account, mongod!.kill);
    const ended = api!.process.kill('SIGTERM');
    await api!.process.logLine('stopping');
    await mongod!.start();
    expect(await ended).to.equal(0);
    expect(await account.usage()).to.equal(1);
    expect(await account.leases()).to.equal(0);
    await ledger.caughtUp();
    expect(ledger.wrong()).to.deep.equal([]);
  });

  it('misses a render, with a log line, when the process must exit before MongoDB recovers', async () => {
    await open({ apis: 1, api: { PRESSROOM_DRAIN_TIMEOUT: '2s' } });
    const account = await deployment.account();
    const [api] = deployment.apis;
    const [mongod] = deployment.cluster.members;
    const requestId = await deliver(account, mongod!.kill);
    expect(await api!.process.kill('SIGTERM')).to.equal(1);
    const last = linesOf(requestId).find(
      ({ msg }) => msg === 'a render was delivered but could not be counted',
    );
    expect(last).to.include({ level: 'error', accountId: account.id });
    expect(last!['leaseId']).to.be.a('string');
    await mongod!.start();
    expect(await account.usage()).to.equal(0);
    await quiet(deployment);
  });

  it('is logged before an uncounted render is delivered, so that a kill leaves a trace', async () => {
    await open({ apis: 1 });
    const account = await deployment.account();
    const [api] = deployment.apis;
    const [mongod] = deployment.cluster.members;
    const requestId = await deliver(account, mongod!.freeze);
    const [line] = await eventually(() => {
      const lines = linesOf(requestId).filter(
        ({ msg }) => msg === 'a render is not counted yet, retrying',
      );
      expect(lines.length).to.equal(1);
      return lines;
    });
    await api!.process.kill();
    mongod!.thaw();
    // MongoDB may still execute what it received before the kill.
    await quiet(deployment);
    const { leases } = await account.read();
    expect(line).to.include({ level: 'warn', accountId: account.id });
    expect(line!['leaseId']).to.be.a('string');
    expect(leases.map(({ id }) => id)).to.deep.equal(
      (await account.usage()) === 1 ? [] : [line!['leaseId']],
    );
    await ledger.caughtUp();
    expect(ledger.wrong()).to.deep.equal([]);
  });
});
