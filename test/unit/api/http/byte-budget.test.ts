// @proves account-shares

import { expect } from 'chai';
import { SharedBound } from '../../../../api/accounts/shared-bound.ts';
import { accountHolder, createByteBudget } from '../../../../api/http/byte-budget.ts';

const [MINE, OTHERS] = [accountHolder('mine', 4), accountHolder('others')];

describe('a shared bound', () => {
  it('limits one caller so that one share stays free for others', () => {
    const bound = new SharedBound(100);
    expect(bound.maxOfOne).to.equal(75);
    expect(bound.reserve('mine', 25)).to.equal(undefined);
    expect(bound.reserve('mine', 50)).to.equal(undefined);
    expect(bound.reserve('mine', 1)).to.equal('share');
    expect(bound.reserve('others', 25)).to.equal(undefined);
    expect(bound.reserve('a third', 1)).to.equal('full');
    expect(bound.used).to.equal(100);
  });

  it('grants every caller its share while any is left, whatever another one holds', () => {
    const bound = new SharedBound(100);
    bound.reserve('mine', 60);
    for (const caller of ['a', 'b']) expect(bound.reserve(caller, 20)).to.equal(undefined);
    expect(bound.reserve('a', 0)).to.equal(undefined);
    expect(bound.reserve('c', 1)).to.equal('full');
  });

  it('lets a caller above its share take more when enough is free again', () => {
    const bound = new SharedBound(100);
    bound.reserve('mine', 40);
    bound.reserve('others', 20);
    expect(bound.reserve('mine', 20)).to.equal('share');
    bound.release('others', 10);
    expect(bound.reserve('mine', 20)).to.equal(undefined);
    bound.release('mine', 60);
    bound.release('others', 10);
    expect(bound.used).to.equal(0);
  });

  for (const [max, most] of [
    [1, 1],
    [2, 1],
    [3, 2],
    [7, 6],
    [8, 6],
  ] as const)
    it(`grants one caller at most ${most} of ${max}`, () => {
      const bound = new SharedBound(max);
      expect(bound.maxOfOne).to.equal(most);
      for (let taken = 0; taken < most; taken++)
        expect(bound.reserve('mine', 1)).to.equal(undefined);
      expect(bound.reserve('mine', 1)).to.be.oneOf(['share', 'full']);
    });

  it('holds work that was already admitted without a check', () => {
    const bound = new SharedBound(1);
    bound.hold('mine', 2);
    expect(bound.used).to.equal(2);
    bound.release('mine', 2);
    expect(bound.reserve('others', 1)).to.equal(undefined);
  });
});

describe('the byte budget', () => {
  it('reserves up to its limit, rejects beyond it, and is empty at the end', () => {
    const budget = createByteBudget(100, { shareBytes: 100 });
    const [one, two] = [budget.open(MINE), budget.open(OTHERS)];
    expect(one.reserve(60)).to.equal(true);
    expect(two.reserve(41)).to.equal(false);
    expect(two.reserve(40)).to.equal(true);
    one.close();
    one.close();
    expect(budget.used()).to.equal(40);
    expect(two.reserve(60)).to.equal(true);
    two.close();
    expect(budget.used()).to.equal(0);
  });

  it('releases bytes before the end of a request, and none twice after it', () => {
    const budget = createByteBudget(100, { shareBytes: 100 });
    const [one, two] = [budget.open(MINE), budget.open(OTHERS)];
    one.reserve(60);
    two.reserve(40);
    one.release(10);
    expect(budget.used()).to.equal(90);
    one.close();
    one.release(50);
    expect(one.reserve(1)).to.equal(false);
    expect(budget.used()).to.equal(40);
  });

  it('reports whether the account or the whole budget is at its limit', () => {
    const budget = createByteBudget(100);
    const [mine, others] = [budget.open(MINE), budget.open(OTHERS)];
    mine.reserve(75);
    expect(mine.reserve(1)).to.equal(false);
    expect(mine.overBudget()).to.include({ code: 'concurrency_limit', status: 429 });
    expect(mine.overBudget().headers).to.deep.equal({
      'Retry-After': '2',
      'X-Concurrency-Limit': '4',
    });
    expect(others.reserve(25)).to.equal(true);
    expect(others.reserve(1)).to.equal(false);
    expect(others.overBudget()).to.include({ code: 'render_failed', reason: 'overloaded' });
  });

  it('counts all requests of an account together', () => {
    const budget = createByteBudget(100);
    const requests = [1, 2, 3, 4].map(() => budget.open(MINE));
    expect(requests.map(request => request.reserve(25))).to.deep.equal([true, true, true, false]);
  });
});

describe('a byte budget that is part of another', () => {
  it('reserves in both, and no more than either has left', () => {
    const whole = createByteBudget(100, { shareBytes: 100 });
    const part = createByteBudget(25, { whole, shareBytes: 25 });
    const mine = part.open(MINE);
    expect(mine.reserve(26)).to.equal(false);
    expect(mine.reserve(20)).to.equal(true);
    expect([part.used(), whole.used()]).to.deep.equal([20, 20]);
    const others = whole.open(OTHERS);
    expect(others.reserve(78)).to.equal(true);
    expect(mine.reserve(3)).to.equal(false);
    expect([part.used(), whole.used()]).to.deep.equal([20, 98]);
  });

  it('releases in both, once', () => {
    const whole = createByteBudget(100, { shareBytes: 100 });
    const mine = createByteBudget(25, { whole, shareBytes: 25 });
    const reservation = mine.open(MINE);
    reservation.reserve(20);
    reservation.release(5);
    expect([mine.used(), whole.used()]).to.deep.equal([15, 15]);
    reservation.close();
    reservation.release(5);
    reservation.close();
    expect([mine.used(), whole.used()]).to.deep.equal([0, 0]);
    expect(reservation.reserve(1)).to.equal(false);
    expect(whole.used()).to.equal(0);
  });
});
