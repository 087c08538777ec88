// @proves X-Usage-Count, usage

import { expect } from 'chai';
import { type LeaseFixture, leaseFixture, QUICK, until } from '../../support/lease-fixture.ts';

const never = new AbortController().signal;

describe('settling and releasing a lease', () => {
  let fixture: LeaseFixture;
  before(async () => {
    fixture = await leaseFixture();
  });
  afterEach(() => fixture.reset());
  after(() => fixture?.close());

  it('counts a render once when it is settled twice', async () => {
    const free = await fixture.account('free');
    const leases = await fixture.replica();
    const lease = await leases.admit(free.caller);
    expect(await leases.settle(lease)).to.equal(1);
    expect(await leases.settle(lease)).to.equal(undefined);
    void leases.release(lease);
    const operations = fixture.operations(fixture.store, { pastDueGraceMs: 0 });
    expect(await operations.settle(free.id, lease.id)).to.equal(undefined);
    expect(await free.read()).to.deep.include({ leases: [] });
    expect(await free.usage()).to.equal(1);
  });

  it('counts each of eight renders that end concurrently', async () => {
    const scale = await fixture.account('scale');
    const leases = await fixture.replica();
    const running = await Promise.all(Array.from({ length: 8 }, () => leases.admit(scale.caller)));
    const counts = await Promise.all(running.map(lease => leases.settle(lease)));
    expect(counts.sort()).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('counts a render whose lease has expired', async () => {
    const free = await fixture.account('free');
    const leases = await fixture.replica();
    const lease = await leases.admit(free.caller);
    await fixture.store.accounts.updateOne(
      { _id: free.id },
      { $set: { 'leases.0.expires': new Date(Date.now() - 60e3) } },
    );
    expect(await leases.settle(lease)).to.equal(1);
  });

  it('starts a new count with a new month', async () => {
    const free = await fixture.account('free', { usage: { period: '2001-01', count: 41 } });
    const leases = await fixture.replica();
    expect(await leases.settle(await leases.admit(free.caller))).to.equal(1);
    const { usage } = await free.read();
    expect(usage).to.deep.equal({ period: new Date().toISOString().slice(0, 7), count: 1 });
  });

  it('keeps the count when the clock of a new primary is behind', async () => {
    const free = await fixture.account('free', { usage: { period: '2999-01', count: 41 } });
    const leases = await fixture.replica();
    expect(await leases.settle(await leases.admit(free.caller))).to.equal(42);
  });

  it('releases without counting', async () => {
    const free = await fixture.account('free');
    const leases = await fixture.replica();
    const lease = await leases.admit(free.caller);
    void leases.release(lease);
    void leases.release(lease);
    await until(async () => (await free.leaseCount()) === 0);
    expect(await free.usage()).to.equal(0);
    expect(await leases.settle(lease)).to.equal(undefined);
    expect(await free.usage()).to.equal(0);
  });

  it('does not wait for a slow database and still counts once', async () => {
    const free = await fixture.account('free');
    const leases = await fixture.replica(QUICK);
    const lease = await leases.admit(free.caller);
    await fixture.failCommands(
      'findAndModify',
      { blockConnection: true, blockTimeMS: 500 },
      { times: 1 },
    );
    expect(await leases.settle(lease)).to.equal(undefined);
    void leases.release(lease);
    expect(leases.counts()).to.deep.equal({ held: 0, waiting: 1 });
    await until(() => leases.counts().waiting === 0);
    expect(await free.usage()).to.equal(1);
    expect(await free.leaseCount()).to.equal(0);
  });

  it('counts after an outage and flushes at shutdown', async () => {
    const free = await fixture.account('free');
    const leases = await fixture.replica({ ...QUICK, settleWithinMs: 50 });
    const lease = await leases.admit(free.caller);
    await fixture.failCommands('findAndModify', { closeConnection: true });
    expect(await leases.settle(lease)).to.equal(undefined);
    expect(await free.usage()).to.equal(0);
    await fixture.clearFailPoints();
    await leases.stop(never);
    expect(await free.usage()).to.equal(1);
  });

  it('logs a render that could not be counted', async () => {
    const free = await fixture.account('free');
    const leases = await fixture.replica({ ...QUICK, settleWithinMs: 50 });
    const lease = await leases.admit(free.caller);
    await fixture.failCommands('findAndModify', { errorCode: 11602 });
    await leases.settle(lease);
    await leases.stop(AbortSignal.abort());
    const line = fixture.lines.find(
      ({ msg }) => msg === 'a render was delivered but could not be counted',
    );
    expect(line).to.include({
      requestId: free.caller.requestId,
      accountId: free.id,
      leaseId: lease.id,
    });
  });

  it('stops retrying when the lease can no longer exist', async () => {
    const free = await fixture.account('free');
    const leases = await fixture.replica({ ...QUICK, settleForMs: 0 });
    const lease = await leases.admit(free.caller);
    await fixture.failCommands('findAndModify', { errorCode: 11602 });
    await leases.settle(lease);
    await until(() => leases.counts().waiting === 0);
    expect(
      fixture.lines.some(({ msg }) => msg === 'a render was delivered but could not be counted'),
    ).to.equal(true);
  });

  it('releases as soon as the database has recovered', async () => {
    const free = await fixture.account('free');
    const leases = await fixture.replica({ ...QUICK, leaseMs: 15_000 });
    const lease = await leases.admit(free.caller);
    await fixture.failCommands('update', { errorCode: 11602 });
    void leases.release(lease);
    await fixture.clearFailPoints();
    await until(async () => (await free.leaseCount()) === 0);
  });
});
