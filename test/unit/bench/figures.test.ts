import { expect } from 'chai';
import { digits, isMet, slopePerThousand, spread, verdict } from '../../../bench/figures.ts';
import { largeBody, noisePages, tablePages } from '../../../bench/heavy-requests.ts';

describe('the figures of the benches', () => {
  const figure = { what: 'the time', value: 10, unit: 'ms' };

  it('are met at their bound and missed beyond it', () => {
    expect(isMet({ ...figure, atMost: 10 })).to.equal(true);
    expect(isMet({ ...figure, atMost: 9.9 })).to.equal(false);
    expect(isMet({ ...figure, atLeast: 10 })).to.equal(true);
    expect(isMet({ ...figure, atLeast: 10.1 })).to.equal(false);
  });

  it('are missed when nothing was measured', () => {
    expect(isMet({ ...figure, value: Number.NaN, atMost: 10 })).to.equal(false);
    expect(isMet({ ...figure, value: Number.NaN, atLeast: 10 })).to.equal(false);
  });

  it('say what is wanted and whether it is met, one a line', () => {
    expect(
      verdict([
        { ...figure, atMost: 9 },
        { what: 'the rate', value: 2_000, unit: 'pairs/s', atLeast: 1_500 },
      ]),
    ).to.deep.equal([
      'MISSED: the time: 10.0 ms, wanted at most 9',
      'met:    the rate: 2000 pairs/s, wanted at least 1500',
    ]);
  });

  it('show three digits, and the middle of a series with its ends', () => {
    expect([1.234, 12.34, 123.4, -0.1].map(digits)).to.deep.equal(['1.23', '12.3', '123', '-0.10']);
    expect(spread([3, 1, 2])).to.equal('2.00 (1.00 to 3.00)');
  });

  it('give the slope of a line through points that lie on both of its sides', () => {
    const points = [0, 500, 1_000, 1_500].map((x, nth) => ({
      x,
      y: 100 + x / 500 + (nth === 1 || nth === 2 ? 0.3 : -0.3),
    }));
    expect(slopePerThousand(points)).to.be.closeTo(2, 1e-9);
    expect(slopePerThousand([0, 1_000].map(x => ({ x, y: 7 })))).to.equal(0);
  });

  it('know no slope where all points lie above each other', () => {
    expect(slopePerThousand([{ x: 1, y: 1 }])).to.be.NaN;
    expect(slopePerThousand([])).to.be.NaN;
  });
});

describe('the large requests of the benches', () => {
  it('are nearly as large as they may be, with characters of any width', () => {
    for (const wide of [false, true]) {
      const bytes = Buffer.byteLength(largeBody(1e6, wide));
      expect(bytes).to.be.within(0.95e6, 1e6);
    }
    const one = (text: string) => JSON.parse(text).html as string;
    expect(/[^\0-\xff]/.test(one(largeBody(1e5)))).to.equal(false);
    expect(/[^\0-\xff]/.test(one(largeBody(1e5, true)))).to.equal(true);
  });

  it('carry the fields that are asked for beside their html', () => {
    expect(JSON.parse(noisePages([10, 20], { sandbox: true }))).to.include({ sandbox: true });
    expect(JSON.parse(tablePages(2)).html.match(/<tr>/g)).to.have.length(70);
  });
});
