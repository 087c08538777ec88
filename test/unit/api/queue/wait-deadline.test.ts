// @proves no_worker, queue_full, queue-bounds

import { mock } from 'node:test';
import { setImmediate as loopTurn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { waitEndsAtMs } from '../../../../api/queue/wait-deadline.ts';
import { SlotRejected } from '../../../../api/workers/slot-port.ts';
import {
  createDispatchFixture,
  type DispatchFixture,
  failureOf,
} from '../../../support/dispatch-fixture.ts';
import { workerStatus } from '../../../support/fake-slots.ts';

const limits = { waitMs: 30_000, waitWithoutWorkersMs: 120_000 };

describe('the deadline of a wait', () => {
  for (const [what, sinceMs, knownSinceMs, endsMs] of [
    ['30 s while a worker was known all the time', 100_000, 50_000, 130_000],
    ['120 s while none is known', 100_000, undefined, 220_000],
    ['30 s more when the first worker comes', 100_000, 150_000, 180_000],
    ['never more than 120 s in all', 100_000, 210_000, 220_000],
  ] as const)
    it(`is ${what}`, () => {
      expect(waitEndsAtMs(sinceMs, knownSinceMs, limits)).to.equal(endsMs);
    });

  it('expires in the order in which the waits began, as the single timer requires', () => {
    const ms = fc.integer({ min: 0, max: 400_000 });
    fc.assert(
      fc.property(ms, ms, fc.option(ms, { nil: undefined }), (a, b, known) => {
        fc.pre(a <= b);
        expect(waitEndsAtMs(a, known, limits)).to.be.at.most(waitEndsAtMs(b, known, limits));
      }),
    );
  });
});

describe('the waits of the dispatcher', () => {
  let fixture: DispatchFixture;
  const busy = workerStatus(0, { busy: 2 });

  beforeEach(() => {
    fixture = createDispatchFixture();
  });

  afterEach(() => fixture.close());

  /** Moves the clock and lets everything that it woke run. */
  const pass = async (ms: number) => {
    mock.timers.tick(ms);
    await loopTurn();
  };

  it('end with no_worker and Retry-After after 30 s without a free slot', async () => {
    fixture.registry.report('ws://a:1', busy);
    const call = fixture.call('x');
    await pass(29_999);
    expect(fixture.dispatch.depth()).to.equal(1);
    expect(await fixture.metrics.text()).to.include(
      'pressroom_queue_oldest_wait_seconds{pool="default"} 29.999',
    );
    await pass(1);
    expect(fixture.dispatch.depth()).to.equal(0);
    const failure = await failureOf(call.answer);
    expect(failure).to.include({ code: 'render_failed', reason: 'no_worker' });
    expect(failure.headers).to.deep.equal({ 'Retry-After': '30' });
    expect(failure.message).to.equal('No worker had a free slot within 30 s. Try again later.');
  });

  it('end at their own times', async () => {
    fixture.registry.report('ws://a:1', busy);
    fixture.call('x');
    await pass(10_000);
    fixture.call('y');
    await pass(20_000);
    expect(fixture.dispatch.depth()).to.equal(1);
    await pass(9_999);
    expect(fixture.dispatch.depth()).to.equal(1);
    await pass(1);
    expect(fixture.dispatch.depth()).to.equal(0);
  });

  it('end after 120 s while no worker is known', async () => {
    const call = fixture.call('x');
    await pass(119_999);
    expect(fixture.dispatch.depth()).to.equal(1);
    await pass(1);
    const failure = await failureOf(call.answer);
    expect(failure).to.include({ reason: 'no_worker' });
    expect(failure.message).to.equal('No worker was connected within 120 s. Try again later.');
  });

  it('last 30 s longer when the first worker of a growing pool connects, busy or not', async () => {
    const call = fixture.call('x');
    await pass(60_000);
    fixture.registry.report('ws://a:1', busy);
    await pass(29_999);
    expect(fixture.dispatch.depth()).to.equal(1);
    await pass(1);
    expect(await failureOf(call.answer)).to.include({ reason: 'no_worker' });
  });

  it('end at once when a slot that was being opened at the deadline fails', async () => {
    fixture.registry.report('ws://a:1', workerStatus(1));
    const release = fixture.slots.hold();
    fixture.slots.failNext(new SlotRejected());
    const call = fixture.call('x');
    await pass(31_000);
    expect(fixture.dispatch.depth(), 'the slot may still open').to.equal(1);
    release();
    expect(await failureOf(call.answer)).to.include({ reason: 'no_worker' });
    expect(fixture.slots.attempts).to.have.length(1);
  });

  it('start again for a retry', async () => {
    fixture.registry.report('ws://a:1', workerStatus(1));
    const call = fixture.call('x');
    const session = await fixture.slots.next();
    fixture.registry.report('ws://a:1', busy);
    await pass(50_000);
    session.end('chrome_died');
    await loopTurn();
    await pass(29_999);
    expect(fixture.dispatch.depth()).to.equal(1);
    await pass(1);
    expect(await failureOf(call.answer)).to.include({ reason: 'no_worker' });
  });

  it('end within 20 ms when the only worker rejects once and sends no further status', async () => {
    fixture.slots.failNext(new SlotRejected());
    fixture.registry.report('ws://a:1', workerStatus(1));
    const call = fixture.call('x', async () => 'printed');
    await loopTurn();
    expect(fixture.slots.attempts).to.have.length(1);
    await pass(20);
    expect(await call.answer).to.equal('printed');
  });

  it('leave no timer when no render waits', async () => {
    mock.timers.reset();
    const timers = () =>
      process.getActiveResourcesInfo().filter(resource => resource === 'Timeout').length;
    fixture.registry.report('ws://a:1', busy);
    const before = timers();
    const call = fixture.call('x');
    expect(timers()).to.be.greaterThan(before);
    call.abort(new Error('gone'));
    expect(timers()).to.equal(before);
  });
});
