import { expect } from 'chai';
import { SlotOrder } from '../../../../api/jobs/slot-order.ts';

/** Lets promises settle. */
const settled = () => new Promise<void>(resolve => setImmediate(resolve));

function create(free = 0) {
  const order: SlotOrder = new SlotOrder(() => order.serve(slots.free));
  const slots = { free };
  const left: string[] = [];
  const add = (name: string, signal = new AbortController().signal) => {
    const wait = order.add(signal);
    const leaving = wait.slotFree().then(() => void left.push(name));
    return { ...wait, leaving };
  };
  const setFree = (now: number) => {
    slots.free = now;
    order.serve(now);
  };
  return { order, left, add, setFree };
}

describe('the order in which jobs get slots', () => {
  it('lets as many leave as slots are free, the first first', async () => {
    const { order, left, add, setFree } = create();
    for (const name of ['a', 'b', 'c']) add(name);
    await settled();
    expect(left).to.deep.equal([]);
    expect([order.count(), order.ready()]).to.deep.equal([3, 3]);
    setFree(2);
    setFree(2);
    await settled();
    expect(left).to.deep.equal(['a', 'b']);
    expect([order.count(), order.ready()]).to.deep.equal([3, 1]);
  });

  it('gives a slot again when the job that left is dispatched', async () => {
    const { order, left, add, setFree } = create(1);
    const first = add('a');
    add('b');
    await settled();
    expect(left).to.deep.equal(['a']);
    setFree(0);
    first.dispatched();
    first.dispatched();
    expect(order.count()).to.equal(1);
    setFree(1);
    await settled();
    expect(left).to.deep.equal(['a', 'b']);
  });

  it('forgets a job that is aborted, before it asks or while it waits', async () => {
    const { order, left, add, setFree } = create();
    const reason = new Error('canceled');
    const controller = new AbortController();
    const waiting = add('waiting', controller.signal);
    controller.abort(reason);
    const late = add('late', controller.signal);
    for (const { leaving, dispatched } of [waiting, late]) {
      expect(
        await leaving.then(
          () => undefined,
          error => error,
        ),
      ).to.equal(reason);
      dispatched();
    }
    expect([order.count(), order.ready()]).to.deep.equal([0, 0]);
    add('next');
    setFree(1);
    await settled();
    expect(left).to.deep.equal(['next']);
  });

  it('keeps no slot for a job that left and ended without being dispatched', async () => {
    const { order, left, add } = create(1);
    const { dispatched } = add('ended');
    await settled();
    dispatched();
    add('next');
    await settled();
    expect(left).to.deep.equal(['ended', 'next']);
    expect(order.count()).to.equal(1);
  });

  it('aborts the jobs that wait, and later ones, when it stops', async () => {
    const { order, left, add, setFree } = create();
    const reason = new Error('stopped');
    const { leaving } = add('waiting');
    order.stop(reason);
    setFree(2);
    for (const each of [leaving, add('late').leaving])
      expect(
        await each.then(
          () => undefined,
          error => error,
        ),
      ).to.equal(reason);
    expect(left).to.deep.equal([]);
  });
});
