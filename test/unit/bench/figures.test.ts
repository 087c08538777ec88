import { expect } from 'chai';
import { digits, isMet, slopePerThousand, spread, verdict } from '../../../bench/figures.ts';
import { largeBody, noisePages, tablePages } from '../../../bench/heavy-requests.ts';

describe('benchmark figures', () => {
  const figure = { what: 'the time', value: 10, unit: 'ms' };

  it('meet a target at its limit and miss it beyond', () => {
    expect(isMet({ ...figure, atMost: 10 })).to.equal(true);
    expect(isMet({ ...figure, atMost: 9.9 })).to.equal(false);
    expect(isMet({ ...figure, atLeast: 10 })).to.equal(true);
    expect(isMet({ ...figure, atLeast: 10.1 })).to.equal(false);
  });

  it('miss the target without a measurement', () => {
    expect(isMet({ ...figure, value: Number.NaN, atMost: 10 })).to.equal(false);
    expect(isMet({ ...figure, value: Number.NaN, atLeast: 10 })).to.equal(false);
  });

  it('are printed with their target, one per line', () => {
    expect(
      verdict([
        { ...figure, atMost: 9 },
        { what: 'the rate', value: 2_000, unit: 'pairs/s', atLeast: 1_500 },
      ]),
    ).to.deep.equal([
      'MISSED: the time: 10.0 ms, target at most 9',
      'met:    the rate: 2000 pairs/s, target at least 1500',
    ]);
  });

  it('are formatted with three digits, a series with its median and range', () => {
    expect([1.234, 12.34, 123.4, -0.1].map(digits)).to.deep.equal(['1.23', '12.3', '123', '-0.10']);
    expect(spread([3, 1, 2])).to.equal('2.00 (1.00 to 3.00)');
  });

  it('include the slope of the least-squares line', () => {
    const points = [0, 500, 1_000, 1_500].map((x, nth) => ({
      x,
      y: 100 + x / 500 + (nth === 1 || nth === 2 ? 0.3 : -0.3),
    }));
    expect(slopePerThousand(points)).to.be.closeTo(2, 1e-9);
    expect(slopePerThousand([0, 1_000].map(x => ({ x, y: 7 })))).to.equal(0);
  });

  it('have no slope without different x values', () => {
    expect(slopePerThousand([{ x: 1, y: 1 }])).to.be.NaN;
    expect(slopePerThousand([])).to.be.NaN;
  });
});

describe('large benchmark requests', () => {
  it('are close to the maximum size with characters of any width', () => {
    for (const wide of [false, true]) {
      const bytes = Buffer.byteLength(largeBody(1e6, wide));
      expect(bytes).to.be.within(0.95e6, 1e6);
    }
    const one = (text: string) => JSON.parse(text).html as string;
    expect(/[^\0-\xff]/.test(one(largeBody(1e5)))).to.equal(false);
    expect(/[^\0-\xff]/.test(one(largeBody(1e5, true)))).to.equal(true);
  });

  it('contain the given fields in addition to html', () => {
    expect(JSON.parse(noisePages([10, 20], { sandbox: true }))).to.include({ sandbox: true });
    expect(JSON.parse(tablePages(2)).html.match(/<tr>/g)).to.have.length(70);
  });
});
