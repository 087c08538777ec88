import { expect } from 'chai';
import {
  createTrialAdmission,
  type TrialAdmission,
} from '../../../../api/leases/trial-admission.ts';
import { trialSlotsOf } from '../../../../api/leases/trial-leases.ts';
import type { ApiError } from '../../../../common/contract/errors.ts';

describe('trial admission', () => {
  let nowMs: number;
  let admission: TrialAdmission;
  beforeEach(() => {
    nowMs = 1_000;
    admission = createTrialAdmission({ perMinute: 5, parallel: 2 }, () => nowMs);
  });

  /** Enters and leaves. Returns the error of a rejected call. */
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

  it('rejects with rate_limited and a Retry-After of a minute for every limit', () => {
    admission.usedUp('a', 60_000);
    const used = visit('a');
    admission.full();
    for (const rejected of [used, visit('b')])
      expect(rejected).to.deep.include({
        code: 'rate_limited',
        status: 429,
        headers: { 'Retry-After': '60' },
      });
    expect(used!.message).to.contain('5 renders per minute');
  });

  it('rejects a client without calls left until the next is allowed, and no other client', () => {
    admission.usedUp('a', 20_000);
    expect(visit('a')).to.not.equal(undefined);
    expect(visit('b')).to.equal(undefined);
    nowMs += 19_999;
    expect(visit('a')).to.not.equal(undefined);
    nowMs += 1;
    expect(visit('a')).to.equal(undefined);
  });

  it('admits no more concurrent calls of a client than its calls per minute', () => {
    const leave = Array.from({ length: 5 }, () => admission.enter('a'));
    expect(visit('a')).to.not.equal(undefined);
    leave[0]!();
    expect(visit('a')).to.equal(undefined);
  });

  it('admits four bodies per allowed call of a client in each minute', () => {
    expect(times(30, 'a')).to.equal(20);
    expect(visit('b')).to.equal(undefined);
    nowMs += 60_000;
    expect(times(30, 'a')).to.equal(20);
  });

  it('admits at most 16 concurrent calls per trial slot from all clients together', () => {
    const leave = Array.from({ length: 32 }, (_, nth) => admission.enter(`client ${nth}`));
    expect(visit('one more')).to.not.equal(undefined);
    leave[7]!();
    expect(visit('one more')).to.equal(undefined);
  });

  it('rejects for half a second when all slots are in use, unless one is released', () => {
    admission.full();
    nowMs += 499;
    expect(visit('a')).to.not.equal(undefined);
    nowMs += 1;
    expect(visit('a')).to.equal(undefined);
    admission.full();
    admission.freed();
    expect(visit('a')).to.equal(undefined);
  });

  it('does not count calls rejected because all slots are in use', () => {
    admission.full();
    expect(times(100, 'a')).to.equal(0);
    admission.freed();
    expect(times(30, 'a')).to.equal(20);
  });

  it('caches the last ten thousand clients', () => {
    admission.usedUp('first', 60_000);
    for (let nth = 1; nth < 10_000; nth++) visit(`client ${nth}`);
    expect(visit('first')).to.not.equal(undefined);
    for (let nth = 1; nth <= 10_000; nth++) visit(`client ${nth}`);
    expect(visit('first')).to.equal(undefined);
  });
});

describe('trial slots', () => {
  const cases: [parallel: number, slots: number, trialSlots: number][] = [
    [2, 0, 1],
    [2, 2, 1],
    [2, 7, 1],
    [2, 8, 2],
    [2, 400, 2],
    [10, 20, 5],
    [1, 400, 1],
  ];
  for (const [parallel, slots, trialSlots] of cases)
    it(`are ${trialSlots} of ${slots} slots when ${parallel} are configured`, () =>
      expect(trialSlotsOf(parallel, slots)).to.equal(trialSlots));
});
