import { expect } from 'chai';
import {
  type LeaseFixture,
  leaseFixture,
  QUICK,
  rejectionOf,
  until,
} from '../../support/lease-fixture.ts';

describe('the settlement of an asynchronous render', () => {
  let fixture: LeaseFixture;
  before(async () => {
    fixture = await leaseFixture();
  });
  after(() => fixture.close());
  afterEach(() => fixture.reset());

  async function admitted(plan = 'starter') {
    const leases = await fixture.replica();
    const account = await fixture.account(plan);
    const render = { accountId: account.id, requestId: 'request' };
    const lease = await leases.admitSubmitted(render);
    if (!lease) throw new Error('not admitted');
    return { leases, account, lease, render };
  }
  const outbox = () => fixture.store.asynchronous.outbox;
  const entry = (id: string) => ({
    _id: id,
    account: id,
    status: 'succeeded' as const,
    at: new Date(),
    keptUntil: new Date(Date.now() + 60_000),
  });

  it('counts the render and writes with it, in one transaction', async () => {
    const { leases, account, lease } = await admitted();
    let seen: number | undefined;
    await leases.settleWith(lease, true, async (usage, session) => {
      seen = usage;
      await outbox().insertOne(entry(lease.id), { session });
    });
    expect(seen).to.equal(1);
    expect(await account.usage()).to.equal(1);
    expect(await account.leaseCount()).to.equal(0);
    expect(await outbox().countDocuments({ _id: lease.id })).to.equal(1);
    expect(leases.counts().held).to.equal(0);
  });

  it('changes nothing when the write throws, and the lease can be released', async () => {
    const { leases, account, lease } = await admitted();
    const failed = leases.settleWith(lease, true, async (_usage, session) => {
      await outbox().insertOne(entry(lease.id), { session });
      throw new Error('changed');
    });
    expect((await rejectionOf(failed)).message).to.equal('changed');
    expect(await account.usage()).to.equal(0);
    expect(await account.leaseCount()).to.equal(1);
    expect(await outbox().countDocuments({ _id: lease.id })).to.equal(0);
    await leases.release(lease);
    await until(async () => (await account.leaseCount()) === 0);
  });

  it('removes the lease of a render that is not counted', async () => {
    const { leases, account, lease } = await admitted();
    let seen: number | undefined = -1;
    await leases.settleWith(lease, false, async usage => {
      seen = usage;
    });
    expect(seen).to.equal(undefined);
    expect(await account.usage()).to.equal(0);
    expect(await account.leaseCount()).to.equal(0);
  });

  it('settles a lease that has expired', async () => {
    const leases = await fixture.replica(QUICK);
    const account = await fixture.account('starter');
    const lease = await leases.admitSubmitted({ accountId: account.id, requestId: 'request' });
    await fixture.store.accounts.updateOne(
      { _id: account.id },
      { $set: { 'leases.0.expires': new Date(Date.now() - 1_000) } },
    );
    await leases.settleWith(lease!, true, async () => {});
    expect(await account.usage()).to.equal(1);
  });

  it('waits for other writes to the account', async () => {
    const { leases, account, lease } = await admitted();
    let settling: Promise<void> | undefined;
    await fixture.whileLocked(account.id, async () => {
      settling = leases.settleWith(lease, true, async () => {});
      await new Promise(resolve => setTimeout(resolve, 300));
      expect(await account.usage()).to.equal(0);
    });
    await settling;
    expect(await account.usage()).to.equal(1);
  });

  it('does not admit beyond the limit of asynchronous renders', async () => {
    const { leases, account, lease, render } = await admitted('starter');
    expect(await leases.admitSubmitted(render)).to.equal(undefined);
    const synchronous = await leases.admit(account.caller);
    await leases.release(lease);
    const next = await leases.admitSubmitted(render);
    expect(next?.accountId).to.equal(account.id);
    await leases.release(next!);
    await leases.release(synchronous);
  });
});
