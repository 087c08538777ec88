// @proves X-Usage-Count

import { expect } from 'chai';
import type { LeaseTimes } from '../../../api/leases/mongo-leases.ts';
import { type AccountDocument, connectStore, type Store } from '../../../api/store/store.ts';
import { silentLog } from '../../../common/log.ts';
import { createMetrics } from '../../../common/operations.ts';
import { commandOf } from '../../fault/harness/frames.ts';
import { type Link, openLink } from '../../fault/harness/link.ts';
import { readSamples } from '../../fault/harness/samples.ts';
import {
  type LeaseFixture,
  leaseFixture,
  rejectionOf,
  until,
} from '../../support/lease-fixture.ts';

const WRITES = ['findAndModify', 'update'];
/**
 * After a "no primary" error the driver looks for the primary at most every 500 ms
 * (minHeartbeatFrequencyMS), and repeats the write only then.
 */
const PATIENT_MS = 10_000;
/** So that no renewal is among the writes. */
const PATIENT: Partial<LeaseTimes> = { renewEveryMs: 60_000, settleWithinMs: PATIENT_MS };
/** Of a month that goes on for as long as any test. */
const usage = { period: '2999-12', count: 0 };
const NO_MAJORITY = { writeConcernError: { code: 91, errmsg: 'Replication is being shut down' } };

describe('a lease whose answers get lost', () => {
  let fixture: LeaseFixture;
  let link: Link;
  let store: Store;
  let patient: Store;
  const more: Store[] = [];
  async function through(operationTimeoutMs: number): Promise<Store> {
    const uri = fixture.uriThrough(link.port);
    const made = connectStore({ uri, operationTimeoutMs }, silentLog);
    await made.start();
    more.push(made);
    return made;
  }
  before(async () => {
    fixture = await leaseFixture();
    link = await openLink(fixture.mongod.port, 'mongodb');
    store = await through(700);
    patient = await through(PATIENT_MS);
  });
  afterEach(() => {
    link.heal();
    return fixture.reset();
  });
  after(async () => {
    for (const each of more) await each.stop(new AbortController().signal);
    await link?.close();
    await fixture?.close();
  });

  const isWrite = (frame: Buffer | undefined) => !!frame && WRITES.includes(commandOf(frame)!);
  /** The connection breaks when the next answers to writes come: MongoDB has done them. */
  const loseAnswers = (times: number) =>
    link.onFrame({
      direction: 'down',
      matches: (_, { before }) => isWrite(before),
      do: 'cut',
      times,
    });
  /** The connection breaks with the next writes on their way to MongoDB. */
  const loseWrites = (times: number) =>
    link.onFrame({ direction: 'up', matches: frame => isWrite(frame), do: 'cut', times });

  /** What each of the writes of a lease must survive once. */
  const MISHAPS: Record<string, () => Promise<unknown>> = {
    'the connection breaks before': async () => loseWrites(1),
    'the server closes the connection': () =>
      fixture.failCommands(WRITES, { closeConnection: true }, { times: 1 }),
    'the server is no primary any more': () =>
      fixture.failCommands(WRITES, { errorCode: 10107 }, { times: 1 }),
    'the server shuts down': () => fixture.failCommands(WRITES, { errorCode: 91 }, { times: 1 }),
    'the primary steps down': () =>
      fixture.failCommands(WRITES, { errorCode: 11602 }, { times: 1 }),
    // After MongoDB has executed them.
    'the answer is lost': async () => loseAnswers(1),
    'a majority may not have it': () => fixture.failCommands(WRITES, NO_MAJORITY, { times: 1 }),
  };
  for (const [mishap, happen] of Object.entries(MISHAPS)) {
    it(`is admitted, counted and released once each, when ${mishap}`, async () => {
      const scale = await fixture.account('scale', { usage, intranet: true });
      const metrics = createMetrics({ processDefaults: false });
      const leases = await fixture.replica(PATIENT, patient, metrics);
      const admitted = [];
      for (const count of [1, 2, 3]) {
        await happen();
        admitted.push(await leases.admit(scale.caller));
        expect(admitted.at(-1)!.intranet).to.equal(true);
        expect(await scale.leaseCount()).to.equal(count);
      }
      const [first, second, third] = admitted;
      await happen();
      expect(await leases.settle(first!)).to.equal(1);
      await happen();
      expect(await leases.settle(second!)).to.equal(2);
      await happen();
      await leases.release(third!);
      expect(leases.counts()).to.deep.equal({ held: 0, waiting: 0 });
      expect(await scale.usage()).to.equal(2);
      expect(await scale.leaseCount()).to.equal(0);
      const samples = readSamples(await metrics.text());
      expect(samples.sum('pressroom_renders_settled_total')).to.equal(2);
      expect(samples.sum('pressroom_renders_uncounted_total')).to.equal(0);
    });
  }

  it('is admitted once for a member, when the answer is lost', async () => {
    const scale = await fixture.account('scale');
    const leases = await fixture.replica(PATIENT, patient);
    const lost = loseAnswers(1);
    await leases.admit({ accountId: scale.id, user: 'usr_ada', requestId: 'request-of-ada' });
    expect(lost.hits()).to.equal(1);
    expect(await scale.leaseCount()).to.equal(1);
  });

  it('is given back when nobody knows that it was admitted', async () => {
    const scale = await fixture.account('scale');
    const leases = await fixture.replica({}, store);
    const lost = loseAnswers(2);
    expect(await rejectionOf(leases.admit(scale.caller))).to.include({
      code: 'render_failed',
      reason: 'database',
    });
    expect(lost.hits()).to.equal(2);
    expect(await scale.leaseCount()).to.equal(1);
    await until(async () => (await scale.leaseCount()) === 0);
  });

  /**
   * MongoDB executes the next write; its answer and everything later on its connection are lost.
   */
  async function unanswered(): Promise<void> {
    const silent = link.onFrame({
      direction: 'down',
      matches: (_, { before }) => isWrite(before),
      do: 'swallow',
      times: 1,
    });
    await until(() => silent.hits() === 1);
  }

  it('is admitted once each by six calls that are in progress when all connections break', async () => {
    const scale = await fixture.account('scale');
    const leases = await fixture.replica(PATIENT, patient);
    await fixture.failCommands(
      'findAndModify',
      { blockConnection: true, blockTimeMS: 500 },
      { times: 6 },
    );
    let sent = 0;
    link.onFrame({ direction: 'up', matches: frame => isWrite(frame) && sent++ < 0, do: 'cut' });
    const calls = Array.from({ length: 6 }, () => leases.admit(scale.caller));
    await until(() => sent === 6);
    link.cut();
    const ids = (await Promise.all(calls)).map(({ id }) => id);
    const held = (await scale.read()).leases.map(({ id }) => id);
    expect(held).to.have.members(ids).and.to.have.length(6);
  });

  const CHANGES: Record<string, Partial<AccountDocument>> = {
    'the key is revoked': { keys: [] },
    'the account is paused': { state: 'paused' },
    'the plan is smaller': { plan: 'free' },
  };
  for (const [change, to] of Object.entries(CHANGES)) {
    it(`stays admitted when ${change} before it is asked again`, async () => {
      const scale = await fixture.account('scale');
      const running = await (await fixture.replica()).admit(scale.caller);
      const changed = () => fixture.store.accounts.updateOne({ _id: scale.id }, { $set: to });
      const leases = await fixture.replica(PATIENT, patient);
      const call = leases.admit(scale.caller);
      await unanswered();
      await changed();
      link.cut();
      const lease = await call;
      expect((await scale.read()).leases.map(({ id }) => id)).to.deep.equal([running.id, lease.id]);
      await leases.settle(lease);
      expect(await scale.usage()).to.equal(1);
    });
  }

  it('returns its own count when another render is counted before the retry', async () => {
    const scale = await fixture.account('scale', { usage });
    const others = await fixture.replica();
    const leases = await fixture.replica(PATIENT, store);
    const lease = await leases.admit(scale.caller);
    const count = leases.settle(lease);
    await unanswered();
    expect(await others.settle(await others.admit(scale.caller))).to.equal(2);
    // The driver repeats it after the silent connection's time limit.
    expect(await count).to.equal(1);
    expect(await scale.usage()).to.equal(2);
  });

  it('is counted once when only the background hears of it', async () => {
    const scale = await fixture.account('scale');
    const leases = await fixture.replica({}, store);
    const lease = await leases.admit(scale.caller);
    const lost = loseAnswers(3);
    expect(await leases.settle(lease)).to.equal(undefined);
    await until(() => leases.counts().waiting === 0);
    expect(lost.hits()).to.equal(3);
    expect(await scale.usage()).to.equal(1);
    expect(await scale.leaseCount()).to.equal(0);
  });
});
