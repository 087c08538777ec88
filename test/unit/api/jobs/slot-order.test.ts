import { expect } from 'chai';
import { SlotOrder } from '../../../../api/jobs/slot-order.ts';

/** Lets promises settle. */
const settled = () => new Promise<void>(resolve => setImmediate(resolve));

const putBack = new Error('put back');
const reasonOf = (leaving: Promise<void>) =>
  leaving.then(
    () => undefined,
    error => error,
  );

const created: SlotOrder[] = [];

function create(free = 0, waitMs = 60_000) {
  const order: SlotOrder = new SlotOrder({
    onChange: () => order.serve(slots.free),
    putBackReason: () => putBack,
    waitMs,
  });
  created.push(order);
  const slots = { free };
  const left: string[] = [];
  const add = (name: string, signal = new AbortController().signal) => {
    const wait = order.add(`account of ${name}`, signal);
    const leaving = wait.slotFree().then(() => void left.push(name));
    leaving.catch(() => {});
    return { ...wait, leaving };
  };
  const setFree = (now: number) => {
    slots.free = now;
    order.serve(now);
  };
  return { order, left, add, setFree };
}

describe('the order in which jobs get slots', () => {
  afterEach(() => {
    for (const order of created.splice(0)) order.putBack(() => true);
  });

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
      expect(await reasonOf(leaving)).to.equal(reason);
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

  it('puts back the jobs that wait, and later ones, when it stops', async () => {
    const { order, left, add, setFree } = create();
    const { leaving } = add('waiting');
    order.stop();
    setFree(2);
    for (const each of [leaving, add('late').leaving])
      expect(await reasonOf(each)).to.equal(putBack);
    expect(left).to.deep.equal([]);
  });

  it('puts back a job that waits for too long, and those of a chosen account', async () => {
    const short = create(0, 1);
    const late = short.add('late');
    expect(await reasonOf(late.leaving)).to.equal(putBack);
    late.dispatched();
    const { order, left, add, setFree } = create();
    const [first] = [add('a'), add('b')];
    await settled();
    order.putBack(account => account === 'account of a');
    expect(await reasonOf(first.leaving)).to.equal(putBack);
    first.dispatched();
    for (const each of [short.order, order]) expect(each.ready()).to.equal(each.count());
    setFree(2);
    order.putBack(() => true); // too late
    await settled();
    expect(left).to.deep.equal(['b']);
  });
});
