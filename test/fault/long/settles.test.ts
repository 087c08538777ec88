import { expect } from 'chai';
import { EXPIRED_KEPT } from '../../../api/accounts/lease-rules.ts';
import type { LeaseDocument } from '../../../api/store/store.ts';
import {
  type LeaseFixture,
  leaseFixture,
  QUICK,
  rejectionOf,
} from '../../support/lease-fixture.ts';
import { lookAt } from '../account-look.ts';
import { chanceOfThisRun } from '../harness/random.ts';
import { CAP, settleFixture } from '../settle-fixture.ts';
import { settles } from '../settles.ts';

describe('one account with many renders', () => {
  it('has an exact count and a document that does not grow, after 20,000 renders', async function () {
    this.timeout(15 * 60_000);
    const { violations, tally, counted } = await settles({
      count: 20_000,
      chance: chanceOfThisRun('the settles'),
      times: { ...QUICK, settleWithinMs: 1_000, keepExpiredMs: 3_000, settleForMs: 540_000 },
    });
    expect(violations).to.deep.equal([]);
    expect(counted).to.equal(tally.sent);
    const { released, renewed, late, abandoned, repeated } = tally;
    for (const [kind, times] of Object.entries({ released, renewed, late, abandoned, repeated }))
      expect(times, `renders that were ${kind}`).to.be.greaterThan(0);
  });
});

describe('the expired leases of crashed processes', () => {
  let fixture: LeaseFixture;
  before(async () => {
    fixture = await leaseFixture();
  });
  afterEach(() => fixture.reset());
  after(() => fixture?.close());

  const { atLeast, perConcurrentRender } = EXPIRED_KEPT;
  const ids = (leases: readonly LeaseDocument[]) => leases.map(({ id }) => id);
  /** Named by number, in order of expiry. */
  const expiredLeases = (count: number): LeaseDocument[] =>
    Array.from({ length: count }, (_, nth) => ({
      id: `expired ${nth}`,
      key: 'k',
      expires: new Date(Date.now() - 60_000 + nth),
    }));
  const runningLease: LeaseDocument = {
    id: 'running',
    key: 'k',
    expires: new Date(Date.now() + 3_600_000),
  };

  it('are bounded, and the newest are kept', async () => {
    const expired = expiredLeases(1_280);
    const free = await fixture.account('free', { leases: expired });
    const lease = await (await fixture.replica()).admit(free.caller);
    expect(ids((await free.read()).leases)).to.deep.equal([
      ...ids(expired.slice(-atLeast)),
      lease.id,
    ]);
  });

  it('have a higher bound with a larger plan', async () => {
    const { store, processes, caller, close } = await settleFixture();
    try {
      await store.accounts.updateOne(
        { _id: caller.accountId },
        { $set: { leases: expiredLeases(1_280) } },
      );
      await processes[0]!.admit(caller);
      expect(await lookAt(store, caller.accountId)).to.include({
        running: 1,
        expired: perConcurrentRender * CAP,
      });
    } finally {
      await close();
    }
  });

  it('never replace a running lease', async () => {
    const starter = await fixture.account('starter', {
      leases: [runningLease, ...expiredLeases(500)],
    });
    const leases = await fixture.replica();
    const lease = await leases.admit(starter.caller);
    expect(ids((await starter.read()).leases).slice(-2)).to.deep.equal(['running', lease.id]);
    expect((await rejectionOf(leases.admit(starter.caller))).code).to.equal('concurrency_limit');
  });

  it('are not counted once deleted, which is logged', async () => {
    const free = await fixture.account('free');
    const [cutOff, other] = [await fixture.replica(), await fixture.replica()];
    const lease = await cutOff.admit(free.caller);
    const expired = new Date(Date.now() - 120_000);
    await fixture.store.accounts.updateOne(
      { _id: free.id },
      { $set: { 'leases.0.expires': expired } },
    );
    await fixture.store.accounts.updateOne(
      { _id: free.id },
      { $push: { leases: { $each: expiredLeases(atLeast) } } },
    );
    expect(await other.settle(await other.admit(free.caller))).to.equal(1);
    expect(await cutOff.settle(lease)).to.equal(undefined);
    expect(await free.usage()).to.equal(1);
    expect(fixture.lines.map(({ msg }) => msg)).to.include(
      'a render could not be counted: its lease is gone',
    );
  });
});
