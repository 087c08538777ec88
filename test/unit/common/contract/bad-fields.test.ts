// @proves html, raise_for_status, wrong-types, format, paper_width, paper_height, landscape
// @proves margin, margin.top, margin.left, single_page, pages, print_background, scale, zoom
// @proves emulate_media, wait_delay, timeout, prefer_css_page_size, wait_for_selector, wait_for_expression, wait_for_network_idle
// @proves validation_error

import { expect } from 'chai';
import { requestError, shown } from '../../../support/request-error.ts';

/** A field, an invalid value, and part of the message. */
type Row = [field: string, value: unknown, says: string];

const WRONG_TYPES: Row[] = [
  ...[
    'html',
    'url',
    'format',
    'paper_width',
    'paper_height',
    'pages',
    'wait_delay',
    'timeout',
    'wait_for_selector',
    'wait_for_expression',
  ].flatMap((field): Row[] => [
    [field, null, 'string'],
    [field, 5, 'not a number'],
    [field, true, 'not a boolean'],
    [field, ['A4'], 'not an array'],
    [field, {}, 'not an object'],
  ]),
  ...[
    'landscape',
    'prefer_css_page_size',
    'print_background',
    'single_page',
    'raise_for_status',
    'wait_for_network_idle',
  ].flatMap((field): Row[] => [
    [field, null, 'must be true or false, not null'],
    [field, 'true', 'must be true or false, not a string'],
    [field, 1, 'must be true or false, not a number'],
  ]),
  ...['scale', 'zoom'].flatMap((field): Row[] => [
    [field, null, 'must be a number from 0.1 to 2, not null'],
    [field, '1', 'must be a number from 0.1 to 2, not a string'],
    [field, true, 'must be a number from 0.1 to 2, not a boolean'],
    [field, JSON.parse('1e999'), 'must be a number from 0.1 to 2, not such a large number'],
  ]),
  [
    'margin',
    null,
    'must be a length string for all sides such as `10mm`, or an object with `top`, `right`, `bottom` and `left`, not null',
  ],
  ['margin', true, 'not true'],
  ['margin', 20, 'not 20'],
  ['margin', ['10mm'], 'not an array'],
  ['margin.top', { top: null }, 'not null'],
  ['margin.left', { left: 10 }, 'such as `10mm`, or 0, not 10'],
  ['emulate_media', null, 'must be `print` or `screen`, not null'],
  ['emulate_media', true, 'must be `print` or `screen`, not true'],
];

const WRONG_VALUES: Row[] = [
  ['html', '', 'must not be empty'],
  ['scale', 0.09, 'not 0.09'],
  ['scale', 2.01, 'not 2.01'],
  ['scale', 0, 'not 0'],
  ['scale', -1, 'not -1'],
  ['zoom', 0.05, 'not 0.05'],
  ['zoom', 3, 'not 3'],
  ['emulate_media', 'Print', 'must be `print` or `screen`, not "Print"'],
  ['emulate_media', 'speech', 'not "speech"'],
  ['emulate_media', '', 'not ""'],
  ['format', '', 'not ""'],
  ['format', 'A7', 'A0, A1, A2, A3, A4, A5, A6, Letter, Legal, Tabloid, Ledger'],
  ['format', ' A4', 'not " A4"'],
  ['format', '210', 'not "210"'],
  ['format', '210mm', 'not "210mm"'],
  ['format', '210mmx', 'not "210mmx"'],
  ['format', 'x297mm', 'not "x297mm"'],
  ['format', '210 mmx297mm', 'not "210 mmx297mm"'],
  ['format', '210mm x 297mm', 'not "210mm x 297mm"'],
  ['format', '210mmx297mmx1mm', 'not "210mmx297mmx1mm"'],
  ['format', '8,5x11', 'not "8,5x11"'],
  ['format', '-8x11', 'not "-8x11"'],
  ['format', '8e0x11', 'not "8e0x11"'],
  ['format', '8emx11em', 'px, in, cm, mm, pt, pc'],
  ['format', 'autox11', 'not "autox11"'],
  ['format', 'autoxauto', 'not "autoxauto"'],
  ['format', '0x11', 'sides from 0.5 to 200 inches'],
  ['format', '0.49x11', 'sides from 0.5 to 200 inches, not "0.49x11"'],
  ['format', '11x200.1', 'sides from 0.5 to 200 inches, not "11x200.1"'],
  ['format', '12.6mmx100mm', 'not "12.6mmx100mm"'],
  ['format', '800x600', 'Sides without a unit are in inches. Did you mean `800pxx600px`?'],
  ['format', '40xauto', 'from 0.5 to 200 inches wide'],
  ['format', '8.5xauto', 'A width without a unit is in pixels. Did you mean `8.5inxauto`?'],
  ['format', '201inxauto', 'from 0.5 to 200 inches wide, not "201inxauto"'],
  ['format', `${'9'.repeat(400)}x11`, 'sides from 0.5 to 200 inches'],
  ['wait_delay', '', 'not ""'],
  ['wait_delay', '5', 'a duration from 0 to 30s such as `500ms`'],
  ['wait_delay', '30.001s', 'not "30.001s"'],
  ['wait_delay', '31s', 'not "31s"'],
  ['wait_delay', '1m', 'not "1m"'],
  ['wait_delay', '1h', 'not "1h"'],
  ['wait_delay', '-1ms', 'not "-1ms"'],
  ['wait_delay', '1 s', 'not "1 s"'],
  ['wait_delay', '1S', 'not "1S"'],
  ['wait_delay', '.s', 'not ".s"'],
  ['wait_delay', '1s500', 'not "1s500"'],
  ['wait_delay', '1d', 'not "1d"'],
  ['wait_delay', '00', 'not "00"'],
  ['wait_delay', '1e1s', 'not "1e1s"'],
  ['timeout', '', 'a duration from 1s to the limit of this installation, such as `1.5s`'],
  ['timeout', '30', 'not "30"'],
  ['timeout', '0', 'not "0"'],
  ['timeout', '999ms', 'not "999ms"'],
  ['timeout', '-5s', 'not "-5s"'],
  ['timeout', '60.1s', 'from 1s to 60s, the limit of this installation, such as `1.5s`'],
  ['timeout', '1h', 'from 1s to 60s, the limit of this installation'],
  ['wait_for_selector', `#${'a'.repeat(4_096)}`, 'at most 4096 characters'],
  ['wait_for_expression', '1'.repeat(65_537), 'at most 65536 characters'],
  ['wait_for_selector', '', 'a CSS selector such as `#ready`, not blank'],
  ['wait_for_selector', ' \n', 'a CSS selector such as `#ready`, not blank'],
  ['wait_for_expression', '', 'a JavaScript expression such as'],
  ['wait_for_expression', '\t', 'not blank'],
  ...[
    '',
    ' ',
    '0',
    '01',
    '3-1',
    '-3',
    '1,,2',
    ',1',
    '1,',
    '1-2-3',
    '1 2',
    '1--2',
    '1;2',
    'all',
    '1.5',
    '+1',
    '1\t',
    '1-0',
    '９',
  ].map(
    (value): Row => [
      'pages',
      value,
      `page numbers and ranges such as \`1-3, 5, 8-\`, from page 1 and with the lower number first, not ${JSON.stringify(value)}`,
    ],
  ),
  ['pages', '1,'.repeat(3_000), 'at most 4096 characters long, not 6000'],
  ['margin', '', 'a length of 0 or more such as `10mm`'],
  ['margin', '10 mm', 'inches without a unit), not "10 mm"'],
  ...[
    '-1',
    '-0.1mm',
    '10 mm',
    '10em',
    '10%',
    '',
    'auto',
    '1,5cm',
    '+1',
    '10MM',
    '1e1',
    '.',
    'NaN',
    'Infinity',
    '0x10',
  ].flatMap((value): Row[] => [
    [
      'margin.top',
      { top: value },
      `a length of 0 or more such as \`10mm\`, \`0.5in\` or \`20px\` (px, in, cm, mm, pt, pc; inches without a unit), not ${JSON.stringify(value)}`,
    ],
  ]),
];

describe('fields of a render request', () => {
  for (const [field, value, says] of [...WRONG_TYPES, ...WRONG_VALUES]) {
    it(`rejects ${shown(value)} as ${field}`, () => {
      const [name = ''] = field.split('.');
      const error = requestError(
        name === 'html' || name === 'url' ? { [name]: value } : { html: 'x', [name]: value },
      );
      expect(error.code).to.equal('validation_error');
      expect(error.message)
        .to.match(new RegExp(`^\`${field}\` must `))
        .and.to.satisfy((text: string) => says.split('|').some(part => text.includes(part)));
    });
  }

  for (const side of ['paper_width', 'paper_height']) {
    for (const value of ['0.4', '0', '201', '12mm', '20000px', '-5', '5 in', 'A4', '', 'auto']) {
      it(`rejects ${shown(value)} as ${side}`, () => {
        const error = requestError({
          html: 'x',
          paper_width: '5in',
          paper_height: '5in',
          [side]: value,
        });
        expect(error.code).to.equal('validation_error');
        expect(error.message)
          .to.match(new RegExp(`^\`${side}\` must `))
          .and.to.contain(value === '201' ? '`201px`' : JSON.stringify(value));
      });
    }
  }
});
