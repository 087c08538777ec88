import { mock } from 'node:test';
import { setImmediate as loopTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Waiting } from '../../../../common/protocol.ts';
import { createTicketChecker } from '../../../../common/ticket.ts';
import { createDispatchFixture, type DispatchFixture } from '../../../support/dispatch-fixture.ts';
import { workerStatus } from '../../../support/fake-slots.ts';

describe('an announcement of the dispatcher', () => {
  let fixture: DispatchFixture;
  let sent: [string, Waiting | undefined][];
  const busy = workerStatus(0, { busy: 2 });

  beforeEach(() => {
    sent = [];
    fixture = createDispatchFixture(
      {},
      { send: (address, waiting) => sent.push([address, waiting]) },
    );
  });

  afterEach(() => fixture.close());

  /** Moves the clock and lets everything that it woke run. */
  const pass = async (ms: number) => {
    mock.timers.tick(ms);
    await loopTurn();
  };

  it('contains the queue time of the next render and the number of queued renders, every 100 ms', async () => {
    fixture.registry.report('ws://a:1', busy);
    fixture.registry.report('ws://b:1', busy);
    fixture.call('x');
    await pass(1);
    expect(sent.map(([address]) => address)).to.deep.equal(['ws://a:1', 'ws://b:1']);
    fixture.call('x');
    fixture.call('y', undefined, { trial: true });
    await pass(99);
    expect(sent).to.have.length(2);
    await pass(1);
    expect(sent).to.have.length(4);
    expect(sent[3]![1]).to.include({ waitedMs: 101, count: 3, trial: false, held: 0 });
  });

  it('names the account by the same hash in every process, and not by its id', async () => {
    fixture.registry.report('ws://a:1', busy);
    fixture.call('a secret id');
    await pass(1);
    const { account } = sent[0]![1]!;
    expect(account).to.match(/^[\w-]{16}$/);
    fixture.close();
    fixture = createDispatchFixture(
      {},
      { send: (address, waiting) => sent.push([address, waiting]) },
    );
    fixture.registry.report('ws://a:1', busy);
    fixture.call('a secret id');
    await pass(1);
    expect(sent.at(-1)![1]!.account).to.equal(account);
  });

  it('contains the slots held by the account of the next render', async () => {
    fixture.registry.report('ws://a:1', workerStatus(2));
    fixture.call('x');
    fixture.call('x');
    await loopTurn();
    fixture.registry.report('ws://a:1', busy);
    fixture.call('x');
    await pass(1);
    expect(sent[0]![1]!.held).to.be.within(2, 2.1);
  });

  it('is not sent while a slot is free', async () => {
    fixture.registry.report('ws://a:1', workerStatus(2));
    fixture.call('x', async () => 'printed');
    await pass(200);
    expect(sent).to.deep.equal([]);
  });

  it('is empty and sent at once when the last queued render is canceled', async () => {
    fixture.registry.report('ws://a:1', busy);
    const [first, second] = [fixture.call('x'), fixture.call('x')];
    await pass(1);
    first.abort(new Error('gone'));
    expect(sent).to.have.length(1);
    second.abort(new Error('gone'));
    expect(sent.slice(1)).to.deep.equal([['ws://a:1', undefined]]);
    await pass(1_000);
    expect(sent).to.have.length(2);
  });

  it('is sent to a worker only after a slot that is being opened there', async () => {
    fixture.registry.report('ws://a:1', busy);
    fixture.registry.report('ws://b:1', busy);
    fixture.call('x');
    await pass(1);
    sent.length = 0;
    const release = fixture.slots.hold();
    fixture.registry.report('ws://a:1', workerStatus(1, { busy: 1 }));
    await loopTurn();
    expect(fixture.slots.inFlight()).to.equal(1);
    expect(sent).to.deep.equal([['ws://b:1', undefined]]);
    release();
    await loopTurn();
    expect(sent.slice(1)).to.deep.equal([['ws://a:1', undefined]]);
  });

  it('counts the wait of a retry from its arrival, and is not sent to the worker that it avoids', async () => {
    fixture.registry.report('ws://a:1', workerStatus(1));
    fixture.call('x');
    const session = await fixture.slots.next();
    fixture.registry.report('ws://a:1', busy);
    fixture.registry.report('ws://b:1', busy);
    await pass(5_000);
    session.end('chrome_died');
    await loopTurn();
    await pass(1);
    expect(sent.map(([address, waiting]) => [address, waiting?.waitedMs])).to.deep.equal([
      ['ws://b:1', 5_001],
    ]);
  });

  it('is empty when a slot is offered that the queued renders may not take', async () => {
    fixture.registry.report('ws://a:1', busy);
    fixture.registry.report('ws://b:1', busy);
    fixture.call('x', undefined, { trial: true });
    await pass(200);
    expect(sent, 'a trial render begins while most slots are free').to.deep.equal([]);
    fixture.call('y');
    await pass(100);
    expect(sent.splice(0).map(([, waiting]) => waiting?.trial)).to.deep.equal([false, false]);
    fixture.registry.report('ws://a:1', workerStatus(2));
    await pass(1);
    expect(sent.map(([, waiting]) => waiting)).to.deep.equal([undefined, undefined]);
  });

  it('belongs to the process that the tickets name', async () => {
    fixture.registry.report('ws://a:1', workerStatus(1));
    fixture.call('x');
    const { ticket } = await fixture.slots.next();
    expect(
      createTicketChecker('the secret of the pool', 'default')(ticket, 'slot'),
    ).to.have.nested.property('ticket.api', fixture.registry.api);
  });
});
