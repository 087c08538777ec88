// @proves format, pages, wait_delay

import { expect } from 'chai';
import fc from 'fast-check';
import { DURATION_PATTERN, parseWaitDelayMs } from '../../../../common/contract/durations.ts';
import { editDistance } from '../../../../common/contract/nearest-name.ts';
import {
  PAGES_PATTERN,
  pageRangesText,
  parsePages,
} from '../../../../common/contract/page-ranges.ts';
import {
  FORMAT_PATTERN,
  isUnitless,
  LENGTH_PATTERN,
  NAMED_FORMATS,
  parseFormat,
  parseLengthIn,
} from '../../../../common/contract/paper.ts';

/**
 * Units in the smallest common step, 1/914400 inch, as office documents count: integers all of
 * them.
 */
const STEPS = { in: 914_400, px: 9_525, cm: 360_000, mm: 36_000, pt: 12_700, pc: 152_400 } as const;
const unit = fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[]));
/** Thousandths as text in a random notation. */
const decimal = fc.tuple(fc.nat(500_000), fc.boolean()).map(([thousandths, short]) => {
  const text = (thousandths / 1_000).toFixed(3);
  return {
    thousandths,
    text: short ? text.replace(/\.?0+$/, '').replace(/^0(?=\.)/, '') || '0' : text,
  };
});

const close = (actual: number | undefined, expected: number) =>
  Math.abs(actual! - expected) <= 1e-9 * Math.max(1, expected);

describe('lengths', () => {
  it('are converted to inches by their unit', () => {
    fc.assert(
      fc.property(decimal, unit, ({ text, thousandths }, name) => {
        expect(`${text}${name}`).to.match(new RegExp(LENGTH_PATTERN));
        return close(
          parseLengthIn(`${text}${name}`),
          (thousandths * STEPS[name]) / 1_000 / STEPS.in,
        );
      }),
    );
  });

  it('are in inches, or in pixels if requested, without a unit', () => {
    fc.assert(
      fc.property(
        decimal,
        ({ text, thousandths }) =>
          close(parseLengthIn(text), thousandths / 1_000) &&
          close(parseLengthIn(text, 'px'), thousandths / 96_000) &&
          isUnitless(text),
      ),
    );
  });

  it('are exact where the units are', () => {
    expect(
      ['25.4mm', '2.54cm', '96px', '72pt', '6pc', '1in', '1'].map(text => parseLengthIn(text)),
    ).to.deep.equal([1, 1, 1, 1, 1, 1, 1]);
  });

  it('match their pattern exactly when they are valid', () => {
    const pattern = new RegExp(LENGTH_PATTERN);
    const alphabet = fc.string({
      unit: fc.constantFrom(...'0123456789.-+ epxinmctx'),
      maxLength: 8,
    });
    fc.assert(
      fc.property(alphabet, text => (parseLengthIn(text) !== undefined) === pattern.test(text)),
    );
  });
});

describe('formats', () => {
  it('are found by name, case-insensitively', () => {
    const name = fc.constantFrom(...(Object.keys(NAMED_FORMATS) as (keyof typeof NAMED_FORMATS)[]));
    const spelled = fc.tuple(name, fc.infiniteStream(fc.boolean())).map(([known, upper]) => ({
      known,
      text: [...known]
        .map(letter => (upper.next().value ? letter.toUpperCase() : letter.toLowerCase()))
        .join(''),
    }));
    fc.assert(
      fc.property(spelled, ({ known, text }) => {
        expect(parseFormat(text)).to.deep.equal(NAMED_FORMATS[known]);
        expect(text).to.match(new RegExp(FORMAT_PATTERN));
      }),
    );
  });

  it('halve from one A size to the next', () => {
    const sizes = ['A0', 'A1', 'A2', 'A3', 'A4', 'A5', 'A6'].map(
      name => parseFormat(name) as { widthIn: number; heightIn: number },
    );
    for (const [index, size] of sizes.slice(1).entries()) {
      expect(size.heightIn).to.equal(sizes[index]!.widthIn);
      expect(size.widthIn).to.be.closeTo(sizes[index]!.heightIn / 2, 0.5 / 25.4 + 1e-9);
    }
  });

  it('use the own unit of each side', () => {
    const side = fc
      .tuple(decimal, fc.option(unit, { nil: undefined }))
      .map(([{ text }, name]) => `${text}${name ?? ''}`);
    fc.assert(
      fc.property(side, side, (width, height) => {
        expect(`${width}x${height}`).to.match(new RegExp(FORMAT_PATTERN));
        expect(parseFormat(`${width}x${height}`)).to.deep.equal({
          widthIn: parseLengthIn(width),
          heightIn: parseLengthIn(height),
        });
        expect(parseFormat(`${width}xauto`)).to.deep.equal({
          widthIn: parseLengthIn(width, 'px'),
          heightIn: 'auto',
        });
      }),
    );
  });

  it('match their pattern exactly when they are valid', () => {
    const pattern = new RegExp(FORMAT_PATTERN);
    const pieces = fc.array(
      fc.constantFrom('8', '.5', '.', 'x', 'px', 'mm', 'in', 'auto', 'A4', 'a', 'Legal', ' ', '-'),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(
        pieces,
        words => (parseFormat(words.join('')) !== undefined) === pattern.test(words.join('')),
      ),
      { numRuns: 500 },
    );
  });
});

describe('durations', () => {
  const NANOSECONDS = {
    ns: 1n,
    us: 1_000n,
    µs: 1_000n,
    μs: 1_000n,
    ms: 1_000_000n,
    s: 1_000_000_000n,
    m: 60_000_000_000n,
  } as const;
  const part = fc.record({
    whole: fc.nat(40),
    thousandths: fc.nat(999),
    name: fc.constantFrom(...(Object.keys(NANOSECONDS) as (keyof typeof NANOSECONDS)[])),
  });

  it('are the sum of their parts, at most 30 seconds', () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 3 }), parts => {
        const text = parts
          .map(
            ({ whole, thousandths, name }) =>
              `${whole}.${String(thousandths).padStart(3, '0')}${name}`,
          )
          .join('');
        const picoseconds = parts.reduce(
          (sum, { whole, thousandths, name }) =>
            sum + BigInt(whole * 1_000 + thousandths) * NANOSECONDS[name],
          0n,
        );
        const ms = parseWaitDelayMs(text);
        expect(text).to.match(new RegExp(DURATION_PATTERN));
        if (picoseconds > 30_000_000_000_000n + 500n) expect(ms).to.equal(undefined);
        // Half a nanosecond at most is rounded away.
        else if (picoseconds <= 30_000_000_000_000n)
          expect(ms).to.be.closeTo(Number(picoseconds) / 1e9, 0.6e-6);
      }),
      { numRuns: 500 },
    );
  });

  for (const [text, ms] of [
    ['0', 0],
    ['-0', 0],
    ['+5ms', 5],
    ['300ms', 300],
    ['1.5s', 1_500],
    ['.5s', 500],
    ['1.s', 1_000],
    ['1s500ms', 1_500],
    ['500ms1s', 1_500],
    ['250000us', 250],
    ['30s', 30_000],
    ['0.5m', 30_000],
    ['29s999ms1000us', 30_000],
  ] as const) {
    it(`parse ${text} as ${ms} ms`, () =>
      expect(Object.is(parseWaitDelayMs(text), ms)).to.equal(true));
  }
});

describe('page ranges', () => {
  const LAST = 60;
  const written = fc.record({
    from: fc.integer({ min: 1, max: LAST }),
    more: fc.option(fc.nat(9), { nil: undefined }),
    open: fc.boolean(),
    space: fc.boolean(),
  });
  const selection = fc.array(written, { minLength: 1, maxLength: 8 }).map(rows => ({
    rows,
    text: rows
      .map(({ from, more, open, space }) => {
        const gap = space ? ' ' : '';
        return more === undefined
          ? `${gap}${from}${open ? `${gap}-` : ''}${gap}`
          : `${gap}${from}${gap}-${gap}${from + more}${gap}`;
      })
      .join(','),
  }));
  const keeps = (
    { from, more, open }: { from: number; more: number | undefined; open: boolean },
    page: number,
  ) => page >= from && (more === undefined ? open || page === from : page <= from + more);

  it('are merged, sorted and disjoint', () => {
    fc.assert(
      fc.property(selection, ({ rows, text }) => {
        const ranges = parsePages(text)!;
        expect(text).to.match(new RegExp(PAGES_PATTERN));
        for (let page = 1; page <= LAST + 10; page++) {
          expect(
            ranges.some(({ from, to }) => page >= from && page <= to),
            `page ${page}`,
          ).to.equal(rows.some(row => keeps(row, page)));
        }
        for (const [index, { from, to }] of ranges.entries()) {
          expect(from).to.be.at.most(to);
          if (index > 0) expect(from).to.be.above(ranges[index - 1]!.to + 1);
        }
      }),
    );
  });

  it('are the same after formatting and parsing again', () => {
    fc.assert(
      fc.property(selection, ({ text }) => {
        expect(parsePages(pageRangesText(parsePages(text)!))).to.deep.equal(parsePages(text));
      }),
    );
  });

  it('match their pattern when they are valid', () => {
    const pattern = new RegExp(PAGES_PATTERN);
    const pieces = fc.array(fc.constantFrom('0', '1', '2', '30', ',', '-', ' ', ' ,', '- '), {
      maxLength: 7,
    });
    fc.assert(
      fc.property(
        pieces,
        words => parsePages(words.join('')) === undefined || pattern.test(words.join('')),
      ),
      { numRuns: 1_000 },
    );
  });

  for (const [text, chrome] of [
    ['1', '1'],
    ['5,1-3', '1-3,5'],
    ['1,2,3', '1-3'],
    ['7-,2', '2,7-'],
    ['2-5,4-9,9-', '2-'],
    [' 3 - 4 , 1 ', '1,3-4'],
    ['2-2', '2'],
    ['999999999', '999999999'],
    ['1-9999999999', '1-999999999'],
    [`2,5-${'9'.repeat(4_000)}`, '2,5-999999999'],
    ['99999999999999999998-99999999999999999999', '999999999'],
  ] as const) {
    it(`are ${chrome} for Chrome when the request has ${text}`, () =>
      expect(pageRangesText(parsePages(text)!)).to.equal(chrome));
  }

  it('have the lower number first, with any number of digits', () => {
    for (const text of [
      '99999999999999999999-99999999999999999998',
      '10000000000-9',
      `${'9'.repeat(4_000)}-1`,
    ])
      expect(parsePages(text)).to.equal(undefined);
  });

  it('are parsed quickly for hostile texts', () => {
    for (const text of [
      `1${' '.repeat(4_000)}x`,
      '1-'.repeat(2_000),
      ' '.repeat(4_096),
      `${'1'.repeat(4_095)}x`,
      '1'.repeat(10 * 2 ** 20),
      '1,'.repeat(2_000_000),
    ])
      expect(parsePages(text)).to.equal(undefined);
  });
});

describe('the edit distance of names', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 7 });

  it('is zero to itself, symmetric and at most the longer length', () => {
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(editDistance(a, b)).to.equal(editDistance(b, a));
        expect(editDistance(a, b) === 0).to.equal(a === b);
        expect(editDistance(a, b)).to.be.at.most(Math.max(a.length, b.length));
      }),
    );
  });

  it('is one for each kind of typo', () => {
    expect(
      ['ladscape', 'landdscape', 'landscepe', 'landscpae'].map(text =>
        editDistance(text, 'landscape'),
      ),
    ).to.deep.equal([1, 1, 1, 1]);
  });
});
