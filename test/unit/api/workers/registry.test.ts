import { mock } from 'node:test';
import { expect } from 'chai';
import { WorkerRegistry } from '../../../../api/workers/registry.ts';
import { workerStatus } from '../../../support/fake-slots.ts';

describe('the worker registry', () => {
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

  it('picks the worker with the most free slots, minus those reserved since its last report', () => {
    registry.report('ws://a:1', workerStatus(2));
    registry.report('ws://b:1', workerStatus(3));
    const picked = [1, 2, 3, 4, 5, 6].map(() => {
      const address = registry.pick();
      if (address) registry.reserve(address);
      return address;
    });
    expect(picked.filter(address => address === 'ws://b:1')).to.have.length(3);
    expect(picked.filter(address => address === 'ws://a:1')).to.have.length(2);
    expect(picked[0]).to.equal('ws://b:1');
    expect(picked[5]).to.equal(undefined);
  });

  it('picks at random among workers with equally many free slots', () => {
    const numbers = [0, 0.99];
    const registry = new WorkerRegistry({ random: () => numbers.shift()! });
    registry.report('ws://a:1', workerStatus(2));
    registry.report('ws://b:1', workerStatus(2));
    expect([registry.pick(), registry.pick()]).to.deep.equal(['ws://a:1', 'ws://b:1']);
    registry.close();
  });

  it('prefers workers that keep a page of the account, as long as they have one', () => {
    const warm = (accounts: string[]) => ({ more: { capacity: 8, warm: accounts } });
    registry.report('ws://a:1', workerStatus(2, warm(['x', 'y'])));
    registry.report('ws://b:1', workerStatus(5, warm([])));
    expect(registry.pick(new Set(), 'x')).to.equal('ws://a:1');
    expect(registry.pick(new Set(), 'z')).to.equal('ws://b:1');
    expect(registry.pick()).to.equal('ws://b:1');
    expect(registry.pick(new Set(['ws://a:1']), 'x'), 'avoided').to.equal('ws://b:1');
    registry.reserve('ws://a:1');
    expect(registry.pick(new Set(), 'x'), 'its page may be reserved').to.equal('ws://b:1');
    registry.report('ws://a:1', workerStatus(0, warm(['x'])));
    expect(registry.pick(new Set(), 'x'), 'without a free slot').to.equal('ws://b:1');
  });

  it('counts offered slots as long as they are free', () => {
    registry.report('ws://a:1', workerStatus(2, { more: { capacity: 4, offered: 2 } }));
    expect(registry.capacity()).to.deep.equal({ free: 2, slots: 4, offered: 2 });
    registry.reserve('ws://a:1');
    expect(registry.capacity()).to.deep.equal({ free: 1, slots: 4, offered: 1 });
    registry.report('ws://a:1', undefined);
    registry.report('ws://a:1', workerStatus(2, { more: { capacity: 4, offered: 1 } }));
    registry.reserve('ws://a:1');
    expect(registry.capacity(), 'the offered one is reserved first').to.deep.equal({
      free: 1,
      slots: 4,
      offered: 0,
    });
  });

  it('never counts more free slots than capacity minus busy slots', () => {
    registry.report('ws://a:1', workerStatus(3, { busy: 1, more: { capacity: 2 } }));
    registry.reserve(registry.pick()!);
    expect(registry.pick()).to.equal(undefined);
  });

  it('counts an opened slot once, whether the worker reports it before or after it is open', () => {
    registry.report('ws://a:1', workerStatus(2));
    const reportedBefore = registry.reserve('ws://a:1');
    registry.report('ws://a:1', workerStatus(1, { busy: 1 }));
    reportedBefore.opened();
    expect(registry.pick(), 'one is left').to.equal('ws://a:1');

    const reportedAfter = registry.reserve('ws://a:1');
    reportedAfter.opened();
    expect(registry.pick(), 'reserved, not reported yet').to.equal(undefined);
    registry.report('ws://a:1', workerStatus(0, { busy: 2 }));
    registry.report('ws://a:1', workerStatus(1, { busy: 1 }));
    expect(registry.pick(), 'one is released').to.equal('ws://a:1');
  });

  it('skips a worker that rejected a slot until its next status report', () => {
    registry.report('ws://a:1', workerStatus(2));
    registry.reserve('ws://a:1').refused();
    expect(registry.pick()).to.equal(undefined);
    registry.report('ws://a:1', workerStatus(1));
    expect(registry.pick()).to.equal('ws://a:1');
  });

  it('uses a worker that rejected a slot again after at most 20 ms, and reports the change', () => {
    registry.report('ws://a:1', workerStatus(2));
    registry.reserve('ws://a:1').refused();
    const before = changes;
    mock.timers.tick(20);
    expect(changes).to.equal(before + 1);
    expect(registry.pick()).to.equal('ws://a:1');
  });

  it('skips an unreachable worker for a second, whatever it reports', () => {
    registry.report('ws://a:1', workerStatus(2));
    registry.reserve('ws://a:1').unreachable();
    registry.report('ws://a:1', workerStatus(2));
    mock.timers.tick(999);
    expect(registry.pick()).to.equal(undefined);
    mock.timers.tick(1);
    expect(registry.pick()).to.equal('ws://a:1');
  });

  it('does not skip a worker after a cancelled reservation', () => {
    registry.report('ws://a:1', workerStatus(1));
    const reservation = registry.reserve('ws://a:1');
    expect(registry.pick()).to.equal(undefined);
    reservation.cancelled();
    expect(registry.pick()).to.equal('ws://a:1');
  });

  it('avoids a worker while another one is reachable, even a busy one', () => {
    const avoid = new Set(['ws://a:1']);
    registry.report('ws://a:1', workerStatus(2));
    expect(registry.pick(avoid), 'the only one').to.equal('ws://a:1');
    registry.report('ws://b:1', workerStatus(0, { busy: 2 }));
    expect(registry.pick(avoid), 'another, busy').to.equal(undefined);
    registry.reserve('ws://b:1').unreachable();
    expect(registry.pick(avoid), 'another, out of reach').to.equal('ws://a:1');
  });

  it('reports the capacity of all workers, and their free slots minus the reserved ones', () => {
    registry.report('ws://a:1', workerStatus(2, { busy: 1 }));
    registry.report('ws://b:1', workerStatus(1));
    expect(registry.capacity()).to.deep.equal({ free: 3, slots: 4, offered: 0 });
    const reservation = registry.reserve('ws://a:1');
    expect(registry.capacity()).to.deep.equal({ free: 2, slots: 4, offered: 0 });
    reservation.cancelled();
    registry.reserve('ws://b:1').unreachable();
    expect(registry.capacity(), 'b cannot be reached').to.deep.equal({
      free: 2,
      slots: 4,
      offered: 0,
    });
    registry.report('ws://a:1', workerStatus(2, { busy: 1, more: { draining: true } }));
    expect(registry.capacity()).to.deep.equal({ free: 0, slots: 1, offered: 0 });
  });

  it('ignores draining workers, slots without a Chrome, and workers that are gone', () => {
    registry.report('ws://a:1', workerStatus(2, { busy: 1, more: { draining: true } }));
    expect([registry.known(), registry.pick()]).to.deep.equal([false, undefined]);
    expect(registry.totals()).to.deep.equal({ workers: 0, serving: 0, slots: 0 });
    registry.report('ws://a:1', workerStatus(2, { busy: 1 }));
    expect([registry.known(), registry.pick()]).to.deep.equal([true, 'ws://a:1']);
    expect(registry.totals()).to.deep.equal({ workers: 1, serving: 1, slots: 3 });
    registry.report('ws://a:1', workerStatus(0, { busy: 1, more: { chrome: 'down' } }));
    expect(registry.totals()).to.deep.equal({ workers: 1, serving: 0, slots: 0 });
    registry.report('ws://a:1', undefined);
    expect([registry.known(), registry.pick()]).to.deep.equal([false, undefined]);
  });
});
