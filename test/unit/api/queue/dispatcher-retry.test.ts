// @proves worker_lost

import { setImmediate as loopTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { BrowserFailed, type SlotEndReason, SlotLost } from '../../../../api/workers/slot-port.ts';
import {
  createDispatchFixture,
  type DispatchFixture,
  failureOf,
} from '../../../support/dispatch-fixture.ts';
import { workerStatus } from '../../../support/fake-slots.ts';

describe('a retry of the dispatcher', () => {
  let fixture: DispatchFixture;

  beforeEach(() => {
    fixture = createDispatchFixture();
  });

  afterEach(() => fixture.close());

  for (const end of [
    'chrome_died',
    'worker_stopping',
    'silent',
    'closed',
  ] satisfies SlotEndReason[]) {
    it(`runs a render again on another worker when its slot ends with ${end}`, async () => {
      fixture.registry.report('ws://a:1', workerStatus(2));
      const call = fixture.call('x', session =>
        session.worker === 'ws://a:1' ? session.work() : Promise.resolve('printed'),
      );
      const first = await fixture.slots.next();
      fixture.registry.report('ws://b:1', workerStatus(1));
      first.end(end);
      expect(await call.answer).to.equal('printed');
      expect(fixture.slots.attempts).to.deep.equal(['ws://a:1', 'ws://b:1']);
      expect(first.isClosed).to.equal(true);
      expect(call.phases).to.deep.equal(['queued', 'running', 'queued', 'running']);
      expect(await fixture.metrics.text()).to.include(
        'pressroom_render_retries_total{pool="default"} 1',
      );
    });
  }

  for (const end of [
    'renderer_crashed',
    'memory',
    'deadline',
    'flooded',
    'refused',
  ] satisfies SlotEndReason[]) {
    it(`does not run a render again when its slot ends with ${end}`, async () => {
      fixture.registry.report('ws://a:1', workerStatus(2));
      fixture.registry.report('ws://b:1', workerStatus(2));
      const call = fixture.call('x');
      (await fixture.slots.next()).end(end);
      expect(await failureOf(call.answer))
        .to.be.instanceOf(SlotLost)
        .and.include({ end });
      expect(fixture.slots.attempts).to.have.length(1);
    });
  }

  it('runs a render again on another worker after a Chrome failure, and rejects with the second failure', async () => {
    fixture.registry.report('ws://a:1', workerStatus(1));
    fixture.registry.report('ws://b:1', workerStatus(1));
    let rejections = 0;
    const call = fixture.call('x', () =>
      Promise.reject(new BrowserFailed(`rejection ${++rejections}`)),
    );
    expect(await failureOf(call.answer)).to.include({
      name: 'BrowserFailed',
      message: 'rejection 2',
    });
    expect(fixture.slots.attempts).to.have.members(['ws://a:1', 'ws://b:1']);
  });

  it('rejects with worker_lost when the second slot is lost too', async () => {
    fixture.registry.report('ws://a:1', workerStatus(1));
    fixture.registry.report('ws://b:1', workerStatus(1));
    const call = fixture.call('x');
    (await fixture.slots.next()).end('chrome_died');
    (await fixture.slots.next()).end('silent');
    const failure = await failureOf(call.answer);
    expect(failure).to.include({ code: 'render_failed', reason: 'worker_lost' });
    expect(failure.cause).to.include({ end: 'silent' });
    expect(fixture.slots.attempts).to.have.members(['ws://a:1', 'ws://b:1']);
  });

  it('uses the same worker when there is no other, once it is ready again', async () => {
    fixture.registry.report('ws://a:1', workerStatus(1));
    const call = fixture.call('x');
    const first = await fixture.slots.next();
    await loopTurn();
    fixture.registry.report('ws://a:1', workerStatus(0));
    first.end('chrome_died');
    await loopTurn();
    expect(fixture.slots.attempts).to.have.length(1);
    fixture.registry.report('ws://a:1', workerStatus(1));
    await fixture.slots.next();
    expect(fixture.slots.attempts).to.deep.equal(['ws://a:1', 'ws://a:1']);
    call.abort(new Error('enough'));
  });

  it('waits for another busy worker, and lets other renders use the worker that it avoids', async () => {
    fixture.registry.report('ws://a:1', workerStatus(1));
    fixture.call('x', undefined, { renderId: 'the retry' });
    const first = await fixture.slots.next();
    await loopTurn();
    fixture.registry.report('ws://b:1', workerStatus(0, { busy: 1 }));
    fixture.registry.report('ws://a:1', workerStatus(0));
    first.end('chrome_died');
    await loopTurn();
    fixture.registry.report('ws://a:1', workerStatus(1));
    fixture.call('y');
    expect((await fixture.slots.next()).worker).to.equal('ws://a:1');
    await loopTurn();
    expect(fixture.dispatch.depth()).to.equal(1);
    fixture.registry.report('ws://b:1', workerStatus(1));
    expect((await fixture.slots.next()).worker).to.equal('ws://b:1');
    await loopTurn();
    expect(fixture.dispatch.depth()).to.equal(0);
  });

  it('runs before all renders that arrived after it', async () => {
    fixture.registry.report('ws://a:1', workerStatus(1));
    const served: string[] = [];
    const works = (name: string) => (session: { work(): Promise<never> }) => {
      served.push(name);
      return session.work();
    };
    fixture.call('x', works('x1'));
    fixture.call('x', works('x2'));
    fixture.call('y', works('y1'));
    const first = await fixture.slots.next();
    await loopTurn();
    first.end('worker_stopping');
    await loopTurn();
    fixture.registry.report('ws://a:1', undefined);
    fixture.registry.report('ws://b:1', workerStatus(3));
    await loopTurn();
    expect(served, 'the retry first, then who held less').to.deep.equal(['x1', 'x1', 'y1', 'x2']);
  });

  it('does not run again for a client that has disconnected', async () => {
    fixture.registry.report('ws://a:1', workerStatus(2));
    const call = fixture.call('x');
    await fixture.slots.next();
    const why = new Error('the lease is lost');
    call.abort(why); // closes the session, which ends the work with `closed`
    expect(await failureOf(call.answer)).to.equal(why);
    await loopTurn();
    expect(fixture.slots.attempts).to.have.length(1);
  });
});
