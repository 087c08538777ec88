import { once } from 'node:events';
import { expect } from 'chai';
import { connectStore, type Store } from '../../../api/store/store.ts';
import { silentLog } from '../../../common/log.ts';
import { createMetrics, type Metrics } from '../../../common/operations.ts';
import { readSamples } from '../../fault/harness/samples.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type LeaseFixture,
  leaseFixture,
  QUICK,
  rejectionOf,
  until,
} from '../../support/lease-fixture.ts';

const DURATIONS = 'pressroom_mongodb_operation_duration_seconds_count';

describe('lease metrics', () => {
  let fixture: LeaseFixture;
  let store: Store;
  let metrics: Metrics;
  before(async () => {
    fixture = await leaseFixture();
  });
  beforeEach(async () => {
    metrics = createMetrics({ processDefaults: false });
    store = connectStore(
      { uri: fixture.mongod.uriFor('leases'), operationTimeoutMs: 700 },
      silentLog,
      metrics,
    );
    await store.start();
  });
  afterEach(async () => {
    await fixture.reset();
    await store.stop(new AbortController().signal);
  });
  after(() => fixture?.close());

  const scrape = async () => readSamples(await metrics.text());

  it('counts held leases', async () => {
    const starter = await fixture.account('starter');
    const leases = await fixture.replica({}, store, metrics);
    const running = [await leases.admit(starter.caller), await leases.admit(starter.caller)];
    expect((await scrape()).sum('pressroom_leases_held')).to.equal(2);
    await leases.settle(running[0]!);
    await leases.release(running[1]!);
    expect((await scrape()).sum('pressroom_leases_held')).to.equal(0);
  });

  it('counts settled renders as the account does, including late settlements', async () => {
    const scale = await fixture.account('scale');
    const leases = await fixture.replica(QUICK, store, metrics);
    const running = await Promise.all(Array.from({ length: 4 }, () => leases.admit(scale.caller)));
    await leases.settle(running[0]!);
    await fixture.failCommands('findAndModify', { errorCode: 11602 });
    for (const lease of running.slice(1)) expect(await leases.settle(lease)).to.equal(undefined);
    expect((await scrape()).by('pressroom_lease_writes_waiting', 'operation')).to.deep.equal({
      settle: 3,
      release: 0,
    });
    await fixture.clearFailPoints();
    await until(() => leases.counts().waiting === 0);
    const samples = await scrape();
    expect(await scale.usage()).to.equal(4);
    expect(samples.sum('pressroom_renders_settled_total')).to.equal(4);
    expect(samples.sum('pressroom_renders_uncounted_total')).to.equal(0);
    expect(samples.sum('pressroom_lease_writes_waiting')).to.equal(0);
  });

  it('counts a render without a lease as uncounted, including after a late response', async () => {
    const starter = await fixture.account('starter');
    const leases = await fixture.replica({ ...QUICK, renewEveryMs: 15_000 }, store, metrics);
    const running = [await leases.admit(starter.caller), await leases.admit(starter.caller)];
    await fixture.store.accounts.updateOne({ _id: starter.id }, { $set: { leases: [] } });
    await leases.settle(running[0]!);
    await fixture.failCommands(
      'findAndModify',
      { blockConnection: true, blockTimeMS: 500 },
      { times: 1 },
    );
    await leases.settle(running[1]!);
    await until(() => leases.counts().waiting === 0);
    const samples = await scrape();
    expect(samples.by('pressroom_renders_uncounted_total', 'reason')).to.deep.equal({
      lease_gone: 2,
      given_up: 0,
    });
    expect(samples.sum('pressroom_renders_settled_total')).to.equal(0);
    expect(
      fixture.lines.filter(({ msg }) => msg === 'a render could not be counted: its lease is gone'),
    ).to.have.length(2);
  });

  it('counts a render as uncounted when its settlement is abandoned', async () => {
    const free = await fixture.account('free');
    const leases = await fixture.replica({ ...QUICK, settleForMs: 0 }, store, metrics);
    const lease = await leases.admit(free.caller);
    await fixture.failCommands('findAndModify', { errorCode: 11602 });
    await leases.settle(lease);
    await until(() => leases.counts().waiting === 0);
    expect((await scrape()).by('pressroom_renders_uncounted_total', 'reason')).to.deep.equal({
      lease_gone: 0,
      given_up: 1,
    });
  });

  it('distinguishes leases that were removed, not renewed or lost at the end of the process', async () => {
    const scale = await fixture.account('scale');
    const leases = await fixture.replica(QUICK, store, metrics);
    const lost = async () => (await scrape()).by('pressroom_leases_lost_total', 'reason');
    const taken = await leases.admit(scale.caller);
    const aborted = once(taken.lost, 'abort');
    await fixture.store.accounts.updateOne({ _id: scale.id }, { $set: { leases: [] } });
    await aborted;
    expect(await lost()).to.deep.equal({ not_renewed: 0, gone: 1, process_end: 0 });
    await fixture.failCommands('update', { errorCode: 11602 });
    await once((await leases.admit(scale.caller)).lost, 'abort');
    expect(await lost()).to.deep.equal({ not_renewed: 1, gone: 1, process_end: 0 });
    await leases.admit(scale.caller);
    await leases.stop(AbortSignal.abort());
    expect(await lost()).to.deep.equal({ not_renewed: 1, gone: 1, process_end: 1 });
  });

  it('shows pending releases', async () => {
    const free = await fixture.account('free');
    const leases = await fixture.replica(QUICK, store, metrics);
    const lease = await leases.admit(free.caller);
    await fixture.failCommands('update', { errorCode: 11602 });
    await leases.release(lease);
    await eventually(async () =>
      expect((await scrape()).by('pressroom_lease_writes_waiting', 'operation')).to.deep.equal({
        settle: 0,
        release: 1,
      }),
    );
  });
});

describe('MongoDB metrics', () => {
  let fixture: LeaseFixture;
  let store: Store;
  let metrics: Metrics;
  const more: Store[] = [];
  before(async () => {
    fixture = await leaseFixture();
  });
  beforeEach(async () => {
    metrics = createMetrics({ processDefaults: false });
    store = connectStore(
      { uri: fixture.mongod.uriFor('leases'), operationTimeoutMs: 700 },
      silentLog,
      metrics,
    );
    await store.start();
  });
  afterEach(async () => {
    await fixture.reset();
    for (const each of [store, ...more.splice(0)]) await each.stop(new AbortController().signal);
  });
  after(() => fixture?.close());

  /** Leases on a store with a time limit long enough to read metrics during an operation. */
  async function slowStore(options = '') {
    const own = createMetrics({ processDefaults: false });
    const slow = connectStore(
      { uri: `${fixture.mongod.uriFor('leases')}${options}`, operationTimeoutMs: 8_000 },
      silentLog,
      own,
    );
    await slow.start();
    more.push(slow);
    return {
      leases: await fixture.replica({ renewEveryMs: 60_000 }, slow, own),
      scrape: async () => readSamples(await own.text()),
      close: () => slow.stop(new AbortController().signal),
    };
  }

  const scrape = async () => readSamples(await metrics.text());

  it('measures the duration of each operation by name', async () => {
    const starter = await fixture.account('starter');
    const leases = await fixture.replica({ renewEveryMs: 50 }, store, metrics);
    const [counted, released] = [
      await leases.admit(starter.caller),
      await leases.admit(starter.caller),
    ];
    await eventually(async () =>
      expect(
        (await scrape()).sum(DURATIONS, { operation: 'renew', outcome: 'ok' }),
      ).to.be.greaterThan(0),
    );
    await leases.settle(counted);
    await leases.release(released);
    await store.ping(700);
    const { admit, settle, release, ping, ...others } = (await scrape()).by(DURATIONS, 'operation');
    expect({ admit, settle, release, ping }).to.deep.equal({
      admit: 2,
      settle: 1,
      release: 1,
      ping: 1,
    });
    expect(Object.keys(others)).to.deep.equal(['renew']);
  });

  it('distinguishes a timeout from an error', async () => {
    const scale = await fixture.account('scale');
    const leases = await fixture.replica({}, store, metrics);
    const admissions = async () => {
      const samples = await scrape();
      return ['ok', 'timeout', 'error'].map(outcome =>
        samples.sum(DURATIONS, { operation: 'admit', outcome }),
      );
    };
    await fixture.failCommands('findAndModify', { errorCode: 50 }, { times: 1 });
    await rejectionOf(leases.admit(scale.caller));
    expect(await admissions()).to.deep.equal([0, 1, 0]);
    await fixture.failCommands('findAndModify', { errorCode: 1 }, { times: 1 });
    await rejectionOf(leases.admit(scale.caller));
    expect(await admissions()).to.deep.equal([0, 1, 1]);
  });

  it('counts an operation without a response as a timeout after the caller has stopped waiting', async () => {
    const scale = await fixture.account('scale');
    const leases = await fixture.replica({}, store, metrics);
    await fixture.failCommands('findAndModify', { blockConnection: true, blockTimeMS: 8_000 });
    await rejectionOf(leases.admit(scale.caller));
    expect((await scrape()).sum(DURATIONS, { operation: 'admit' })).to.equal(0);
    await eventually(async () =>
      expect((await scrape()).sum(DURATIONS, { operation: 'admit', outcome: 'timeout' })).to.equal(
        1,
      ),
    );
    // Longer than the caller's limit, because the driver retried.
    expect(
      (await scrape()).sum(DURATIONS.replace('_count', '_sum'), { outcome: 'timeout' }),
    ).to.be.greaterThan(1.4);
  });

  it('counts connections in use and idle ones, and none after closing', async () => {
    const scale = await fixture.account('scale');
    const { leases, scrape, close } = await slowStore();
    await fixture.failCommands(
      'findAndModify',
      { blockConnection: true, blockTimeMS: 1_500 },
      { times: 4 },
    );
    const admitted = Array.from({ length: 4 }, () => leases.admit(scale.caller));
    await eventually(async () =>
      expect((await scrape()).sum('pressroom_mongodb_connections', { state: 'in_use' })).to.equal(
        4,
      ),
    );
    for (const lease of await Promise.all(admitted)) await leases.release(lease);
    const idle = await scrape();
    expect(idle.sum('pressroom_mongodb_connections', { state: 'in_use' })).to.equal(0);
    expect(idle.sum('pressroom_mongodb_connections', { state: 'idle' })).to.be.at.least(4);
    expect(idle.sum('pressroom_mongodb_waiting_operations')).to.equal(0);
    await close();
    expect((await scrape()).by('pressroom_mongodb_connections', 'state')).to.deep.equal({
      in_use: 0,
      idle: 0,
    });
  });

  it('shows operations that wait for a connection', async () => {
    const scale = await fixture.account('scale');
    const { leases, scrape } = await slowStore('&maxPoolSize=1');
    await fixture.failCommands(
      'findAndModify',
      { blockConnection: true, blockTimeMS: 1_500 },
      { times: 1 },
    );
    const admitted = Array.from({ length: 3 }, () => leases.admit(scale.caller));
    await eventually(async () =>
      expect((await scrape()).sum('pressroom_mongodb_waiting_operations')).to.equal(2),
    );
    for (const lease of await Promise.all(admitted)) await leases.release(lease);
    expect((await scrape()).sum('pressroom_mongodb_waiting_operations')).to.equal(0);
  });
});
