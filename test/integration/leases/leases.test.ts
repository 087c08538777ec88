// @proves Retry-After, X-Concurrency-Limit, subscription_inactive, concurrency_limit
// @proves subscription-states

import { expect } from 'chai';
import { hashKeyByEach } from '../../../api/accounts/keys.ts';
import type { Lease } from '../../../api/leases/leases.ts';
import type { ApiError } from '../../../common/contract/errors.ts';
import {
  type LeaseFixture,
  leaseFixture,
  PEPPERS,
  rejectionOf,
  until,
} from '../../support/lease-fixture.ts';

describe('admission of a render', () => {
  let fixture: LeaseFixture;
  before(async () => {
    fixture = await leaseFixture();
  });
  afterEach(() => fixture.reset());
  after(() => fixture?.close());

  /** With a time limit that many calls at once do not reach, even on a busy machine. */
  async function patientReplicas() {
    const store = await fixture.connect(30_000);
    return [await fixture.replica({}, store), await fixture.replica({}, store)];
  }

  it('enforces the concurrency limit for 64 concurrent calls through two replicas', async () => {
    const growth = await fixture.account('growth');
    const replicas = await patientReplicas();
    const calls = Array.from({ length: 64 }, (_, i) =>
      replicas[i % 2]!.admit(growth.caller).then(
        () => 'admitted',
        (error: ApiError) => error.code,
      ),
    );
    const answers = await Promise.all(calls);
    expect(answers.filter(answer => answer === 'admitted')).to.have.length(4);
    expect(answers.filter(answer => answer === 'concurrency_limit')).to.have.length(60);
    expect(await growth.leaseCount()).to.equal(4);
  });

  it('enforces one concurrency limit for API keys and members together', async () => {
    const growth = await fixture.account('growth');
    const replicas = await patientReplicas();
    const member = { accountId: growth.id, user: 'usr_ada', requestId: 'request-of-ada' };
    const calls = Array.from({ length: 64 }, (_, i) =>
      replicas[i % 2]!.admit(i % 4 < 2 ? growth.caller : member).then(
        () => 'admitted',
        (error: ApiError) => error.code,
      ),
    );
    const answers = await Promise.all(calls);
    expect(answers.filter(answer => answer === 'admitted')).to.have.length(4);
    expect(answers.filter(answer => answer === 'concurrency_limit')).to.have.length(60);
    expect(await growth.leaseCount()).to.equal(4);
  });

  it('admits a member without a key and stores the user in the lease', async () => {
    const free = await fixture.account('free', { keys: [], intranet: true });
    const leases = await fixture.replica();
    const member = { accountId: free.id, user: 'usr_ada', requestId: 'request-of-ada' };
    const lease = await leases.admit(member);
    expect(lease).to.include({ intranet: true, rendererReuse: true });
    expect((await free.read()).leases.map(({ id, key }) => ({ id, key }))).to.deep.equal([
      { id: lease.id, key: 'user:usr_ada' },
    ]);
    expect((await rejectionOf(leases.admit(member))).code).to.equal('concurrency_limit');
    expect(await leases.settle(lease)).to.equal(1);
    await leases.release(await leases.admit(member));
    expect(await free.leaseCount()).to.equal(0);
  });

  it('rejects a member of a paused or missing account', async () => {
    const paused = await fixture.account('free', { state: 'paused' });
    const leases = await fixture.replica();
    const member = { accountId: paused.id, user: 'usr_ada', requestId: 'request-of-ada' };
    expect((await rejectionOf(leases.admit(member))).code).to.equal('subscription_inactive');
    expect((await rejectionOf(leases.admit({ ...member, accountId: 'nosuchacct' }))).code).to.equal(
      'not_found',
    );
    expect(await paused.leaseCount()).to.equal(0);
  });

  it('sends Retry-After and X-Concurrency-Limit when the limit is reached', async () => {
    const starter = await fixture.account('starter');
    const leases = await fixture.replica();
    await leases.admit(starter.caller);
    await leases.admit(starter.caller);
    const error = await rejectionOf(leases.admit(starter.caller));
    expect(error).to.include({ code: 'concurrency_limit', status: 429 });
    expect(error.headers).to.deep.equal({ 'Retry-After': '7', 'X-Concurrency-Limit': '2' });
  });

  it('rejects the same key without MongoDB for a second while the process holds all leases of the account', async () => {
    const starter = await fixture.account('starter');
    const another = (await starter.accounts.createKey(starter.name, { name: 'another' })).text;
    const start = Math.ceil(performance.now()); // an integer, so that adding 1,000 is exact
    let nowMs = start;
    const leases = await fixture.replica({}, undefined, undefined, () => nowMs);
    const [first] = [await leases.admit(starter.caller), await leases.admit(starter.caller)];
    expect((await rejectionOf(leases.admit(starter.caller))).code).to.equal('concurrency_limit');
    await fixture.failCommands('findAndModify', { errorCode: 11602 });
    nowMs = start + 999;
    const cached = await rejectionOf(leases.admit(starter.caller));
    expect(cached).to.include({ code: 'concurrency_limit', status: 429 });
    expect(cached.headers).to.deep.equal({ 'Retry-After': '7', 'X-Concurrency-Limit': '2' });
    const withAnother = { ...starter.caller, keyHash: hashKeyByEach(another, PEPPERS) };
    expect(
      (await rejectionOf(leases.admit(withAnother))).reason,
      'nothing is cached for this key',
    ).to.equal('database');
    nowMs = start + 1_000;
    expect(
      (await rejectionOf(leases.admit(starter.caller))).reason,
      'the plan may have changed',
    ).to.equal('database');
    await fixture.clearFailPoints();
    expect((await rejectionOf(leases.admit(starter.caller))).code).to.equal('concurrency_limit');
    await leases.settle(first!);
    await leases.admit(starter.caller);
  });

  it('does not change the account when it rejects a render', async () => {
    const expired = { id: 'old', key: 'k', expires: new Date(Date.now() - 3_600e3) };
    const running = { id: 'running', key: 'k', expires: new Date(Date.now() + 3_600e3) };
    const leases = await fixture.replica();
    const full = await fixture.account('free', { leases: [expired, running] });
    const unpaid = await fixture.account('free', { state: 'unpaid', leases: [expired] });
    const stranger = await fixture.account('free', { leases: [expired] });
    stranger.caller.keyHash = hashKeyByEach('another key', PEPPERS);
    const codes = {
      concurrency_limit: full,
      subscription_inactive: unpaid,
      unauthorized: stranger,
    };
    for (const [code, { caller, read }] of Object.entries(codes)) {
      const before = await read();
      expect((await rejectionOf(leases.admit(caller))).code).to.equal(code);
      expect(await read()).to.deep.equal(before);
    }
  });

  it('ignores expired leases and deletes those that expired more than ten minutes ago', async () => {
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60e3);
    const late = { id: 'late', key: 'k', expires: minutesAgo(9) };
    const tooLate = { id: 'too late', key: 'k', expires: minutesAgo(11) };
    const free = await fixture.account('free', { leases: [late, tooLate] });
    const lease = await (await fixture.replica()).admit(free.caller);
    expect((await free.read()).leases.map(({ id }) => id)).to.deep.equal(['late', lease.id]);
  });

  it('rejects a revoked key on the next call', async () => {
    const scale = await fixture.account('scale');
    const leases = await fixture.replica();
    await leases.admit(scale.caller);
    await scale.accounts.revokeKey(scale.name, scale.key.id);
    expect((await rejectionOf(leases.admit(scale.caller))).code).to.equal('unauthorized');
  });

  it('rejects an expired key and an account that does not exist', async () => {
    const scale = await fixture.account('scale');
    await fixture.store.accounts.updateOne(
      { _id: scale.id },
      { $set: { 'keys.0.expiresAt': new Date(Date.now() - 1) } },
    );
    const leases = await fixture.replica();
    expect((await rejectionOf(leases.admit(scale.caller))).code).to.equal('unauthorized');
    expect(
      (await rejectionOf(leases.admit({ ...scale.caller, accountId: 'nosuchacct' }))).code,
    ).to.equal('unauthorized');
  });

  it('checks the address against the current networks of the key', async () => {
    const scale = await fixture.account('scale');
    const leases = await fixture.replica();
    await fixture.store.accounts.updateOne(
      { _id: scale.id },
      { $set: { 'keys.0.allowedIps': ['192.0.2.0/24'] } },
    );
    await leases.admit(scale.caller); // was checked before the networks were set
    await leases.admit({ ...scale.caller, allowedIps: ['192.0.2.0/24'] });
    await fixture.store.accounts.updateOne(
      { _id: scale.id },
      { $set: { 'keys.0.allowedIps': ['198.51.100.0/24'] } },
    );
    expect(
      (await rejectionOf(leases.admit({ ...scale.caller, allowedIps: ['192.0.2.0/24'] }))).code,
    ).to.equal('unauthorized');
    expect(await scale.leaseCount()).to.equal(2);
  });

  it('admits a past_due subscription only within the grace period', async () => {
    const leases = await fixture.replica();
    const fresh = await fixture.account('free', {
      state: 'past_due',
      pastDueSince: new Date(Date.now() - 30e3),
    });
    await leases.admit(fresh.caller);
    const overdue = await fixture.account('free', {
      state: 'past_due',
      pastDueSince: new Date(Date.now() - 90e3),
    });
    const error = await rejectionOf(leases.admit(overdue.caller));
    expect(error).to.include({ code: 'subscription_inactive', status: 403 });
    expect(error.message).to.contain('past due').and.to.contain('http://localhost/app');
  });

  for (const state of ['unpaid', 'canceled', 'paused'] as const) {
    it(`rejects a subscription that is ${state}`, async () => {
      const { caller } = await fixture.account('free', { state });
      expect((await rejectionOf((await fixture.replica()).admit(caller))).code).to.equal(
        'subscription_inactive',
      );
    });
  }

  it('admits one render for an account whose plan is not configured', async () => {
    const orphan = await fixture.account('free', { plan: 'discontinued' });
    const leases = await fixture.replica();
    await leases.admit(orphan.caller);
    expect(
      (await rejectionOf(leases.admit(orphan.caller))).headers['X-Concurrency-Limit'],
    ).to.equal('1');
  });

  it('is idempotent by lease ID', async () => {
    const scale = await fixture.account('scale');
    const operations = fixture.operations(fixture.store, { pastDueGraceMs: 0 });
    const { keyHash } = scale.caller;
    expect(await operations.admit(scale.id, 'one', keyHash, [])).to.include({ admitted: true });
    const after = await scale.read();
    expect(await operations.admit(scale.id, 'one', keyHash, [])).to.include({ admitted: true });
    expect(await scale.read()).to.deep.equal(after);
  });

  describe('with a failing database', () => {
    const databaseError = async (call: Promise<Lease>) => {
      const error = await rejectionOf(call);
      expect(error).to.include({ code: 'render_failed', reason: 'database', status: 502 });
    };

    it('survives one lost connection', async () => {
      const free = await fixture.account('free');
      const leases = await fixture.replica();
      await fixture.failCommands('findAndModify', { closeConnection: true }, { times: 1 });
      await leases.admit(free.caller);
      expect(await free.leaseCount()).to.equal(1);
    });

    it('rejects the render when the server returns an error', async () => {
      const free = await fixture.account('free');
      const leases = await fixture.replica();
      await fixture.failCommands('findAndModify', { errorCode: 11602 });
      await databaseError(leases.admit(free.caller));
      await until(() => leases.counts().waiting === 0);
      expect(await free.leaseCount()).to.equal(0);
    });

    it('treats a write without a majority as not admitted and releases the lease', async () => {
      const free = await fixture.account('free');
      const leases = await fixture.replica();
      await fixture.failCommands('findAndModify', {
        writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' },
      });
      await databaseError(leases.admit(free.caller));
      await until(() => leases.counts().waiting === 0);
      expect(await free.leaseCount()).to.equal(0);
    });

    it('does not wait for an unresponsive database and releases a lease that was written late', async () => {
      const free = await fixture.account('free');
      const leases = await fixture.replica();
      await fixture.failCommands(
        'findAndModify',
        { blockConnection: true, blockTimeMS: 2_000 },
        { times: 1 },
      );
      await databaseError(leases.admit(free.caller));
      await until(async () => (await free.leaseCount()) === 1 || leases.counts().waiting === 0);
      await until(() => leases.counts().waiting === 0);
      expect(await free.leaseCount()).to.equal(0);
    });
  });
});
