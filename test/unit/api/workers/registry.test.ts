import { mock } from 'node:test';
import { expect } from 'chai';
import { WorkerRegistry } from '../../../../api/workers/registry.ts';
import { workerStatus } from '../../../support/fake-slots.ts';

describe('the registry of workers', () => {
  let registry: WorkerRegistry;
  let changes: number;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    registry = new WorkerRegistry({ random: () => 0.5 });
    changes = 0;
    registry.onChange(() => changes++);
  });

  afterEach(() => {
    registry.close();
    mock.timers.reset();
  });

  it('picks the worker with most free slots, counting what was claimed since it spoke', () => {
    registry.report('ws://a:1', workerStatus(2));
    registry.report('ws://b:1', workerStatus(3));
    const picked = [1, 2, 3, 4, 5, 6].map(() => {
      const address = registry.pick();
      if (address) registry.claim(address);
      return address;
    });
    expect(picked.filter(address => address === 'ws://b:1')).to.have.length(3);
    expect(picked.filter(address => address === 'ws://a:1')).to.have.length(2);
    expect(picked[0]).to.equal('ws://b:1');
    expect(picked[5]).to.equal(undefined);
  });

  it('chooses by chance among workers with equally many free slots', () => {
    const numbers = [0, 0.99];
    const chancy = new WorkerRegistry({ random: () => numbers.shift()! });
    chancy.report('ws://a:1', workerStatus(2));
    chancy.report('ws://b:1', workerStatus(2));
    expect([chancy.pick(), chancy.pick()]).to.deep.equal(['ws://a:1', 'ws://b:1']);
    chancy.close();
  });

  it('counts the slots that are offered, as far as they are free', () => {
    registry.report('ws://a:1', workerStatus(2, { more: { capacity: 4, offered: 2 } }));
    expect(registry.capacity()).to.deep.equal({ free: 2, slots: 4, offered: 2 });
    registry.claim('ws://a:1');
    expect(registry.capacity()).to.deep.equal({ free: 1, slots: 4, offered: 1 });
    registry.report('ws://a:1', undefined);
    registry.report('ws://a:1', workerStatus(2, { more: { capacity: 4, offered: 1 } }));
    registry.claim('ws://a:1');
    expect(registry.capacity(), 'the offered one is claimed first').to.deep.equal({
      free: 1,
      slots: 4,
      offered: 0,
    });
  });

  it('never counts more slots as free than the capacity leaves', () => {
    registry.report('ws://a:1', workerStatus(3, { busy: 1, more: { capacity: 2 } }));
    registry.claim(registry.pick()!);
    expect(registry.pick()).to.equal(undefined);
  });

  it('counts an opened slot once, whether the worker reports it before or after the claim ends', () => {
    registry.report('ws://a:1', workerStatus(2));
    const toldBefore = registry.claim('ws://a:1');
    registry.report('ws://a:1', workerStatus(1, { busy: 1 }));
    toldBefore.opened();
    expect(registry.pick(), 'one is left').to.equal('ws://a:1');

    const toldAfter = registry.claim('ws://a:1');
    toldAfter.opened();
    expect(registry.pick(), 'claimed, not reported yet').to.equal(undefined);
    registry.report('ws://a:1', workerStatus(0, { busy: 2 }));
    registry.report('ws://a:1', workerStatus(1, { busy: 1 }));
    expect(registry.pick(), 'one is given back').to.equal('ws://a:1');
  });

  it('skips a worker that rejected a slot until its next status report', () => {
    registry.report('ws://a:1', workerStatus(2));
    registry.claim('ws://a:1').refused();
    expect(registry.pick()).to.equal(undefined);
    registry.report('ws://a:1', workerStatus(1));
    expect(registry.pick()).to.equal('ws://a:1');
  });

  it('uses a worker that rejected a slot again after at most 20 ms, and reports the change', () => {
    registry.report('ws://a:1', workerStatus(2));
    registry.claim('ws://a:1').refused();
    const before = changes;
    mock.timers.tick(20);
    expect(changes).to.equal(before + 1);
    expect(registry.pick()).to.equal('ws://a:1');
  });

  it('leaves a worker that cannot be reached alone for a second, whatever it says', () => {
    registry.report('ws://a:1', workerStatus(2));
    registry.claim('ws://a:1').unreachable();
    registry.report('ws://a:1', workerStatus(2));
    mock.timers.tick(999);
    expect(registry.pick()).to.equal(undefined);
    mock.timers.tick(1);
    expect(registry.pick()).to.equal('ws://a:1');
  });

  it('holds nothing against a worker when a claim was cancelled', () => {
    registry.report('ws://a:1', workerStatus(1));
    const claim = registry.claim('ws://a:1');
    expect(registry.pick()).to.equal(undefined);
    claim.cancelled();
    expect(registry.pick()).to.equal('ws://a:1');
  });

  it('avoids a worker while there is another, even a busy one, and not when there is none that can be reached', () => {
    const avoid = new Set(['ws://a:1']);
    registry.report('ws://a:1', workerStatus(2));
    expect(registry.pick(avoid), 'the only one').to.equal('ws://a:1');
    registry.report('ws://b:1', workerStatus(0, { busy: 2 }));
    expect(registry.pick(avoid), 'another, busy').to.equal(undefined);
    registry.claim('ws://b:1').unreachable();
    expect(registry.pick(avoid), 'another, out of reach').to.equal('ws://a:1');
  });

  it('tells what is free on all workers, without what was claimed since, and how many slots they have', () => {
    registry.report('ws://a:1', workerStatus(2, { busy: 1 }));
    registry.report('ws://b:1', workerStatus(1));
    expect(registry.capacity()).to.deep.equal({ free: 3, slots: 4, offered: 0 });
    const claim = registry.claim('ws://a:1');
    expect(registry.capacity()).to.deep.equal({ free: 2, slots: 4, offered: 0 });
    claim.cancelled();
    registry.claim('ws://b:1').unreachable();
    expect(registry.capacity(), 'b cannot be reached').to.deep.equal({
      free: 2,
      slots: 4,
      offered: 0,
    });
    registry.report('ws://a:1', workerStatus(2, { busy: 1, more: { draining: true } }));
    expect(registry.capacity()).to.deep.equal({ free: 0, slots: 1, offered: 0 });
  });

  it('neither uses nor knows a draining worker, counts on no slot of one without a Chrome, and forgets one that is gone', () => {
    registry.report('ws://a:1', workerStatus(2, { busy: 1, more: { draining: true } }));
    expect([registry.known(), registry.pick()]).to.deep.equal([false, undefined]);
    expect(registry.totals()).to.deep.equal({
      workers: 0,
      serving: 0,
      ready: 0,
      busy: 1,
      slots: 0,
    });
    registry.report('ws://a:1', workerStatus(2, { busy: 1 }));
    expect([registry.known(), registry.pick()]).to.deep.equal([true, 'ws://a:1']);
    expect(registry.totals()).to.deep.equal({
      workers: 1,
      serving: 1,
      ready: 2,
      busy: 1,
      slots: 3,
    });
    registry.report('ws://a:1', workerStatus(0, { busy: 1, more: { chrome: 'down' } }));
    expect(registry.totals()).to.deep.equal({
      workers: 1,
      serving: 0,
      ready: 0,
      busy: 1,
      slots: 0,
    });
    registry.report('ws://a:1', undefined);
    expect([registry.known(), registry.pick()]).to.deep.equal([false, undefined]);
  });
});
