import { once } from 'node:events';
import { expect } from 'chai';
import { readSamples } from '../../fault/harness/samples.ts';
import { eventually } from '../../support/eventually.ts';
import { type PlainSlot, plainSlot } from '../../support/gateway-client.ts';
import { connectionsAt } from '../../support/listeners.ts';
import { errorOf, evaluate, startWorker, type TestWorker } from '../../support/worker.ts';

describe('reuse of slot connections', () => {
  let worker: TestWorker;

  beforeEach(async () => {
    worker = await startWorker();
    await worker.until({ ready: 2 });
  });
  afterEach(() => worker.stop());

  const sockets = () => connectionsAt(worker.worker.port());
  /** Uses a slot once, which leaves its connection open for reuse. */
  const useSlot = async () => {
    const session = await worker.open();
    expect(await evaluate(session, '6 * 7')).to.equal(42);
    session.close();
    await worker.until({ busy: 0, ready: 2 });
  };

  it('reuses a connection for the next render and opens a new page', async () => {
    const frames = new Set<string>();
    for (let render = 0; render < 5; render++) {
      const session = await worker.open();
      frames.add(session.frameId);
      expect(await evaluate(session, 'window.name + history.length')).to.equal('1');
      await evaluate(session, "history.pushState(null, ''); window.name = 'left behind'");
      session.close();
      await worker.until({ busy: 0, ready: 2 });
    }
    expect(frames.size).to.equal(5);
    expect(sockets()).to.be.within(1, 2);
  });

  it('delivers no events of the previous render to the next one', async () => {
    const noisy = await worker.open();
    await noisy.command('Runtime.enable');
    await evaluate(noisy, "setInterval(() => console.log('from the page before'), 1)");
    let received = 0;
    noisy.on('Runtime.consoleAPICalled', () => received++);
    await eventually(() => expect(received).to.be.greaterThan(5));
    noisy.close();
    const receivedAtEnd = received;
    await worker.until({ busy: 0, ready: 2 });
    const next = await worker.open();
    const events: unknown[] = [];
    next.on('Runtime.consoleAPICalled', event => events.push(event));
    await next.command('Runtime.enable');
    await evaluate(next, 'new Promise(resolve => setTimeout(resolve, 100))');
    expect(events).to.deep.equal([]);
    expect(received).to.equal(receivedAtEnd);
    expect(String(await errorOf(noisy.command('Runtime.enable')))).to.include('the render is over');
    next.close();
  });

  it('closes the connection when a command is still pending', async () => {
    await useSlot();
    const session = await worker.open();
    const never = errorOf(
      session.command('Runtime.evaluate', {
        expression: 'new Promise(() => {})',
        awaitPromise: true,
      }),
    );
    session.close();
    expect(String(await never)).to.include('SlotLost');
    await worker.until({ busy: 0, ready: 2 });
    await eventually(() => expect(sockets()).to.equal(0));
  });

  it('closes the connection of an abandoned render after its page has ended', async () => {
    const session = await worker.open();
    await session.abandon();
    expect(worker.worker.status().busy).to.equal(0);
    await eventually(() => expect(sockets()).to.equal(0));
  });

  it('keeps the connection open after the response that the worker is full', async () => {
    const first = await worker.open();
    const second = await worker.open();
    const third = await worker.open().catch(error => error);
    expect(third.name).to.equal('SlotRejected');
    first.close();
    await worker.until({ busy: 1, ready: 1 });
    await eventually(() => expect(sockets()).to.equal(2));
    const again = await worker.open();
    expect((await worker.open().catch(error => error)).name).to.equal('SlotRejected');
    for (const session of [second, again]) session.close();
    await worker.until({ busy: 0, ready: 2 });
    expect(
      (
        await readSamples(await worker.metrics.text()).by(
          'pressroom_gateway_refused_total',
          'reason',
        )
      ).full,
    ).to.be.greaterThan(0);
  });

  it('gets no slot from a draining worker', async () => {
    const running = await worker.open();
    (await worker.open()).close();
    await worker.until({ busy: 1, ready: 1 });
    const stopped = worker.lifecycle.stop();
    await worker.until({ draining: true });
    expect((await worker.open().catch(error => error)).name).to.equal('SlotRejected');
    expect(await evaluate(running, '6 * 7')).to.equal(42);
    running.close();
    await stopped;
  });
  it('releases the slot when its opening is aborted', async () => {
    await useSlot();
    const opener = new AbortController();
    const opening = worker.open({}, opener.signal);
    opener.abort(new Error('the client disconnected'));
    expect(String(await errorOf(opening))).to.include('the client disconnected');
    await worker.until({ busy: 0, ready: 2 });
  });

  describe('foreign clients', () => {
    let slot: PlainSlot;
    const open = (ticket: unknown) => slot.command('Pressroom.open', { ticket });
    const closed = () => once(slot.socket, 'close').then(([code]) => code);

    beforeEach(async () => {
      slot = await plainSlot(worker);
    });
    afterEach(() => slot.socket.terminate());

    it('requires a new ticket for each slot', async () => {
      const first = (await slot.command('Pressroom.ping')).result;
      await slot.command('Pressroom.end');
      const ticket = worker.ticket();
      const next = (await open(ticket)).result;
      expect(next?.keeps).to.equal(true);
      expect(next?.frameId).not.to.equal(first?.frameId);
      await slot.command('Pressroom.end');
      expect(String(await errorOf(open(ticket)))).to.include('4000');
    });

    for (const [name, ticketOf] of [
      ['no ticket', () => undefined],
      ['a number as the ticket', () => 7],
      ['an invalid ticket', () => 'x.y'],
      ['a status ticket', () => worker.ticket({ purpose: 'status' })],
      ['a ticket of another pool', () => worker.ticket({ pool: 'other' })],
    ] as const)
      it(`closes the connection of a client that sends ${name}`, async () => {
        await slot.command('Pressroom.end');
        expect(String(await errorOf(open(ticketOf())))).to.include('4000');
        await worker.until({ busy: 0, ready: 2 });
        const rejected = await readSamples(await worker.metrics.text()).by(
          'pressroom_gateway_refused_total',
          'reason',
        );
        expect(Object.values(rejected).reduce((sum, count) => sum + count, 0)).to.equal(1);
      });

    it('closes the connection and ends the slot when a client opens a second slot on it', async () => {
      const end = closed();
      expect(String(await errorOf(open(worker.ticket())))).to.include('4000');
      expect(await end).to.equal(4_000);
      await worker.until({ busy: 0, ready: 2 });
    });

    it('executes no command between two slots', async () => {
      await slot.command('Pressroom.end');
      for (const method of ['Pressroom.ping', 'Pressroom.end', 'Pressroom.still'])
        expect((await slot.command(method)).error?.message).to.equal(
          'no slot is open on this socket',
        );
      slot.socket.send(
        JSON.stringify({
          id: 900,
          method: 'Runtime.evaluate',
          params: { expression: 'window.name = "between"' },
        }),
      );
      await open(worker.ticket());
      const { result } = await slot.command('Runtime.evaluate', { expression: 'window.name' });
      expect(result).to.have.nested.property('result.value', '');
    });

    const visibility = async () => {
      const { result } = await slot.command('Runtime.evaluate', {
        expression: 'document.visibilityState',
        returnByValue: true,
      });
      return (result as { result: { value: string } }).result.value;
    };

    it('shows the page before the first command unless the first command marks the document as static', async () => {
      expect(await visibility(), 'the first slot').to.equal('visible');
      await slot.command('Pressroom.still');
      expect(await visibility(), 'marked too late').to.equal('visible');
      for (const [first, expected] of [
        ['Pressroom.still', 'hidden'],
        ['Pressroom.ping', 'visible'],
      ] as const) {
        await slot.command('Pressroom.end');
        await worker.until({ busy: 0, ready: 2 });
        await open(worker.ticket());
        await slot.command(first);
        expect(await visibility(), first).to.equal(expected);
      }
    });

    it('applies the deadline of the current ticket, not that of the previous slot', async () => {
      await slot.command('Pressroom.end');
      await open(worker.ticket({ maxMs: 3_000 }));
      expect(await closed()).to.equal(4_000);
      await worker.until({ busy: 0, ready: 2 });
      const ends = await readSamples(await worker.metrics.text()).by(
        'pressroom_slot_ends_total',
        'reason',
      );
      expect(ends.deadline).to.equal(1);
    });
  });
});
