import { expect } from 'chai';
import { MongoNetworkError } from 'mongodb';
import type { LeaseTimes } from '../../api/accounts/mongo-leases.ts';
import { type AccountDocument, connectStore, type RepeatableWrites, type Store } from '../../api/store/store.ts';
import { silentLog } from '../../common/log.ts';
import { createMetrics } from '../../common/operations.ts';
import { commandOf } from '../fault/harness/frames.ts';
import { type Link, openLink } from '../fault/harness/link.ts';
import { readSamples } from '../fault/harness/samples.ts';
import { type LeaseRig, leaseRig, refusal, until } from '../support/lease-rig.ts';

const WRITES = ['findAndModify', 'update'];
/** So that no renewal is among the writes. */
const UNRENEWED: Partial<LeaseTimes> = { renewEveryMs: 60_000 };
/** Of a month that goes on for as long as any test. */
const usage = { period: '2999-12', count: 0 };
const NO_MAJORITY = { writeConcernError: { code: 91, errmsg: 'Replication is being shut down' } };

describe('a lease whose answers get lost', () => {
  let rig: LeaseRig;
  let link: Link;
  let store: Store;
  const more: Store[] = [];
  async function through(operationTimeoutMs: number): Promise<Store> {
    const uri = rig.uriThrough(link.port);
    const made = connectStore({ uri, operationTimeoutMs }, silentLog);
    await made.start();
    more.push(made);
    return made;
  }
  before(async () => {
    rig = await leaseRig();
    link = await openLink(rig.mongod.port, 'mongodb');
    store = await through(700);
  });
  afterEach(() => {
    link.heal();
    return rig.reset();
  });
  after(async () => {
    for (const each of more) await each.stop(new AbortController().signal);
    await link?.close();
    await rig?.close();
  });

  const isWrite = (frame: Buffer | undefined) => !!frame && WRITES.includes(commandOf(frame)!);
  /** The connection breaks when the next answers to writes come: MongoDB has done them. */
  const loseAnswers = (times: number) => link.onFrame({ direction: 'down', matches: (_, { before }) => isWrite(before), do: 'cut', times });
  /** The connection breaks with the next writes on their way to MongoDB. */
  const loseWrites = (times: number) => link.onFrame({ direction: 'up', matches: frame => isWrite(frame), do: 'cut', times });

  /** What each of the writes of a lease must survive once. */
  const MISHAPS: Record<string, () => Promise<unknown>> = {
    'the connection breaks before': async () => loseWrites(1),
    'the server closes the connection': () => rig.failing(WRITES, { closeConnection: true }, { times: 1 }),
    'the server is no primary any more': () => rig.failing(WRITES, { errorCode: 10107 }, { times: 1 }),
    'the server shuts down': () => rig.failing(WRITES, { errorCode: 91 }, { times: 1 }),
    'the primary steps down': () => rig.failing(WRITES, { errorCode: 11602 }, { times: 1 }),
  };
  /** The same, after MongoDB has done them. */
  const DONE: typeof MISHAPS = {
    'the answer is lost': async () => loseAnswers(1),
    'a majority may not have it': () => rig.failing(WRITES, NO_MAJORITY, { times: 1 }),
  };
  for (const [mishap, happen] of Object.entries({ ...MISHAPS, ...DONE })) {
    it(`is admitted, counted and released once each, when ${mishap}`, async () => {
      const scale = await rig.account('scale', { usage });
      const metrics = createMetrics({ processDefaults: false });
      const leases = await rig.replica(UNRENEWED, store, metrics);
      // The short ways are known, which each mishap meets first.
      await leases.settle(await leases.admit(scale.caller));
      const admitted = [];
      for (const count of [1, 2, 3]) {
        await happen();
        admitted.push(await leases.admit(scale.caller));
        expect(await scale.leaseCount()).to.equal(count);
      }
      const [first, second, third] = admitted;
      const known = !(mishap in DONE);
      await happen();
      expect(await leases.settle(first!)).to.equal(known ? 2 : undefined);
      await happen();
      expect(await leases.settle(second!)).to.equal(known ? 3 : undefined);
      await happen();
      await leases.release(third!);
      expect(leases.counts()).to.deep.equal({ held: 0, waiting: 0 });
      expect(await scale.usage()).to.equal(3);
      expect(await scale.leaseCount()).to.equal(0);
      const samples = readSamples(await metrics.text());
      expect(samples.sum('pressroom_renders_settled_total')).to.equal(3);
      expect(samples.sum('pressroom_renders_uncounted_total')).to.equal(0);
    });
  }

  it('is admitted once for a member, when the answer is lost', async () => {
    const scale = await rig.account('scale');
    const leases = await rig.replica(UNRENEWED, store);
    for (const count of [1, 2]) {
      const lost = loseAnswers(1);
      await leases.admit({ accountId: scale.id, user: 'usr_ada', requestId: 'request-of-ada' });
      expect(lost.hits()).to.equal(1);
      expect(await scale.leaseCount()).to.equal(count);
    }
  });

  it('is given back when nobody knows that it was admitted', async () => {
    const scale = await rig.account('scale');
    const leases = await rig.replica({}, store);
    const lost = loseAnswers(2);
    expect(await refusal(leases.admit(scale.caller))).to.include({ code: 'render_failed', reason: 'database' });
    expect(lost.hits()).to.equal(2);
    expect(await scale.leaseCount()).to.equal(1);
    await until(async () => (await scale.leaseCount()) === 0);
  });

  it('is given back when its second attempt was refused, and the first arrives after all', async () => {
    const free = await rig.account('free');
    const patient = await rig.replica({}, await through(3_000));
    const others = await rig.replica();
    const held = await others.admit(free.caller);
    await rig.failing('findAndModify', { blockConnection: true, blockTimeMS: 2_000 }, { times: 1 });
    let sent = 0;
    link.onFrame({ direction: 'up', matches: frame => isWrite(frame) && sent++ < 0, do: 'cut' });
    const call = refusal(patient.admit(free.caller));
    await until(() => sent > 0);
    link.cut();
    expect((await call).code).to.equal('concurrency_limit');
    expect(sent).to.equal(2);
    await others.release(held);
    expect(await free.leaseCount()).to.equal(0);
    await until(async () => (await free.leaseCount()) === 1);
    expect(patient.counts()).to.deep.equal({ held: 0, waiting: 1 });
    await until(async () => (await free.leaseCount()) === 0);
  });

  /** The store of a process that hears nothing of its first write, after which `change` happens. */
  function deafOnce(change: () => Promise<unknown>): Store {
    let deaf = true;
    const { leaseWrites } = store;
    const once =
      <A extends unknown[], T>(write: (...of: A) => Promise<T>) =>
      async (...of: A): Promise<T> => {
        const answer = await write(...of);
        if (!deaf) return answer;
        deaf = false;
        await change();
        throw new MongoNetworkError('the answer is lost');
      };
    const { update, updates, findAndModify } = leaseWrites;
    const writes: RepeatableWrites = { update: once(update), updates: once(updates), findAndModify: once(findAndModify) };
    return { ...store, leaseWrites: writes };
  }

  const CHANGES: Record<string, Partial<AccountDocument>> = {
    'the key is revoked': { keys: [] },
    'the account is paused': { state: 'paused' },
    'the plan is smaller': { plan: 'free' },
  };
  for (const [change, to] of Object.entries(CHANGES)) {
    it(`stays admitted when ${change} before it is asked again`, async () => {
      const scale = await rig.account('scale');
      const running = await (await rig.replica()).admit(scale.caller);
      const changed = () => rig.store.accounts.updateOne({ _id: scale.id }, { $set: to });
      const leases = await rig.replica({}, deafOnce(changed));
      const lease = await leases.admit(scale.caller);
      expect((await scale.read()).leases.map(({ id }) => id)).to.deep.equal([running.id, lease.id]);
      await leases.settle(lease);
      expect(await scale.usage()).to.equal(1);
    });
  }

  it('tells no count that another render was told too', async () => {
    const scale = await rig.account('scale', { usage });
    const others = await rig.replica();
    const counts: unknown[] = [];
    const another = async () => counts.push(await others.settle(await others.admit(scale.caller)));
    const lease = await others.admit(scale.caller);
    counts.push(await rig.operations(deafOnce(another)).settle(scale.id, lease.id));
    expect(counts).to.deep.equal([2, 'unheard']);
    expect(await scale.usage()).to.equal(2);
  });

  it('is counted once when only the background hears of it', async () => {
    const scale = await rig.account('scale');
    const leases = await rig.replica({}, store);
    const lease = await leases.admit(scale.caller);
    const lost = loseAnswers(3);
    expect(await leases.settle(lease)).to.equal(undefined);
    await until(() => leases.counts().waiting === 0);
    expect(lost.hits()).to.equal(3);
    expect(await scale.usage()).to.equal(1);
    expect(await scale.leaseCount()).to.equal(0);
  });
});
