import { expect } from 'chai';
import { WAITING, type Waiting } from '../../../../common/protocol.ts';
import { readWaiting, SlotOffers } from '../../../../worker/gateway/slot-offers.ts';

const waiting = (waitedMs: number, more: Partial<Waiting> = {}): Waiting => ({
  ...{ waitedMs, count: 1, trial: false, account: 'x', held: 0 },
  ...more,
});

describe('the APIs that wait for a slot of a worker', () => {
  let offers: SlotOffers;
  /** Connected API processes without a name. */
  let unnamed: number;
  let drawn: number;

  beforeEach(() => {
    [unnamed, drawn] = [0, 0.5];
    offers = new SlotOffers(
      () => unnamed,
      () => drawn,
    );
  });

  /** The API to which one free slot is offered now. */
  function offered(nowMs: number): string | undefined {
    offers.offer(1, nowMs);
    return ['a', 'b', 'c'].find(
      api => offers.readyFor(api, 1) === 1 && offers.readyFor('another', 1) === 0,
    );
  }

  it('are offered a slot by the time that their renders have waited, since before they announced it', () => {
    offers.announce('a', waiting(1_000), 5_000);
    offers.announce('b', waiting(3_000), 6_000);
    expect(offered(6_000)).to.equal('b');
    expect(offers.admit('a', 1, 6_000)).to.equal(false);
    expect(offers.admit('b', 1, 6_000)).to.equal(true);
    expect(offered(6_000), 'the next slot').to.equal('a');
  });

  it('with a trial render are last, however long it has waited', () => {
    offers.announce('a', waiting(9_000, { trial: true }), 0);
    offers.announce('b', waiting(10), 0);
    expect(offered(0)).to.equal('b');
  });

  it('are served by what their accounts hold before the time that they have waited', () => {
    offers.announce('a', waiting(9_000, { account: 'busy', held: 5.4 }), 0);
    offers.announce('b', waiting(10, { account: 'new' }), 0);
    expect(offered(0)).to.equal('b');
  });

  it('are served by time when one account waits in both, whichever of them serves more of it', () => {
    offers.announce('a', waiting(9_000, { held: 9 }), 0);
    offers.announce('b', waiting(10, { held: 1 }), 0);
    expect(offered(0)).to.equal('a');
  });

  it('count what an account holds through all of them', () => {
    offers.announce('a', waiting(9_000, { held: 2 }), 0);
    offers.announce('b', waiting(9_000, { held: 2 }), 0);
    offers.announce('c', waiting(10, { account: 'other', held: 3 }), 0);
    expect(offered(0)).to.equal('c');
  });

  for (const [number, api] of [
    [0.74, 'a'],
    [0.76, 'b'],
  ] as const)
    it(`that have waited about equally long are drawn by how many renders wait in each: ${number} is ${api}`, () => {
      drawn = number;
      offers.announce('a', waiting(1_000, { count: 3 }), 0);
      offers.announce('b', waiting(1_000, { count: 1 }), 0);
      offers.announce('c', waiting(400, { count: 100 }), 0);
      expect(offered(0)).to.equal(api);
    });

  it('are offered no more slots than renders wait; the rest is ready for all', () => {
    offers.announce('a', waiting(1_000, { count: 2 }), 0);
    offers.announce('b', waiting(100), 0);
    offers.offer(5, 0);
    expect(['a', 'b', 'another', undefined].map(api => offers.readyFor(api, 5))).to.deep.equal([
      4, 3, 2, 5,
    ]);
    expect(offers.admit('another', 5, 0)).to.equal(true);
  });

  it('do not keep others from a slot that they do not take: after a second it is ready for all', () => {
    offers.announce('a', waiting(1_000), 0);
    offers.announce('b', waiting(100), 0);
    expect(offers.offer(1, 0)).to.equal(1_000);
    expect(offered(999)).to.equal('a');
    offers.announce('b', waiting(1_099), 999);
    offers.offer(1, 1_000);
    expect(['a', 'b', 'another'].map(api => offers.readyFor(api, 1))).to.deep.equal([1, 1, 1]);
    expect(offers.admit('a', 1, 1_001), 'late, but the first').to.equal(true);
    expect(offers.admit('b', 0, 1_001)).to.equal(false);
    expect(offered(1_010), 'the next slot').to.equal('b');
  });

  it('that did not take an offer are forgotten until they announce again', () => {
    offers.announce('a', waiting(1_000), 0);
    offers.offer(1, 0);
    offers.offer(1, 1_000);
    expect(offers.admit('another', 1, 1_000)).to.equal(true);
    expect(offered(1_010)).to.equal(undefined);
    offers.announce('a', waiting(2_010), 1_010);
    expect(offered(1_010)).to.equal('a');
  });

  it('lose their offers at once when nothing waits in them any more', () => {
    offers.announce('a', waiting(1_000), 0);
    offers.announce('b', waiting(100), 0);
    expect(offered(0)).to.equal('a');
    offers.announce('a', undefined, 1);
    expect(offered(1)).to.equal('b');
  });

  it('keep an offer while they announce again, and do not get another for the same render', () => {
    offers.announce('a', waiting(1_000), 0);
    offers.offer(1, 0);
    offers.announce('a', waiting(1_100), 100);
    offers.offer(2, 100);
    expect(offers.readyFor('another', 2)).to.equal(1);
  });

  it('are forgotten when they have been silent for a second', () => {
    offers.announce('a', waiting(1_000), 0);
    expect(offered(1_001)).to.equal(undefined);
  });

  it('lose offers of slots that are gone', () => {
    offers.announce('a', waiting(1_000, { count: 2 }), 0);
    offers.offer(2, 0);
    expect(offers.admit('a', 0, 0)).to.equal(false);
    expect(offers.readyFor('a', 0)).to.equal(0);
  });

  it('leave a slot to any claim when nothing waits', () => {
    expect(offers.admit('a', 1, 0)).to.equal(true);
    expect(offers.admit(undefined, 1, 0)).to.equal(true);
    expect(offers.admit(undefined, 0, 0)).to.equal(false);
  });

  it('without a name get every third slot beside two that have one, and do not wait longer', () => {
    unnamed = 1;
    const got = { a: 0, b: 0, unnamed: 0 };
    for (let turn = 0; turn < 30; turn++) {
      const nowMs = turn * 100;
      offers.announce('a', waiting(5_000, { count: 50 }), nowMs);
      offers.announce('b', waiting(9_000, { count: 50 }), nowMs);
      // An API without a name is shown every free slot and claims it first.
      expect(offers.readyFor(undefined, 1)).to.equal(1);
      if (offers.admit(undefined, 1, nowMs)) got.unnamed++;
      else if (offers.admit('a', 1, nowMs)) got.a++;
      else if (offers.admit('b', 1, nowMs)) got.b++;
    }
    expect(got).to.deep.equal({ a: 0, b: 20, unnamed: 10 });
  });

  it('that are throttled leave the last free slot to all, and are offered the others', () => {
    offers.announce('a', waiting(5_000, { count: 9, heldBack: true }), 0);
    offers.offer(3, 0);
    expect(offers.offeredTo('a')).to.equal(2);
    expect(offers.readyFor('another', 3)).to.equal(1);
    expect(offers.admit('another', 3, 0)).to.equal(true);
  });

  it('that are throttled are offered the last free slot when others want it too and hold more', () => {
    offers.announce('a', waiting(10, { account: 'back', held: 1, heldBack: true }), 0);
    offers.announce('b', waiting(5_000, { account: 'busy', held: 3 }), 0);
    expect(offered(0)).to.equal('a');
  });

  it('that are throttled are not offered the last free slot because of one that has got its own', () => {
    offers.announce('a', waiting(10, { account: 'back', heldBack: true }), 0);
    offers.announce('b', waiting(5_000, { account: 'light' }), 0);
    offers.offer(2, 0);
    expect(offers.offeredTo('b')).to.equal(1);
    expect(offers.offeredTo('a')).to.equal(0);
  });

  it('never receive a number of slots below 0', () => {
    offers.announce('a', waiting(10, { count: 5 }), 0);
    offers.offer(3, 0);
    expect(offers.readyFor('another', 1)).to.equal(0);
  });

  it('without a name get as many turns as there are of them', () => {
    unnamed = 3;
    let served = 0;
    for (let turn = 0; turn < 40; turn++) {
      offers.announce('a', waiting(5_000, { count: 50 }), turn);
      if (offers.admit(undefined, 1, turn)) served++;
      else expect(offers.admit('a', 1, turn)).to.equal(true);
    }
    expect(served).to.equal(20);
  });
});

describe('an announcement', () => {
  const read = (message: unknown) => readWaiting(Buffer.from(JSON.stringify(message)));

  it('is read with what waits, or without when nothing does', () => {
    expect(read({ method: WAITING, params: waiting(5) })).to.deep.include({ params: waiting(5) });
    expect(read({ method: WAITING, params: { ...waiting(5), more: 1 } })).to.deep.include({
      params: waiting(5),
    });
    expect(read({ method: WAITING })).to.deep.equal({ method: WAITING });
  });

  for (const [what, message] of [
    ['another method', { method: 'Pressroom.other' }],
    ['a negative wait', { method: WAITING, params: waiting(-1) }],
    ['a missing count', { method: WAITING, params: { ...waiting(1), count: undefined } }],
    ['a long account', { method: WAITING, params: waiting(1, { account: 'x'.repeat(2_000) }) }],
    ['a list', [1]],
  ] as const)
    it(`is no message with ${what}`, () => {
      expect(read(message)).to.equal(undefined);
    });

  it('is no text that is not JSON', () => {
    expect(readWaiting(Buffer.from('{'))).to.equal(undefined);
  });
});
