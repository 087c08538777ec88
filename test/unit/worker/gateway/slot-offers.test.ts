import { expect } from 'chai';
import { WAITING, type Waiting } from '../../../../common/protocol.ts';
import { readWaiting, SlotOffers } from '../../../../worker/gateway/slot-offers.ts';

const waiting = (waitedMs: number, more: Partial<Waiting> = {}): Waiting => ({
  ...{ waitedMs, count: 1, trial: false, account: 'x', held: 0 },
  ...more,
});

describe('API processes that wait for a slot of a worker', () => {
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

  /** The API that gets an offer for one free slot now. */
  function offered(nowMs: number): string | undefined {
    offers.offer(1, nowMs);
    return ['a', 'b', 'c'].find(
      api => offers.readyFor(api, 1) === 1 && offers.readyFor('another', 1) === 0,
    );
  }

  it('are offered a slot by the queue time of their renders, including the time before the announcement', () => {
    offers.announce('a', waiting(1_000), 5_000);
    offers.announce('b', waiting(3_000), 6_000);
    expect(offered(6_000)).to.equal('b');
    expect(offers.admit('a', 1, 6_000)).to.equal(false);
    expect(offers.admit('b', 1, 6_000)).to.equal(true);
    expect(offered(6_000), 'the next slot').to.equal('a');
  });

  it('with a trial render come last, independent of its queue time', () => {
    offers.announce('a', waiting(9_000, { trial: true }), 0);
    offers.announce('b', waiting(10), 0);
    expect(offered(0)).to.equal('b');
  });

  it('are ordered by the slots of their accounts before the queue time', () => {
    offers.announce('a', waiting(9_000, { account: 'busy', held: 5.4 }), 0);
    offers.announce('b', waiting(10, { account: 'new' }), 0);
    expect(offered(0)).to.equal('b');
  });

  it('are ordered by queue time when one account waits in both', () => {
    offers.announce('a', waiting(9_000, { held: 9 }), 0);
    offers.announce('b', waiting(10, { held: 1 }), 0);
    expect(offered(0)).to.equal('a');
  });

  it('share the slot count of an account', () => {
    offers.announce('a', waiting(9_000, { held: 2 }), 0);
    offers.announce('b', waiting(9_000, { held: 2 }), 0);
    offers.announce('c', waiting(10, { account: 'other', held: 3 }), 0);
    expect(offered(0)).to.equal('c');
  });

  for (const [number, api] of [
    [0.74, 'a'],
    [0.76, 'b'],
  ] as const)
    it(`with about the same queue time are drawn in proportion to their queued renders: ${number} is ${api}`, () => {
      drawn = number;
      offers.announce('a', waiting(1_000, { count: 3 }), 0);
      offers.announce('b', waiting(1_000, { count: 1 }), 0);
      offers.announce('c', waiting(400, { count: 100 }), 0);
      expect(offered(0)).to.equal(api);
    });

  it('are offered at most as many slots as they have queued renders; the rest is free for all', () => {
    offers.announce('a', waiting(1_000, { count: 2 }), 0);
    offers.announce('b', waiting(100), 0);
    offers.offer(5, 0);
    expect(['a', 'b', 'another', undefined].map(api => offers.readyFor(api, 5))).to.deep.equal([
      4, 3, 2, 5,
    ]);
    expect(offers.admit('another', 5, 0)).to.equal(true);
  });

  it('lose an offer after a second; the slot is then free for all', () => {
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

  it('that did not take an offer are ignored until they announce again', () => {
    offers.announce('a', waiting(1_000), 0);
    offers.offer(1, 0);
    offers.offer(1, 1_000);
    expect(offers.admit('another', 1, 1_000)).to.equal(true);
    expect(offered(1_010)).to.equal(undefined);
    offers.announce('a', waiting(2_010), 1_010);
    expect(offered(1_010)).to.equal('a');
  });

  it('lose their offers at once when their queue is empty', () => {
    offers.announce('a', waiting(1_000), 0);
    offers.announce('b', waiting(100), 0);
    expect(offered(0)).to.equal('a');
    offers.announce('a', undefined, 1);
    expect(offered(1)).to.equal('b');
  });

  it('keep an offer when they announce again, without another one for the same render', () => {
    offers.announce('a', waiting(1_000), 0);
    offers.offer(1, 0);
    offers.announce('a', waiting(1_100), 100);
    offers.offer(2, 100);
    expect(offers.readyFor('another', 2)).to.equal(1);
  });

  it('are ignored after a second without an announcement', () => {
    offers.announce('a', waiting(1_000), 0);
    expect(offered(1_001)).to.equal(undefined);
  });

  it('lose offers for slots that are no longer free', () => {
    offers.announce('a', waiting(1_000, { count: 2 }), 0);
    offers.offer(2, 0);
    expect(offers.admit('a', 0, 0)).to.equal(false);
    expect(offers.readyFor('a', 0)).to.equal(0);
  });

  it('accept any claim when no render is queued', () => {
    expect(offers.admit('a', 1, 0)).to.equal(true);
    expect(offers.admit(undefined, 1, 0)).to.equal(true);
    expect(offers.admit(undefined, 0, 0)).to.equal(false);
  });

  it('without a name get every third slot beside two with a name', () => {
    unnamed = 1;
    const got = { a: 0, b: 0, unnamed: 0 };
    for (let turn = 0; turn < 30; turn++) {
      const nowMs = turn * 100;
      offers.announce('a', waiting(5_000, { count: 50 }), nowMs);
      offers.announce('b', waiting(9_000, { count: 50 }), nowMs);
      // An API without a name sees every free slot and claims it first.
      expect(offers.readyFor(undefined, 1)).to.equal(1);
      if (offers.admit(undefined, 1, nowMs)) got.unnamed++;
      else if (offers.admit('a', 1, nowMs)) got.a++;
      else if (offers.admit('b', 1, nowMs)) got.b++;
    }
    expect(got).to.deep.equal({ a: 0, b: 20, unnamed: 10 });
  });

  it('that are throttled are offered all free slots except the last', () => {
    offers.announce('a', waiting(5_000, { count: 9, heldBack: true }), 0);
    offers.offer(3, 0);
    expect(offers.offeredTo('a')).to.equal(2);
    expect(offers.readyFor('another', 3)).to.equal(1);
    expect(offers.admit('another', 3, 0)).to.equal(true);
  });

  it('that are throttled are offered the last free slot when others wait as well and hold more', () => {
    offers.announce('a', waiting(10, { account: 'back', held: 1, heldBack: true }), 0);
    offers.announce('b', waiting(5_000, { account: 'busy', held: 3 }), 0);
    expect(offered(0)).to.equal('a');
  });

  it('that are throttled are not offered the last free slot because of an API that already has an offer', () => {
    offers.announce('a', waiting(10, { account: 'back', heldBack: true }), 0);
    offers.announce('b', waiting(5_000, { account: 'light' }), 0);
    offers.offer(2, 0);
    expect(offers.offeredTo('b')).to.equal(1);
    expect(offers.offeredTo('a')).to.equal(0);
  });

  it('never get a negative number of slots', () => {
    offers.announce('a', waiting(10, { count: 5 }), 0);
    offers.offer(3, 0);
    expect(offers.readyFor('another', 1)).to.equal(0);
  });

  it('without a name get a share in proportion to their number', () => {
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

  it('is parsed with and without queued renders', () => {
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
    it(`is rejected with ${what}`, () => {
      expect(read(message)).to.equal(undefined);
    });

  it('is rejected if it is not JSON', () => {
    expect(readWaiting(Buffer.from('{'))).to.equal(undefined);
  });
});
