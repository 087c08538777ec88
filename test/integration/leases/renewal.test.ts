// @proves leases

import { once } from 'node:events';
import { expect } from 'chai';
import type { Lease } from '../../../api/leases/leases.ts';
import {
  type LeaseFixture,
  leaseFixture,
  QUICK,
  rejectionOf,
  type TestAccount,
  until,
} from '../../support/lease-fixture.ts';

describe('renewal of leases', () => {
  let fixture: LeaseFixture;
  before(async () => {
    fixture = await leaseFixture();
  });
  afterEach(() => fixture.reset());
  after(() => fixture?.close());

  const expiryOf = async ({ read }: TestAccount, { id }: Lease) =>
    (await read()).leases.find(lease => lease.id === id)?.expires.getTime();

  it('keeps leases alive past their first expiry', async () => {
    const starter = await fixture.account('starter');
    const leases = await fixture.replica(QUICK);
    const running = [await leases.admit(starter.caller), await leases.admit(starter.caller)];
    const firstEnds = await Promise.all(running.map(lease => expiryOf(starter, lease)));
    await until(async () =>
      (await Promise.all(running.map(lease => expiryOf(starter, lease)))).every(
        (end, i) => end! > firstEnds[i]! + 1_500,
      ),
    );
    expect(running.map(lease => lease.lost.aborted)).to.deep.equal([false, false]);
    expect((await rejectionOf(leases.admit(starter.caller))).code).to.equal('concurrency_limit');
  });

  it('aborts only the render whose lease was removed', async () => {
    const starter = await fixture.account('starter');
    const leases = await fixture.replica(QUICK);
    const [taken, kept] = [await leases.admit(starter.caller), await leases.admit(starter.caller)];
    const lost = once(taken.lost, 'abort');
    await fixture.store.accounts.updateOne(
      { _id: starter.id },
      { $pull: { leases: { id: taken.id } } },
    );
    await lost;
    const end = await expiryOf(starter, kept);
    await until(async () => (await expiryOf(starter, kept))! > end!);
    expect(kept.lost.aborted).to.equal(false);
    expect(taken.lost.reason).to.include({ code: 'render_failed', reason: 'database' });
  });

  it('never revives an expired lease', async () => {
    const free = await fixture.account('free');
    const leases = await fixture.replica(QUICK);
    const lease = await leases.admit(free.caller);
    const expires = new Date(Date.now() - 1);
    const lost = once(lease.lost, 'abort');
    await fixture.store.accounts.updateOne(
      { _id: free.id },
      { $set: { 'leases.0.expires': expires } },
    );
    await lost;
    expect(await expiryOf(free, lease)).to.equal(expires.getTime());
  });

  it('aborts a render before its lease expires when the database does not respond', async () => {
    const free = await fixture.account('free');
    const leases = await fixture.replica(QUICK);
    await fixture.failCommands('update', { blockConnection: true, blockTimeMS: 3_000 });
    const lease = await leases.admit(free.caller);
    await once(lease.lost, 'abort');
    // Test and database share a clock: the lease has not expired for the server yet.
    expect(Date.now()).to.be.lessThan((await expiryOf(free, lease))!);
  });

  it('continues after failed renewals', async () => {
    const free = await fixture.account('free');
    const leases = await fixture.replica(QUICK);
    const lease = await leases.admit(free.caller);
    const end = await expiryOf(free, lease);
    await fixture.failCommands('update', { errorCode: 11602 }, { times: 4 });
    await until(async () => (await expiryOf(free, lease))! > end!);
    expect(lease.lost.aborted).to.equal(false);
  });

  it('loses no render of other accounts while one account document is blocked', async () => {
    const accounts = await Promise.all(Array.from({ length: 5 }, () => fixture.account('free')));
    // Longer than two rounds that run into the time limit.
    const leases = await fixture.replica({ ...QUICK, leaseMs: 4_000 });
    const [held, ...others] = await Promise.all(accounts.map(({ caller }) => leases.admit(caller)));
    await fixture.whileLocked(held!.accountId, async () => {
      await once(held!.lost, 'abort');
      expect(others.map(({ lost }) => lost.aborted)).to.deep.equal(others.map(() => false));
    });
    const end = await expiryOf(accounts[1]!, others[0]!);
    await until(async () => (await expiryOf(accounts[1]!, others[0]!))! > end!);
    expect(
      fixture.lines.filter(({ msg }) => msg === 'a lease was lost; its render is aborted'),
    ).to.have.length(1);
  });

  it('stops for a settled or released lease', async () => {
    const starter = await fixture.account('starter');
    const leases = await fixture.replica(QUICK);
    const [settled, released] = [
      await leases.admit(starter.caller),
      await leases.admit(starter.caller),
    ];
    await leases.settle(settled);
    void leases.release(released);
    expect(leases.counts().held).to.equal(0);
    await until(async () => (await starter.leaseCount()) === 0);
    expect([settled.lost.aborted, released.lost.aborted]).to.deep.equal([false, false]);
  });
});
