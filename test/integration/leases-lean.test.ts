import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { hashKeyByEach } from '../../api/accounts/keys.ts';
import type { Lease } from '../../api/accounts/leases.ts';
import type { MongoLeases } from '../../api/accounts/mongo-leases.ts';
import type { ApiError } from '../../api/contract/errors.ts';
import { type AccountDocument, connectStore, type Document, type LeaseDocument } from '../../api/store/store.ts';
import { silentLog } from '../../common/log.ts';
import { type LeaseRig, leaseRig, PEPPERS, refusal, type TestAccount } from '../support/lease-rig.ts';

const NETWORKS = ['192.0.2.0/24'];
const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60e3);
const expired = (id: string, minutesAgo = 1): LeaseDocument => ({ id, key: 'k', expires: minutesFromNow(-minutesAgo) });
const monthNow = () => new Date().toISOString().slice(0, 7);

describe('the short way to a lease', () => {
  let rig: LeaseRig;
  let leases: MongoLeases;
  before(async () => {
    rig = await leaseRig();
  });
  beforeEach(async () => {
    leases = await rig.replica();
  });
  afterEach(() => rig.reset());
  after(() => rig?.close());

  /** From now on no admission by the whole rules gets through. */
  const shortWayOnly = () => rig.failing('findAndModify', { errorCode: 1 });
  const set = ({ id }: TestAccount, fields: Document) => rig.store.accounts.updateOne({ _id: id }, { $set: fields });
  const idsOf = async ({ read }: TestAccount) => (await read()).leases.map(({ id }) => id);

  it('is taken once the whole rules have admitted the same key, and leaves what they would', async () => {
    const scale = await rig.account('scale');
    const first = await leases.admit(scale.caller);
    await shortWayOnly();
    const second = await leases.admit(scale.caller);
    const [one, other] = (await scale.read()).leases;
    expect([one!.id, other!.id]).to.deep.equal([first.id, second.id]);
    expect(other).to.deep.equal({ id: second.id, key: scale.key.id, expires: other!.expires });
    expect(other!.expires.getTime() - one!.expires.getTime()).to.be.within(0, 5_000);
    await rig.working();
    expect(await leases.settle(second)).to.equal(1);
    await leases.release(first);
    expect(await idsOf(scale)).to.deep.equal([]);
  });

  it('is taken by a member too, and by a key that is bound to networks', async () => {
    const scale = await rig.account('scale');
    await set(scale, { 'keys.0.allowedIps': NETWORKS });
    const member = { accountId: scale.id, user: 'usr_ada', requestId: 'request-of-ada' };
    const bound = { ...scale.caller, allowedIps: NETWORKS };
    for (const caller of [member, bound]) await leases.admit(caller);
    await shortWayOnly();
    for (const caller of [member, bound]) await leases.admit(caller);
    const keys = (await scale.read()).leases.map(({ key }) => key);
    expect(keys).to.deep.equal(['user:usr_ada', scale.key.id, 'user:usr_ada', scale.key.id]);
  });

  it('is not taken by another key, nor by a member because of a key', async () => {
    const scale = await rig.account('scale');
    const { text } = await scale.accounts.createKey(scale.name, { name: 'another' });
    await leases.admit(scale.caller);
    await shortWayOnly();
    const others = [
      { ...scale.caller, keyHash: hashKeyByEach(text, PEPPERS) },
      { accountId: scale.id, user: 'usr_ada', requestId: 'r' },
    ];
    for (const caller of others) expect((await refusal(leases.admit(caller))).reason).to.equal('database');
  });

  interface Change {
    /** When the test runs, since dates are in it. */
    to(): Document;
    /** What the next call is refused with. */
    refused?: string;
    /** What holds when it is admitted. */
    admitted?: (account: AccountDocument, lease: Lease) => void;
  }
  const admitted = () => {};
  /** Between two admissions of one key of the plan `scale`, of which the first is still running. */
  const CHANGES: Record<string, Change> = {
    'its plan is smaller': { to: () => ({ plan: 'free' }), refused: 'concurrency_limit' },
    'its plan is gone': { to: () => ({ plan: 'discontinued' }), refused: 'concurrency_limit' },
    'its plan is another one with room': { to: () => ({ plan: 'growth' }), admitted },
    'it is paused': { to: () => ({ state: 'paused' }), refused: 'subscription_inactive' },
    'its payment is due for too long': {
      to: () => ({ state: 'past_due', pastDueSince: minutesFromNow(-2) }),
      refused: 'subscription_inactive',
    },
    'its payment is due': { to: () => ({ state: 'past_due', pastDueSince: new Date() }), admitted },
    'it is on trial': { to: () => ({ state: 'trialing' }), admitted },
    'its key is revoked': { to: () => ({ keys: [] }), refused: 'unauthorized' },
    'its key is changed': { to: () => ({ 'keys.0.hash': 'another' }), refused: 'unauthorized' },
    'its key has expired': { to: () => ({ 'keys.0.expiresAt': minutesFromNow(-1) }), refused: 'unauthorized' },
    'its key will expire': { to: () => ({ 'keys.0.expiresAt': minutesFromNow(1) }), admitted },
    'its key has another id': {
      to: () => ({ 'keys.0.id': 'another' }),
      admitted: ({ leases: all }) => expect(all.map(({ key }) => key)[1]).to.equal('another'),
    },
    'its key is bound to networks of others': { to: () => ({ 'keys.0.allowedIps': ['198.51.100.0/24'] }), refused: 'unauthorized' },
    'its key is bound to networks of the caller': { to: () => ({ 'keys.0.allowedIps': NETWORKS }), admitted },
    'it may reach the intranet': { to: () => ({ intranet: true }), admitted: (_, lease) => expect(lease.intranet).to.equal(true) },
    'all places are taken': {
      to: () => ({ leases: Array.from({ length: 8 }, (_, nth) => ({ id: `${nth}`, key: 'k', expires: minutesFromNow(1) })) }),
      refused: 'concurrency_limit',
    },
    'expired leases take all places': {
      to: () => ({ leases: Array.from({ length: 8 }, (_, nth) => expired(`${nth}`)) }),
      admitted: ({ leases: all }) => expect(all.length).to.equal(9),
    },
    'a lease expired more than ten minutes ago': {
      to: () => ({ leases: [expired('late', 9), expired('too late', 11)] }),
      admitted: ({ leases: all }, { id }) => expect(all.map(lease => lease.id)).to.deep.equal(['late', id]),
    },
  };
  for (const [change, { to, refused, admitted: holds }] of Object.entries(CHANGES)) {
    it(`${refused ? 'refuses' : 'admits'} as the whole rules do when ${change}`, async () => {
      const scale = await rig.account('scale');
      await leases.admit(scale.caller);
      await set(scale, to());
      const before = await scale.read();
      if (refused) {
        expect((await refusal(leases.admit(scale.caller))).code).to.equal(refused);
        expect(await scale.read()).to.deep.equal(before);
        return;
      }
      const lease = await leases.admit(scale.caller);
      const after = await scale.read();
      expect(after.leases.at(-1)?.id).to.equal(lease.id);
      holds!(after, lease);
    });
  }

  it('is found again when what had changed is the same for a while', async () => {
    const scale = await rig.account('scale');
    await leases.admit(scale.caller);
    await set(scale, { plan: 'growth', intranet: true });
    await leases.admit(scale.caller);
    await shortWayOnly();
    expect((await leases.admit(scale.caller)).intranet).to.equal(true);
  });

  it('is not tried while it would find nothing', async () => {
    const ends = await rig.account('scale');
    await set(ends, { 'keys.0.expiresAt': minutesFromNow(60) });
    const due = await rig.account('scale', { state: 'past_due', pastDueSince: new Date() });
    const crashed = await rig.account('scale', { leases: [expired('crashed')] });
    const cured = await rig.account('scale');
    await leases.admit(cured.caller);
    await set(cured, { state: 'past_due', pastDueSince: new Date() });
    await leases.admit(cured.caller);
    await rig.failing('update', { errorCode: 1 });
    for (const { caller } of [ends, due, crashed, cured]) for (let nth = 0; nth < 2; nth++) await leases.admit(caller);
  });

  it('is idempotent by the id of the lease', async () => {
    const scale = await rig.account('scale');
    const { admit } = rig.operations();
    const { keyHash } = scale.caller;
    for (const id of ['one', 'two', 'two', 'one']) expect(await admit(scale.id, id, keyHash, [])).to.include({ admitted: true });
    expect(await idsOf(scale)).to.deep.equal(['one', 'two']);
  });

  it('never leads to more than the plan allows, though many processes take it at once', async () => {
    const growth = await rig.account('growth');
    const member = { accountId: growth.id, user: 'usr_ada', requestId: 'request-of-ada' };
    const callers = [growth.caller, member];
    // Patient, so that a busy machine refuses nobody.
    const patient = connectStore({ uri: rig.mongod.uriFor('leases'), operationTimeoutMs: 10_000 }, silentLog);
    await patient.start();
    const replicas = await Promise.all([1, 2, 3].map(() => rig.replica({}, patient)));
    for (let round = 0; round < 10; round++) {
      for (const replica of replicas) for (const caller of callers) await replica.release(await replica.admit(caller));
      const calls = Array.from({ length: 48 }, async (_, nth) => {
        await sleep(nth % 5);
        const replica = replicas[nth % 3]!;
        return replica.admit(callers[nth % 2]!).then(
          lease => ({ replica, lease }),
          (error: ApiError) => error.code,
        );
      });
      const answers = await Promise.all(calls);
      const letIn = answers.filter(answer => typeof answer !== 'string');
      expect(letIn).to.have.length(4);
      expect(answers.filter(answer => answer === 'concurrency_limit')).to.have.length(44);
      expect(await growth.leaseCount()).to.equal(4);
      await Promise.all(letIn.map(({ replica, lease }) => replica.settle(lease)));
    }
    expect(await growth.usage()).to.equal(40);
    for (const replica of replicas) await replica.stop(AbortSignal.timeout(3_000));
    await patient.stop(new AbortController().signal);
  });

  describe('to settle it', () => {
    const rendered = async ({ caller }: TestAccount) => leases.settle(await leases.admit(caller));
    const usageOf = async ({ read }: TestAccount) => (await read()).usage;

    for (const [period, count, as] of [
      ['2001-01', 1, monthNow],
      ['2999-01', 43, () => '2999-01'],
      ['2001-01-15', 1, monthNow],
    ] as const) {
      it(`${count === 1 ? 'begins a new count' : 'goes on counting'} when the period has become ${period}`, async () => {
        const scale = await rig.account('scale');
        for (const nth of [1, 2]) expect(await rendered(scale)).to.equal(nth);
        await set(scale, { usage: { period, count: 42 } });
        expect(await rendered(scale)).to.equal(count);
        expect(await usageOf(scale)).to.deep.equal({ period: as(), count });
        expect(await rendered(scale)).to.equal(count + 1);
      });
    }

    it('follows the account into a period of Stripe’s, to its end, and out of it', async () => {
      const scale = await rig.account('scale');
      const day = (date: Date) => date.toISOString().slice(0, 10);
      const [start, end, next] = [minutesFromNow(-10 * 1_440), minutesFromNow(20 * 1_440), minutesFromNow(-5)];
      for (const nth of [1, 2]) expect(await rendered(scale)).to.equal(nth);
      await set(scale, { billing: { periodStart: start, periodEnd: end }, usage: { period: '2001-01', count: 5 } });
      for (const nth of [1, 2, 3]) expect(await rendered(scale)).to.equal(nth);
      expect((await usageOf(scale)).period).to.equal(day(start));
      const later = minutesFromNow(-8 * 1_440);
      await set(scale, { 'billing.periodStart': later });
      for (const nth of [1, 2, 3]) expect(await rendered(scale)).to.equal(nth);
      expect((await usageOf(scale)).period).to.equal(day(later));
      await set(scale, { 'billing.periodEnd': next });
      for (const nth of [1, 2, 3]) expect(await rendered(scale)).to.equal(nth);
      expect((await usageOf(scale)).period).to.equal(day(next));
      await set(scale, { billing: {}, 'usage.period': '2001-01-15' });
      for (const nth of [1, 2]) expect(await rendered(scale)).to.equal(nth);
      expect((await usageOf(scale)).period).to.equal(monthNow());
    });

    it('finds nothing when the lease is gone', async () => {
      const scale = await rig.account('scale');
      for (const nth of [1, 2]) expect(await rendered(scale)).to.equal(nth);
      const lease = await leases.admit(scale.caller);
      await set(scale, { leases: [] });
      expect(await leases.settle(lease)).to.equal(undefined);
      expect(await scale.usage()).to.equal(2);
    });
  });
});
