import { setImmediate as loopTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { SlotRejected, WorkerUnreachable } from '../../../../api/workers/slot-port.ts';
import { createTicketChecker } from '../../../../common/ticket.ts';
import {
  createDispatchFixture,
  type DispatchFixture,
  failureOf,
} from '../../../support/dispatch-fixture.ts';
import { workerStatus } from '../../../support/fake-slots.ts';

describe('the dispatcher', () => {
  let fixture: DispatchFixture;

  beforeEach(() => {
    fixture = createDispatchFixture();
  });

  afterEach(() => fixture.close());

  it('runs the work on a slot, returns its result and releases the slot', async () => {
    fixture.registry.report('ws://a:1', workerStatus(1));
    const call = fixture.call('x', async session => `printed on ${session.worker}`);
    const session = await fixture.slots.next();
    expect(await call.answer).to.equal('printed on ws://a:1');
    expect(session.isClosed).to.equal(true);
    expect(call.phases).to.deep.equal(['queued', 'running']);
  });

  it('releases the slot when the work fails, and rejects with its error', async () => {
    fixture.registry.report('ws://a:1', workerStatus(1));
    const broken = new Error('the selector is wrong');
    const call = fixture.call('x', () => Promise.reject(broken));
    expect(await failureOf(call.answer)).to.equal(broken);
    expect((await fixture.slots.next()).isClosed).to.equal(true);
  });

  it('sends the worker a ticket for this render, a new one at each attempt', async () => {
    fixture.registry.report('ws://a:1', workerStatus(2));
    fixture.call('x', undefined, { renderId: 'r-1', egress: 'intranet', maxMs: 61_000 });
    fixture.call('x', undefined, { renderId: 'r-2' });
    const [first, second] = [await fixture.slots.next(), await fixture.slots.next()];
    const check = createTicketChecker('the secret of the pool', 'default');
    expect(check(first.ticket, 'slot')).to.deep.include({ ok: true }).and.nested.include({
      'ticket.renderId': 'r-1',
      'ticket.egress': 'intranet',
      'ticket.maxMs': 61_000,
    });
    expect(check(second.ticket, 'slot')).to.deep.include({ ok: true });
  });

  it('opens no more slots at the same time than the workers have', async () => {
    const release = fixture.slots.hold();
    fixture.registry.report('ws://a:1', workerStatus(2));
    fixture.registry.report('ws://b:1', workerStatus(1));
    for (let i = 0; i < 10; i++) fixture.call(`account ${i}`);
    await loopTurn();
    expect(fixture.slots.inFlight()).to.equal(3);
    release();
    await loopTurn();
    expect(fixture.slots.attempts, 'open now, and no worker has reported more').to.have.length(3);
    fixture.registry.report('ws://b:1', workerStatus(1, { busy: 1 }));
    await loopTurn();
    expect(fixture.slots.attempts).to.have.length(4);
  });

  it('serves the account with the fewest slots first, and trial renders last', async () => {
    fixture.call('trial', undefined, { trial: true, renderId: 'trial' });
    fixture.call('a', undefined, { renderId: 'a1' });
    fixture.call('a', undefined, { renderId: 'a2' });
    fixture.call('b', undefined, { renderId: 'b1' });
    fixture.registry.report('ws://a:1', workerStatus(8));
    const check = createTicketChecker('the secret of the pool', 'default');
    const order = [];
    for (let i = 0; i < 4; i++) {
      const result = check((await fixture.slots.next()).ticket, 'slot');
      order.push(result.ok && result.ticket.renderId);
    }
    expect(order).to.deep.equal(['a1', 'b1', 'a2', 'trial']);
  });

  it('goes to the next worker when one rejects, and keeps its position in the queue', async () => {
    fixture.slots.failNext(new SlotRejected());
    fixture.registry.report('ws://a:1', workerStatus(2));
    fixture.call('x', undefined, { renderId: 'first' });
    fixture.call('y', undefined, { renderId: 'second' });
    await loopTurn();
    expect(fixture.slots.attempts).to.deep.equal(['ws://a:1', 'ws://a:1']);
    expect(fixture.slots.unclaimed(), 'only the second has a slot').to.equal(1);
    fixture.call('z', undefined, { renderId: 'third' });
    fixture.registry.report('ws://b:1', workerStatus(1));
    await fixture.slots.next();
    const ticket = createTicketChecker('the secret of the pool', 'default')(
      (await fixture.slots.next()).ticket,
      'slot',
    );
    expect(ticket.ok && ticket.ticket.renderId).to.equal('first');
    expect(fixture.slots.attempts.slice(2)).to.deep.equal(['ws://b:1']);
  });

  it('runs the render on another worker when one cannot be reached', async () => {
    fixture.slots.failNext(new WorkerUnreachable());
    fixture.registry.report('ws://a:1', workerStatus(1));
    const call = fixture.call('x', async () => 'printed');
    await loopTurn();
    fixture.registry.report('ws://b:1', workerStatus(1));
    expect(await call.answer).to.equal('printed');
    expect(fixture.slots.attempts).to.deep.equal(['ws://a:1', 'ws://b:1']);
  });

  it('removes a queued render at once when the client disconnects', async () => {
    const call = fixture.call('x');
    expect(fixture.dispatch.depth()).to.equal(1);
    const why = new Error('the client disconnected');
    call.abort(why);
    expect(fixture.dispatch.depth()).to.equal(0);
    expect(await failureOf(call.answer)).to.equal(why);
    fixture.registry.report('ws://a:1', workerStatus(1));
    await loopTurn();
    expect(fixture.slots.attempts).to.deep.equal([]);
  });

  it('rejects a render whose signal is already aborted', async () => {
    const why = new Error('the lease is lost');
    const call = fixture.call('x', undefined, { signal: AbortSignal.abort(why) });
    expect(await failureOf(call.answer)).to.equal(why);
  });

  it('cancels the slot reservation when the client disconnects while the slot is opened', async () => {
    const release = fixture.slots.hold();
    fixture.registry.report('ws://a:1', workerStatus(1));
    const call = fixture.call('x');
    await loopTurn();
    call.abort(new Error('gone'));
    await failureOf(call.answer);
    release();
    const other = fixture.call('y', async () => 'printed');
    expect(await other.answer).to.equal('printed');
  });

  it('closes a session that opens after the client has disconnected', async () => {
    const release = fixture.slots.hold({ ignoresAbort: true });
    fixture.registry.report('ws://a:1', workerStatus(1));
    const call = fixture.call('x');
    await loopTurn();
    call.abort(new Error('gone'));
    await failureOf(call.answer);
    release();
    const session = await fixture.slots.next();
    await loopTurn();
    expect(session.isClosed).to.equal(true);
  });

  it('closes the session at once when the client disconnects while the page renders', async () => {
    fixture.registry.report('ws://a:1', workerStatus(1));
    const call = fixture.call('x', () => new Promise<never>(() => {}));
    const session = await fixture.slots.next();
    await loopTurn();
    const why = new Error('the client disconnected');
    call.abort(why);
    expect(session.isClosed).to.equal(true);
    expect(await failureOf(call.answer)).to.equal(why);
  });

  it('rejects with queue_full and Retry-After when too many renders or bytes wait', async () => {
    fixture.close();
    fixture = createDispatchFixture({ maxLength: 2, maxBytes: 100 });
    const first = fixture.call('a', undefined, { bytes: 60 });
    const heavy = await failureOf(fixture.call('b', undefined, { bytes: 41 }).answer);
    expect(heavy).to.include({ code: 'render_failed', reason: 'queue_full' });
    fixture.call('b', undefined, { bytes: 20 });
    const third = await failureOf(fixture.call('c', undefined, { bytes: 0 }).answer);
    expect(third).to.include({ code: 'render_failed', reason: 'queue_full' });
    expect(third.headers).to.deep.equal({ 'Retry-After': '1' });
    first.abort(new Error('gone'));
    fixture.call('c', undefined, { bytes: 0 });
    expect(fixture.dispatch.depth()).to.equal(2);
  });

  it('rejects an account that has its share of the queue with concurrency_limit', async () => {
    fixture.close();
    fixture = createDispatchFixture({ maxLength: 4, maxBytes: 1_000 });
    for (let call = 0; call < 3; call++) fixture.call('a');
    const error = await failureOf(fixture.call('a').answer);
    expect(error).to.include({ code: 'concurrency_limit', status: 429 });
    fixture.call('b');
    expect(fixture.dispatch.depth()).to.equal(4);
  });

  it('exposes depth, oldest wait, workers and slot attempts with the label of the pool', async () => {
    fixture.call('x');
    fixture.call('y');
    expect(await fixture.metrics.text())
      .to.include('pressroom_queue_depth{pool="default"} 2')
      .and.include('pressroom_workers_known{pool="default"} 0');
    fixture.slots.failNext(new SlotRejected());
    fixture.registry.report('ws://a:1', workerStatus(2));
    await loopTurn();
    const text = await fixture.metrics.text();
    expect(text).to.include('pressroom_queue_depth{pool="default"} 1');
    expect(text).to.include('pressroom_slot_claims_total{pool="default",outcome="refused"} 1');
    expect(text).to.include('pressroom_slot_claims_total{pool="default",outcome="opened"} 1');
    expect(text).to.include('pressroom_workers_known{pool="default"} 1');
  });
});
