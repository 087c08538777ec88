// @proves plans, leases

import { expect } from 'chai';
import { parsePlans } from '../../../api/accounts/plans.ts';
import { type LeaseFixture, leaseFixture, type TestAccount } from '../../support/lease-fixture.ts';

describe('admission of an asynchronous render', () => {
  let fixture: LeaseFixture;
  before(async () => {
    fixture = await leaseFixture();
  });
  afterEach(() => fixture.reset());
  after(() => fixture?.close());

  const inAnHour = () => new Date(Date.now() + 3_600e3);
  const job = async ({ id }: TestAccount, leaseId: string, operations = fixture.operations()) =>
    (await operations.admitJob(id, leaseId))?.admitted;
  const call = async (account: TestAccount, leaseId: string) =>
    (await fixture.operations().admit(account.id, leaseId, account.caller.keyHash, []))?.admitted;

  it('stores that the render is asynchronous, without checking a key', async () => {
    const starter = await fixture.account('starter', { keys: [], intranet: true });
    expect(await fixture.operations().admitJob(starter.id, 'job')).to.deep.equal({
      admitted: true,
      intranet: true,
      sandbox: false,
      rendererReuse: true,
    });
    const { expires, ...lease } = (await starter.read()).leases[0]!;
    expect(lease).to.deep.equal({ id: 'job', key: 'async', async: true });
    expect(expires.getTime()).to.be.greaterThan(Date.now());
  });

  it('leaves one render of the plan to synchronous calls', async () => {
    const starter = await fixture.account('starter');
    expect(await job(starter, 'job')).to.equal(true);
    expect(await job(starter, 'another job')).to.equal(false);
    expect(await call(starter, 'call')).to.equal(true);
    expect(await call(starter, 'another call')).to.equal(false);
    expect((await starter.read()).leases.map(({ id }) => id)).to.deep.equal(['job', 'call']);
  });

  it('uses the only render of a plan that has one', async () => {
    const free = await fixture.account('free');
    expect(await job(free, 'job')).to.equal(true);
    expect(await call(free, 'call')).to.equal(false);
    await fixture.operations().release(free.id, 'job');
    expect(await call(free, 'call')).to.equal(true);
    expect(await job(free, 'another job')).to.equal(false);
  });

  it('is rejected while synchronous calls use the whole concurrency limit', async () => {
    const growth = await fixture.account('growth');
    expect(await job(growth, 'job')).to.equal(true);
    for (const leaseId of ['1', '2', '3']) expect(await call(growth, leaseId)).to.equal(true);
    expect(await job(growth, 'another job')).to.equal(false);
    await fixture.operations().release(growth.id, '1');
    expect(await job(growth, 'another job')).to.equal(true);
  });

  it('obeys the option of the plan for 32 concurrent admissions', async () => {
    const operations = fixture.operations(fixture.store, {
      plans: parsePlans(['growth=4 async_parallel=2']),
    });
    const growth = await fixture.account('growth');
    const ids = Array.from({ length: 32 }, (_, i) => `job ${i}`);
    const admitted = await Promise.all(ids.map(id => job(growth, id, operations)));
    expect(admitted.filter(Boolean)).to.have.length(2);
    expect(await growth.leaseCount()).to.equal(2);
  });

  it('does not count the expired lease of another asynchronous render', async () => {
    const expired = {
      id: 'old',
      key: 'async',
      async: true,
      expires: new Date(Date.now() - 1),
    } as const;
    const running = { id: 'call', key: 'async', expires: inAnHour() };
    const starter = await fixture.account('starter', { leases: [expired, running] });
    expect(await job(starter, 'job')).to.equal(true);
    expect((await starter.read()).leases.map(({ id }) => id)).to.deep.equal(['old', 'call', 'job']);
  });

  it('is idempotent by lease ID', async () => {
    const starter = await fixture.account('starter');
    expect(await job(starter, 'job')).to.equal(true);
    const after = await starter.read();
    expect(await job(starter, 'job')).to.equal(true);
    expect(await starter.read()).to.deep.equal(after);
  });

  it('is rejected for an account that may not render or does not exist', async () => {
    const paused = await fixture.account('scale', { state: 'paused' });
    expect(await fixture.operations().admitJob(paused.id, 'job')).to.include({
      admitted: false,
      served: false,
      state: 'paused',
    });
    expect(await paused.leaseCount()).to.equal(0);
    expect(await fixture.operations().admitJob('nosuchacct', 'job')).to.equal(null);
  });

  it('runs one at a time for an account whose plan is not configured', async () => {
    const orphan = await fixture.account('free', { plan: 'discontinued' });
    expect(await job(orphan, 'job')).to.equal(true);
    expect(await job(orphan, 'another job')).to.equal(false);
    expect(await call(orphan, 'call')).to.equal(false);
  });
});
