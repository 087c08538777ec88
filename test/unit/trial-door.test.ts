import { expect } from 'chai';
import { createTrialDoor, type TrialDoor } from '../../api/accounts/trial-door.ts';
import { placesOf } from '../../api/accounts/trial-leases.ts';
import type { ApiError } from '../../api/contract/errors.ts';
import { createByteBudget } from '../../api/http/byte-budget.ts';

describe('the door of trial calls', () => {
  let nowMs: number;
  let door: TrialDoor;
  beforeEach(() => {
    nowMs = 1_000;
    door = createTrialDoor({ perMinute: 5, parallel: 2 }, () => nowMs);
  });

  /** Comes and goes; gives what it was refused with. */
  function visit(name: string): ApiError | undefined {
    try {
      door.enter(name)();
      return undefined;
    } catch (error) {
      return error as ApiError;
    }
  }
  const times = (count: number, name: string) =>
    Array.from({ length: count }, () => visit(name)).filter(error => error === undefined).length;

  it('refuses with rate_limited and a minute, whatever the reason', () => {
    door.usedUp('a', 60_000);
    const used = visit('a');
    door.full();
    for (const refused of [used, visit('b')])
      expect(refused).to.deep.include({ code: 'rate_limited', status: 429, headers: { 'Retry-After': '60' } });
    expect(used!.message).to.contain('5 trial calls a minute');
  });

  it('keeps out whoever has used up his calls, for as long as that is so, and nobody else', () => {
    door.usedUp('a', 20_000);
    expect(visit('a')).to.not.equal(undefined);
    expect(visit('b')).to.equal(undefined);
    nowMs += 19_999;
    expect(visit('a')).to.not.equal(undefined);
    nowMs += 1;
    expect(visit('a')).to.equal(undefined);
  });

  it('has no more calls of one visitor at once than he has in a minute', () => {
    const leave = Array.from({ length: 5 }, () => door.enter('a'));
    expect(visit('a')).to.not.equal(undefined);
    leave[0]!();
    expect(visit('a')).to.equal(undefined);
  });

  it('reads four bodies for each call of a visitor in a minute, and again in the next', () => {
    expect(times(30, 'a')).to.equal(20);
    expect(visit('b')).to.equal(undefined);
    nowMs += 60_000;
    expect(times(30, 'a')).to.equal(20);
  });

  it('has no more than 16 calls at once for each place, from whomever', () => {
    const leave = Array.from({ length: 32 }, (_, nth) => door.enter(`visitor ${nth}`));
    expect(visit('one more')).to.not.equal(undefined);
    leave[7]!();
    expect(visit('one more')).to.equal(undefined);
  });

  it('refuses for half a second when all places were taken, unless one is freed', () => {
    door.full();
    nowMs += 499;
    expect(visit('a')).to.not.equal(undefined);
    nowMs += 1;
    expect(visit('a')).to.equal(undefined);
    door.full();
    door.freed();
    expect(visit('a')).to.equal(undefined);
  });

  it('does not count against a visitor what was refused for another reason', () => {
    door.full();
    expect(times(100, 'a')).to.equal(0);
    door.freed();
    expect(times(30, 'a')).to.equal(20);
  });

  it('remembers the last ten thousand visitors', () => {
    door.usedUp('first', 60_000);
    for (let nth = 1; nth < 10_000; nth++) visit(`visitor ${nth}`);
    expect(visit('first')).to.not.equal(undefined);
    for (let nth = 1; nth <= 10_000; nth++) visit(`visitor ${nth}`);
    expect(visit('first')).to.equal(undefined);
  });
});

describe('the places of trial renders', () => {
  const cases: [parallel: number, slots: number, places: number][] = [
    [2, 0, 1],
    [2, 2, 1],
    [2, 7, 1],
    [2, 8, 2],
    [2, 400, 2],
    [10, 20, 5],
    [1, 400, 1],
  ];
  for (const [parallel, slots, places] of cases)
    it(`are ${places} of ${slots} slots when ${parallel} are allowed`, () => expect(placesOf(parallel, slots)).to.equal(places));
});

describe('a budget of bytes that is part of another', () => {
  it('takes from both, and no more than either has', () => {
    const whole = createByteBudget(100);
    const part = createByteBudget(25, whole);
    const mine = part.open();
    expect(mine.take(26)).to.equal(false);
    expect(mine.take(20)).to.equal(true);
    expect([part.used(), whole.used()]).to.deep.equal([20, 20]);
    const others = whole.open();
    expect(others.take(78)).to.equal(true);
    expect(mine.take(3)).to.equal(false);
    expect([part.used(), whole.used()]).to.deep.equal([20, 98]);
  });

  it('gives back to both, once', () => {
    const whole = createByteBudget(100);
    const mine = createByteBudget(25, whole);
    const reservation = mine.open();
    reservation.take(20);
    reservation.give(5);
    expect([mine.used(), whole.used()]).to.deep.equal([15, 15]);
    reservation.close();
    reservation.give(5);
    reservation.close();
    expect([mine.used(), whole.used()]).to.deep.equal([0, 0]);
    expect(reservation.take(1)).to.equal(false);
    expect(whole.used()).to.equal(0);
  });
});
