import { expect } from 'chai';
import { cellsOf, nameOf, readOptions, rendersOf, turnOf } from '../../../bench/cells.ts';

const cells = (...args: string[]) => cellsOf(readOptions(args));

describe('benchmark cells', () => {
  it('contain the invoice with all numbers of callers, and other documents with two', () => {
    const names = cells().map(nameOf);
    expect(names.slice(0, 5)).to.deep.equal(
      [1, 2, 4, 8, 32].map(callers => `invoice, ${callers} caller${callers > 1 ? 's' : ''}`),
    );
    expect(names.slice(5)).to.deep.equal([
      'line, 2 callers',
      'report, 2 callers',
      'chart, 2 callers',
      'table, 2 callers',
      'invoice by URL, 2 callers',
      'report by URL, 2 callers',
      'invoice, watermark, 2 callers',
      'report, watermark, 2 callers',
    ]);
  });

  it('are selected by the options', () => {
    expect(cells('--documents', 'chart', '--callers', '4').map(nameOf)).to.deep.equal([
      'chart, 4 callers',
    ]);
    expect(
      cells('--sides', 'puppeteer,bare', '--documents', 'invoice').flatMap(({ sides }) => sides),
    ).to.not.include('pressroom');
  });

  it('compare the watermark with Pressroom and bare Chrome only', () => {
    const stamped = cells().filter(cell => cell.stamped);
    expect(stamped.map(({ sides }) => sides)).to.deep.equal([
      ['bare', 'pressroom'],
      ['bare', 'pressroom'],
    ]);
    expect(cells('--sides', 'bare').some(cell => cell.stamped)).to.equal(false);
  });

  for (const [args, message] of [
    [
      ['--documents', 'invoice,letter'],
      '--documents invoice,letter: `letter` is not one of line, invoice, report, chart, table',
    ],
    [
      ['--sides', 'bear'],
      '--sides bear: `bear` is not one of bare, pressroom, puppeteer, puppeteer-cluster',
    ],
    [['--callers', '2,64'], '--callers 64: must be a whole number from 1 to 32'],
    [['--rounds', '0'], '--rounds 0: must be a whole number from 1 to 1000'],
    [['--renders', '2.5'], '--renders 2.5: must be a whole number from 1 to 10000'],
  ] as const)
    it(`are rejected with the accepted values for ${args.join(' ')}`, () => {
      expect(() => cells(...args)).to.throw(message);
    });

  it('rotate the first side, and include peers in every third round', () => {
    const [cell] = cells();
    expect([0, 1, 2, 3].map(round => turnOf(cell!, round))).to.deep.equal([
      ['bare', 'pressroom', 'puppeteer', 'puppeteer-cluster'],
      ['pressroom', 'bare'],
      ['bare', 'pressroom'],
      ['puppeteer-cluster', 'bare', 'pressroom', 'puppeteer'],
    ]);
  });

  it('use fewer renders for heavy documents and slow sides, but at least two', () => {
    const of = (document: string) => cells('--documents', document)[0]!;
    expect(rendersOf(of('invoice'), 'bare', 48)).to.equal(48);
    expect(rendersOf(of('invoice'), 'puppeteer', 48)).to.equal(12);
    expect(rendersOf(of('report'), 'pressroom', 48)).to.equal(12);
    expect(rendersOf(of('table'), 'puppeteer', 48)).to.equal(2);
  });
});
