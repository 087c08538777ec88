import { expect } from 'chai';
import type { Health, Live, Overview } from '../../../api/console/contract/accounts.ts';
import {
  CONSOLE_SECRET,
  type ConsoleFixture,
  consoleFixture,
} from '../../support/console/console-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { html, type Installation, installation } from '../../support/installation.ts';

describe('live data for operators', () => {
  let fixture: ConsoleFixture;
  before(async () => {
    fixture = await consoleFixture({ env: { PRESSROOM_SLOTS: '1' } });
  });
  after(() => fixture?.stop());

  const live = async () =>
    (await fixture.createUser({ operator: true })).good<Live>('GET', '/operator/live');
  const health = async () =>
    (await fixture.createUser({ operator: true })).good<Health>('GET', '/operator/health');

  it('contain the worker with its slots', async () => {
    const { processes } = await eventually(async () => {
      const found = await live();
      expect(found.processes[0]?.workers[0]?.state).to.equal('serving');
      return found;
    });
    expect(processes).to.have.length(1);
    expect(processes[0]).to.include({ pool: 'default' });
    expect(processes[0]!.workers).to.deep.equal([
      { address: fixture.worker.address, state: 'serving', capacity: 1, busy: 0 },
    ]);
  });

  it('contain running and queued renders by account', async () => {
    const calls = [1, 2, 3].map(() => fixture.render({ html: html('slow'), wait_delay: '30s' }));
    for (const call of calls) call.catch(() => {});
    const found = await eventually(async () => {
      const now = await live();
      expect(now.processes[0]!.queue.waiting).to.equal(2);
      expect(now.processes[0]!.workers[0]!.busy).to.equal(1);
      return now;
    });
    expect(found.waitingByAccount).to.deep.equal([
      { id: fixture.accountId, name: fixture.account, waiting: 2 },
    ]);
    expect(found.processes[0]!.queue.oldestMs).to.be.greaterThan(0);
    const viewer = await fixture.createUser({ role: 'viewer' });
    const overview = await viewer.good<Overview>('GET', `/accounts/${fixture.accountId}/overview`);
    expect(overview).to.include({ running: 3, waiting: 2 });
    for (const call of calls) call.disconnect();
    await eventually(async () => expect((await live()).processes[0]!.queue.waiting).to.equal(0));
  });

  it('contain another process only while it runs', async () => {
    const other: Installation = await installation({
      workers: 0,
      uri: fixture.uri,
      env: { PRESSROOM_SECRET: CONSOLE_SECRET },
    });
    try {
      await eventually(async () => expect((await live()).processes).to.have.length(2));
    } finally {
      await other.stop();
    }
    expect((await live()).processes).to.have.length(1);
  });

  it('omit expired reports', async () => {
    const report = (await fixture.store.console.processes.findOne({}))!;
    await fixture.store.console.processes.insertOne({
      ...report,
      _id: 'killed',
      expires: new Date(Date.now() - 1),
    });
    expect((await live()).processes.map(({ id }) => id)).to.deep.equal([report._id]);
    await fixture.store.console.processes.deleteOne({ _id: 'killed' });
  });

  it('are checked, with a hint for each problem', async () => {
    const { checks } = await health();
    const named = new Map(checks.map(check => [check.name, check]));
    expect([...named.keys()]).to.include.members([
      'Database',
      'Database version',
      'Replica set',
      'Clocks',
      'Workers of default',
      'Queue of default',
    ]);
    expect(named.get('Workers of default')).to.include({ status: 'ok' });
    expect(named.get('Clocks')).to.include({ status: 'ok' });
    // The database of the tests has one member.
    expect(named.get('Replica set')).to.include({ status: 'warn' });
    for (const { status, hint } of checks) expect(hint === null).to.equal(status === 'ok');
  });

  it('report the status down without a worker', async () => {
    const without = await consoleFixture({ workers: 0 });
    try {
      const operator = await without.createUser({ operator: true });
      const { status, checks } = await operator.good<Health>('GET', '/operator/health');
      expect(status).to.equal('down');
      expect(checks.find(({ name }) => name === 'Workers of default')).to.include({
        status: 'fail',
        message: 'No worker is connected.',
      });
    } finally {
      await without.stop();
    }
  });

  it('are available only to operators', async () => {
    const owner = await fixture.createUser({ role: 'owner' });
    for (const path of ['live', 'health'])
      expect((await owner.call('GET', `/operator/${path}`)).status, path).to.equal(403);
  });
});
