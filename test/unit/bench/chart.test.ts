import { expect } from 'chai';
import { cellsOf, readOptions } from '../../../bench/cells.ts';
import { countAxis, linearAxis, logAxis } from '../../../bench/chart-axis.ts';
import { chartSvg } from '../../../bench/chart-svg.ts';
import { ROLES, type Role } from '../../../bench/cpu.ts';
import { type Measured, type Summary, summarise } from '../../../bench/report.ts';

describe('chart axes', () => {
  it('are linear from 0 to above the largest value', () => {
    const { ticks, at } = linearAxis([3, 26.4]);
    expect(ticks).to.deep.equal([0, 10, 20, 30]);
    expect(at(15)).to.equal(0.5);
    expect(linearAxis([0.3]).ticks.at(-1)).to.be.at.least(0.3);
  });

  it('are logarithmic around the values', () => {
    const { ticks, at } = logAxis([40, 900]);
    expect(ticks).to.deep.equal([20, 50, 100, 200, 500, 1_000]);
    expect(at(20)).to.equal(0);
    expect(at(1_000)).to.equal(1);
    expect(at(200) - at(100)).to.be.closeTo(at(100) - at(50), 1e-9);
  });

  it('have equal distances between counts', () => {
    const { at } = countAxis([1, 2, 4, 32]);
    expect([1, 2, 4, 32].map(at)).to.deep.equal([0.125, 0.375, 0.625, 0.875]);
  });
});

describe('benchmark chart', () => {
  const measured = (perSecond: number): Measured => ({
    perSecond,
    timesMs: [1_000 / perSecond],
    done: 10,
    spent: {
      byRole: Object.fromEntries(ROLES.map(role => [role, 100])) as Record<Role, number>,
      machine: 0,
    },
    memory: { residentMb: {}, ownMb: {}, chromeMb: 0, renderers: 0, renderersMb: 0 },
  });
  const summaries: Summary[] = cellsOf(
    readOptions(['--documents', 'invoice,chart', '--callers', '1,2,8']),
  ).map(cell =>
    summarise({
      cell,
      rounds: [{ bare: measured(20), pressroom: measured(25), puppeteer: measured(3) }],
    }),
  );
  const svg = chartSvg(summaries, '2 cores <of a machine> & more');
  const count = (pattern: RegExp) => [...svg.matchAll(pattern)].length;

  it('draws a line for each side in both panels, with a point for each number of callers', () => {
    expect(count(/<polyline /g)).to.equal(3 * 2);
    expect(count(/<circle /g)).to.equal(3 * 2 * 3);
  });

  it('stacks the CPU of each side by process, with the sum above', () => {
    expect(count(/>60<\/text>/g)).to.equal(3 + 1); // a tick of the axis besides
  });

  it('names axes, units, sides and processes, and writes the machine as text', () => {
    for (const text of [
      'callers',
      'Renders a second',
      'p50 in ms',
      'CPU ms a render',
      'at 2 callers',
      'pressroom',
      'puppeteer',
      'mongod',
    ])
      expect(svg).to.include(text);
    expect(svg).to.include('2 cores &lt;of a machine> &amp; more');
  });

  it('contains no NaN, even without data', () => {
    for (const text of [svg, chartSvg([], 'nothing')])
      expect(text).to.not.match(/NaN|Infinity|undefined/);
  });
});
