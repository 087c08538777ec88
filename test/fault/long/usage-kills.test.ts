// Usage when an API process is killed with uncounted renders, or stopped during an outage.
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { countedRight } from '../harness/counted-right.ts';
import { openCustomers } from '../harness/customers.ts';
import { type Ledger, openLedger } from '../harness/ledger.ts';
import { quiet } from '../harness/quiet.ts';
import { chanceOfThisRun } from '../harness/random.ts';
import { type Site, type SiteAccount, type SiteOptions, startSite } from '../harness/site.ts';

const RENDERS = 200;

describe('the usage of customers of an API process that ends', function () {
  this.timeout(200_000);
  let site: Site;
  let ledger: Ledger;

  async function open(options: SiteOptions): Promise<void> {
    site = await startSite(options);
    ledger = await openLedger(site.cluster);
  }
  afterEach(async () => {
    await ledger?.close();
    await site?.stop();
  });

  it(`is between the delivered and the started renders when the process is killed during ${RENDERS} renders`, async () => {
    await open({ api: { PRESSROOM_PLANS: 'scale=32' } });
    const customers = await openCustomers(site);
    const [victim] = site.apis;
    const rush = customers.come(RENDERS, chanceOfThisRun('usage with a kill'));
    await rush.reached(RENDERS / 2);
    await victim!.process.kill();
    await rush.reached((3 * RENDERS) / 4);
    await victim!.start();
    const visits = await rush.over;
    const broken = visits.filter(({ end }) => end === 'broken');
    expect(broken.length).to.be.greaterThan(0);
    expect(broken.every(({ api }) => api === victim)).to.equal(true);
    await countedRight(site, customers, ledger, visits, victim);
  });

  /** A render that gets its PDF but cannot be counted, since `away` makes MongoDB unavailable. */
  async function deliver(account: SiteAccount, away: () => Promise<void>): Promise<string> {
    const call = site.render(account, site.witness.page(account.id, 'a page'));
    await site.witness.until(account.id, 1);
    await away();
    site.witness.release(account.id);
    const answer = await call;
    expect(answer.status).to.equal(200);
    expect(answer.headers).to.not.have.property('x-usage-count');
    return answer.headers['x-request-id']!;
  }
  const linesOf = (requestId: string) =>
    site.apis[0]!.process.log.filter(line => line['requestId'] === requestId);

  it('includes a render during an outage when MongoDB recovers before the process must exit', async () => {
    await open({ apis: 1 });
    const account = await site.account();
    const [api] = site.apis;
    const [mongod] = site.cluster.members;
    await deliver(account, mongod!.kill);
    const ended = api!.process.kill('SIGTERM');
    await api!.process.said('stopping');
    await mongod!.start();
    expect(await ended).to.equal(0);
    expect(await account.usage()).to.equal(1);
    expect(await account.leases()).to.equal(0);
    await ledger.caughtUp();
    expect(ledger.wrong()).to.deep.equal([]);
  });

  it('misses a render, with a log line, when the process must exit before MongoDB recovers', async () => {
    await open({ apis: 1, api: { PRESSROOM_DRAIN_TIMEOUT: '2s' } });
    const account = await site.account();
    const [api] = site.apis;
    const [mongod] = site.cluster.members;
    const requestId = await deliver(account, mongod!.kill);
    expect(await api!.process.kill('SIGTERM')).to.equal(1);
    const last = linesOf(requestId).find(
      ({ msg }) => msg === 'a render was delivered but could not be counted',
    );
    expect(last).to.include({ level: 'error', accountId: account.id });
    expect(last!['leaseId']).to.be.a('string');
    await mongod!.start();
    expect(await account.usage()).to.equal(0);
    await quiet(site);
  });

  it('is logged before an uncounted render is delivered, so that a kill leaves a trace', async () => {
    await open({ apis: 1 });
    const account = await site.account();
    const [api] = site.apis;
    const [mongod] = site.cluster.members;
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
    await quiet(site);
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
