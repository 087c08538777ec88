// @proves X-Usage-Count

import { expect } from 'chai';
import type { LeaseTimes } from '../../../api/leases/mongo-leases.ts';
import type { AccountDocument, Store } from '../../../api/store/store.ts';
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
 * After a "not primary" error the driver checks for the primary at most every 500 ms
 * (minHeartbeatFrequencyMS) and repeats the write only then.
 */
const PATIENT_MS = 10_000;
/** No renewal happens among the writes under test. */
const PATIENT: Partial<LeaseTimes> = { renewEveryMs: 60_000, settleWithinMs: PATIENT_MS };
/** A period that outlasts the tests. */
const usage = { period: '2999-12', count: 0 };
const NO_MAJORITY = { writeConcernError: { code: 91, errmsg: 'Replication is being shut down' } };

describe('a lease whose database answers are lost', () => {
  let fixture: LeaseFixture;
  let link: Link;
  let store: Store;
  let patient: Store;
  const through = (operationTimeoutMs: number) =>
    fixture.connect(operationTimeoutMs, fixture.uriThrough(link.port));
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
    await fixture?.close();
    await link?.close();
  });

  const isWrite = (frame: Buffer | undefined) => !!frame && WRITES.includes(commandOf(frame)!);
  /** Breaks the connection when the next answers to writes arrive: MongoDB has executed them. */
  const loseAnswers = (times: number) =>
    link.onFrame({
      direction: 'down',
      matches: (_, { before }) => isWrite(before),
      do: 'cut',
      times,
    });
  /** Breaks the connection before the next writes reach MongoDB. */
  const loseWrites = (times: number) =>
    link.onFrame({ direction: 'up', matches: frame => isWrite(frame), do: 'cut', times });

  /** Each write of a lease must survive each of these once. */
  const FAILURES: Record<string, () => Promise<unknown>> = {
    'the connection breaks before the write': async () => loseWrites(1),
    'the server closes the connection': () =>
      fixture.failCommands(WRITES, { closeConnection: true }, { times: 1 }),
    'the server is no longer primary': () =>
      fixture.failCommands(WRITES, { errorCode: 10107 }, { times: 1 }),
    'the server shuts down': () => fixture.failCommands(WRITES, { errorCode: 91 }, { times: 1 }),
    'the primary steps down': () =>
      fixture.failCommands(WRITES, { errorCode: 11602 }, { times: 1 }),
    // These happen after MongoDB has executed the write.
    'the answer is lost': async () => loseAnswers(1),
    'a majority may not have the write': () =>
      fixture.failCommands(WRITES, NO_MAJORITY, { times: 1 }),
  };
  for (const [failure, inject] of Object.entries(FAILURES)) {
    it(`is admitted, counted and released exactly once when ${failure}`, async () => {
      const scale = await fixture.account('scale', { usage, intranet: true });
      const metrics = createMetrics({ processDefaults: false });
      const leases = await fixture.replica(PATIENT, patient, metrics);
      const admitted = [];
      for (const count of [1, 2, 3]) {
        await inject();
        admitted.push(await leases.admit(scale.caller));
        expect(admitted.at(-1)!.intranet).to.equal(true);
        expect(await scale.leaseCount()).to.equal(count);
      }
      const [first, second, third] = admitted;
      await inject();
      expect(await leases.settle(first!)).to.equal(1);
      await inject();
      expect(await leases.settle(second!)).to.equal(2);
      await inject();
      await leases.release(third!);
      expect(leases.counts()).to.deep.equal({ held: 0, waiting: 0 });
      expect(await scale.usage()).to.equal(2);
      expect(await scale.leaseCount()).to.equal(0);
      const samples = readSamples(await metrics.text());
      expect(samples.sum('pressroom_renders_settled_total')).to.equal(2);
      expect(samples.sum('pressroom_renders_uncounted_total')).to.equal(0);
    });
  }

  it('is admitted once for a member when the answer is lost', async () => {
    const scale = await fixture.account('scale');
    const leases = await fixture.replica(PATIENT, patient);
    const lost = loseAnswers(1);
    await leases.admit({ accountId: scale.id, user: 'usr_ada', requestId: 'request-of-ada' });
    expect(lost.hits()).to.equal(1);
    expect(await scale.leaseCount()).to.equal(1);
  });

  it('is released when the result of its admission is unknown', async () => {
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

  /** MongoDB executes the next write. Its answer and all later ones on the connection are lost. */
  async function unanswered(): Promise<void> {
    const silent = link.onFrame({
      direction: 'down',
      matches: (_, { before }) => isWrite(before),
      do: 'swallow',
      times: 1,
    });
    await until(() => silent.hits() === 1);
  }

  it('is admitted once for each of six calls in progress when all connections break', async () => {
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
    it(`stays admitted when ${change} before the driver retries`, async () => {
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
    // The driver retries after the time limit of the silent connection.
    expect(await count).to.equal(1);
    expect(await scale.usage()).to.equal(2);
  });

  it('is counted once when only a background retry receives the answer', async () => {
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
