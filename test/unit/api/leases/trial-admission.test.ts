import { expect } from 'chai';
import {
  createTrialAdmission,
  type TrialAdmission,
} from '../../../../api/leases/trial-admission.ts';
import { trialSlotsOf } from '../../../../api/leases/trial-leases.ts';
import type { ApiError } from '../../../../common/contract/errors.ts';

describe('the admission of trial calls', () => {
  let nowMs: number;
  let admission: TrialAdmission;
  beforeEach(() => {
    nowMs = 1_000;
    admission = createTrialAdmission({ perMinute: 5, parallel: 2 }, () => nowMs);
  });

  /** Comes and goes; gives what it was refused with. */
  function visit(name: string): ApiError | undefined {
    try {
      admission.enter(name)();
      return undefined;
    } catch (error) {
      return error as ApiError;
    }
  }
  const times = (count: number, name: string) =>
    Array.from({ length: count }, () => visit(name)).filter(error => error === undefined).length;

  it('refuses with rate_limited and a minute, whatever the reason', () => {
    admission.usedUp('a', 60_000);
    const used = visit('a');
    admission.full();
    for (const refused of [used, visit('b')])
      expect(refused).to.deep.include({
        code: 'rate_limited',
        status: 429,
        headers: { 'Retry-After': '60' },
      });
    expect(used!.message).to.contain('5 trial calls a minute');
  });

  it('keeps out whoever has used up his calls, for as long as that is so, and nobody else', () => {
    admission.usedUp('a', 20_000);
    expect(visit('a')).to.not.equal(undefined);
    expect(visit('b')).to.equal(undefined);
    nowMs += 19_999;
    expect(visit('a')).to.not.equal(undefined);
    nowMs += 1;
    expect(visit('a')).to.equal(undefined);
  });

  it('has no more calls of one visitor at once than he has in a minute', () => {
    const leave = Array.from({ length: 5 }, () => admission.enter('a'));
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
    const leave = Array.from({ length: 32 }, (_, nth) => admission.enter(`visitor ${nth}`));
    expect(visit('one more')).to.not.equal(undefined);
    leave[7]!();
    expect(visit('one more')).to.equal(undefined);
  });

  it('refuses for half a second when all places were taken, unless one is freed', () => {
    admission.full();
    nowMs += 499;
    expect(visit('a')).to.not.equal(undefined);
    nowMs += 1;
    expect(visit('a')).to.equal(undefined);
    admission.full();
    admission.freed();
    expect(visit('a')).to.equal(undefined);
  });

  it('does not count against a visitor what was refused for another reason', () => {
    admission.full();
    expect(times(100, 'a')).to.equal(0);
    admission.freed();
    expect(times(30, 'a')).to.equal(20);
  });

  it('remembers the last ten thousand visitors', () => {
    admission.usedUp('first', 60_000);
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
    it(`are ${places} of ${slots} slots when ${parallel} are allowed`, () =>
      expect(trialSlotsOf(parallel, slots)).to.equal(places));
});
