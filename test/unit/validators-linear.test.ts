import { expect } from 'chai';
import { loggedPath } from '../../api/http/access-log.ts';
import { checkBodyHeaders, parseJson } from '../../api/http/body.ts';
import { bearerToken, clientIp, parseTrustedProxies } from '../../api/http/caller.ts';
import { templateHtml, withoutLoads } from '../../api/page/header-footer.ts';
import { pageSizeOverrides } from '../../api/page/print.ts';
import { isStaticHtml, renderSettings } from '../../api/page/render-settings.ts';
import { textString } from '../../api/pdf/metadata.ts';
import {
  isPublicAddress,
  literalAddress,
  normalizeAddress,
  parseNetwork,
} from '../../common/addresses.ts';
import { cookieDomain } from '../../common/contract/cookies.ts';
import { ApiError } from '../../common/contract/errors.ts';
import { FIELD_NAMES } from '../../common/contract/fields.ts';
import { nearestName } from '../../common/contract/nearest-name.ts';
import { parsePages } from '../../common/contract/page-ranges.ts';
import { placeholderProblem, replacePlaceholders } from '../../common/contract/placeholders.ts';
import { parseRenderRequest } from '../../common/contract/render-request.ts';
import { parseDurationMs } from '../../common/units.ts';
import { isHostName, parseAbsoluteForm, parseAuthority } from '../../worker/egress/target.ts';
import { filterFrame } from '../../worker/gateway/cdp-filter.ts';
import { PUBLIC } from '../support/request-error.ts';

const MIB = 1024 * 1024;

/**
 * A quarter that takes less leaves nothing to fear of the whole: were it the square, the whole
 * would take 16 times as long.
 */
const PLAINLY_FAST_MS = 5;
/**
 * Four times the text may take 4 times as long when the time is linear, and takes 16 times when it
 * is the square.
 */
const MAX_GROWTH = 12;
/** Shorter times show no growth: a garbage collection takes as long. */
const LEAST_MS = 20;
const MAX_MS = 2_000;

/** What is repeated, behind a beginning and before an end that spoils the match. */
const PUMPS: [begin: string, repeated: string, end: string][] = [
  ...[
    '1',
    '0',
    '.',
    '1.',
    '.1',
    '1x',
    'x',
    '1-',
    '1,',
    '1 ',
    ' ',
    '\t',
    '\n',
    'a',
    'a.',
    '-',
    '_',
    ':',
    '::',
    '0:',
    '%',
    '[',
    ']',
    '/',
    '\\',
    '"',
    '\\"',
    ';',
    ',',
    '@',
    '#',
    '?',
    '&',
    '=',
  ].map((repeated): [string, string, string] => ['', repeated, '!']),
  ...[
    '{{',
    '{',
    '}',
    '{{}}',
    '{{a',
    '<',
    '</',
    '<a',
    '<!--',
    '<svg>',
    '<style>',
    '<script ',
    '<script src',
    '<script',
    '<link',
    '<p a="',
    '&amp',
    '&#',
    'on',
    'onx ',
    ' on=',
    'src =',
    ' src = ',
    'url(',
    'url("',
    "url('",
    '\\75',
    '@page',
    '@page{',
    '@page ',
    '@page {',
    '@font-face',
    '@font-face{',
    '@import',
    'é',
    '\u0000',
    '\ud800',
    '😀',
    '日',
    '\u00ad',
  ].map((repeated): [string, string, string] => ['', repeated, '\u0001']),
  ['1', ' ', '1!'],
  ['1', '0', 'mmx'],
  ['1mmx', '0', '!'],
  ['1-', ' ', '!'],
  ['.', '1', '.'],
  ['http://', 'a', ' '],
  ['http://', 'a.', '\\'],
  ['http://', '1.', ''],
  ['http://', 'é', '/'],
  ['http://x/', ' ', 'x'],
  ['http://[', ':', ']/'],
  ['http://', '@', 'x'],
  [' ', 'http://', ' '],
  ['Bearer ', ' ', ' x y'],
  ['Bearer ', 'a', ' b'],
  ['@page{size:A4', ' ', 'x}'],
  ['@page{size:A4;', ' ', 'x}'],
  ['@page', ' ', 'x'],
  ['@page{', 'size:', '}'],
  ['<style>', '@page{size:A4}', ''],
  ['<script ', 'a ', 'src'],
  ['<p ', 'a=b ', '>'],
  ['on', 'a', '!'],
  ['onx', ' ', '!'],
  ['src', ' ', '!'],
  ['url(', ' ', '"'],
  ['url("', '\\"', ''],
  ['application/json;', ';', ''],
  ['application/json; charset=', '"', ''],
  ['[', '1', ']:x'],
  ['1.1.1.1', ',1.1.1.1', ''],
];

const pumped = ([begin, repeated, end]: (typeof PUMPS)[number], length: number) =>
  `${begin}${repeated.repeat(Math.max(1, Math.floor((length - begin.length - end.length) / repeated.length)))}${end}`;

const shown = (pump: (typeof PUMPS)[number]) => pump.map(part => JSON.stringify(part)).join(' ');

/** Runs it; a rejection is a valid result. */
function answered(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

/** CPU time of this thread, so that other processes on the machine do not count. */
function timeMs(run: () => unknown): number {
  const before = process.threadCpuUsage();
  answered(run);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

const best = (run: () => unknown) => Math.min(timeMs(run), timeMs(run), timeMs(run));

function expectLinear(name: string, run: (length: number) => () => unknown, length: number): void {
  // Shorter ones go first: what is not linear shows itself there, and would hold the test for
  // minutes at full length.
  for (const part of [64, 16])
    expect(timeMs(run(length / part)), `${name}: ms for ${length / part} characters`).to.be.below(
      MAX_MS,
    );
  const quarter = run(length / 4);
  const firstMs = timeMs(quarter);
  expect(firstMs, `${name}: ms for ${length / 4} characters`).to.be.below(MAX_MS);
  if (firstMs < PLAINLY_FAST_MS) return;
  const wholeMs = best(run(length));
  const quarterMs = best(quarter);
  expect(wholeMs, `${name}: ms for ${length} characters`).to.be.below(MAX_MS);
  expect(
    wholeMs / Math.max(quarterMs, LEAST_MS),
    `${name}: from ${quarterMs} ms to ${wholeMs} ms for four times as much`,
  ).to.be.below(MAX_GROWTH);
}

const asked = (body: object) => parseRenderRequest(body, PUBLIC);
const settings = (html: string) => renderSettings({ html });
const ticket = 'A1B2C3D4E5F60718293A4B5C6D7E8F90';
const frame = (method: string, params: object) =>
  Buffer.from(JSON.stringify({ id: 1, method, params }));

const TEXT_FIELDS = [
  'html',
  'url',
  'format',
  'paper_width',
  'pages',
  'wait_delay',
  'wait_for_selector',
  'wait_for_expression',
  'css',
  'javascript',
  'emulate_media',
];

/**
 * By name: who reads a caller's text, and the longest that reaches it where that is less than 1
 * MiB.
 */
const READERS: [name: string, read: (text: string) => unknown, maxLength?: number][] = [
  ...TEXT_FIELDS.map((field): [string, (text: string) => unknown] => [
    `the field ${field}`,
    text => asked({ html: 'x', [field]: text }),
  ]),
  ...['top', 'inside'].map((side): [string, (text: string) => unknown] => [
    `margin.${side}`,
    text => asked({ html: 'x', margin: { [side]: text } }),
  ]),
  ['the name of a field', text => asked({ html: 'x', [text]: 1 })],
  ['the name of a field in an object', text => asked({ html: 'x', margin: { [text]: 1 } })],
  ['header.html', text => asked({ html: 'x', header: { html: text } }), 65_536],
  ['header.height', text => asked({ html: 'x', header: { height: text } })],
  [
    'cookies.0.name',
    text => asked({ html: 'x', cookies: [{ name: text, value: '', domain: 'a.example' }] }),
    262_144,
  ],
  [
    'cookies.0.value',
    text => asked({ html: 'x', cookies: [{ name: 'a', value: text, domain: 'a.example' }] }),
    262_144,
  ],
  [
    'cookies.0.domain',
    text => asked({ html: 'x', cookies: [{ name: 'a', value: '', domain: text }] }),
    262_144,
  ],
  [
    'cookies.0.path',
    text =>
      asked({ html: 'x', cookies: [{ name: 'a', value: '', domain: 'a.example', path: text }] }),
    262_144,
  ],
  ['a header’s name', text => asked({ html: 'x', extra_http_headers: { [text]: 'x' } }), 262_144],
  ['a header’s value', text => asked({ html: 'x', extra_http_headers: { 'X-A': text } }), 262_144],
  [
    'auth.username',
    text => asked({ url: 'https://a.example/', auth: { username: text, password: text } }),
  ],
  ['metadata.title', text => asked({ html: 'x', metadata: { title: text } })],
  ['the JSON of a body', text => parseJson(Buffer.from(text))],
  ['the JSON of a string', text => parseJson(Buffer.from(`{"html":"${text}`))],
  ['a suggestion', text => nearestName(text, FIELD_NAMES)],
  ['pages', text => parsePages(text)],
  ['a duration', text => parseDurationMs(text)],
  ['a cookie’s host', text => cookieDomain(text), 254],
  ['placeholders', text => placeholderProblem(text), 65_536],
  ['placeholders that are replaced', text => replacePlaceholders(text), 65_536],
  ['what a template runs and loads', text => templateHtml(text), 65_536],
  ['what a style loads', text => withoutLoads(text), 65_536],
  ['what makes a document dynamic', text => isStaticHtml(text)],
  ['a page’s own rules', text => pageSizeOverrides(settings(text))],
  ['a text of a PDF', text => textString(text)],
  [
    'an address',
    text => [
      isPublicAddress(text),
      normalizeAddress(text),
      parseNetwork(text),
      literalAddress(text),
    ],
  ],
  [
    'an authority',
    text => [
      parseAuthority(text),
      parseAuthority(text, 80),
      isHostName(text),
      parseAbsoluteForm(text),
    ],
  ],
  ['the Authorization header', text => bearerToken(text)],
  [
    'the X-Forwarded-For header',
    text => clientIp('10.0.0.1', text, parseTrustedProxies(['0.0.0.0/0'])),
    16_384,
  ],
  [
    'the Content-Type header',
    text => checkBodyHeaders({ 'content-type': text, 'content-length': '1' }, MIB),
    16_384,
  ],
  ['a path in the log', text => loggedPath(text)],
  ['a frame to Chrome', text => filterFrame(Buffer.from(text), ticket)],
  [
    'an address in a frame to Chrome',
    text => filterFrame(frame('Page.navigate', { url: text }), ticket),
  ],
  [
    'html in a frame to Chrome',
    text => filterFrame(frame('Page.setDocumentContent', { frameId: ticket, html: text }), ticket),
  ],
];

describe('the time to validate a text', () => {
  for (const [name, read, maxLength = MIB] of READERS) {
    it(`grows no faster than its length: ${name}`, function () {
      this.timeout(120_000);
      for (const pump of PUMPS) {
        const run = (length: number) => {
          const text = pumped(pump, length);
          return () => read(text);
        };
        expectLinear(`${name} with ${shown(pump)}`, run, maxLength);
      }
    });
  }

  it('is bounded for a tag with the most attributes that a header can have', () => {
    const attributes = (length: number) =>
      `<p ${Array.from({ length: length / 5 }, (_, i) => i.toString(36).padStart(4, 'a')).join(' ')}>`;
    for (const read of [placeholderProblem, replacePlaceholders, templateHtml])
      expectLinear(
        'attributes',
        length => {
          const html = attributes(length);
          return () => read(html);
        },
        65_536,
      );
  });

  it('is bounded for the most members and levels that a body may have', () => {
    const bodies: [string, (length: number) => string][] = [
      [
        'members',
        length =>
          `{"html":"x"${Array.from({ length: length / 110 }, (_, i) => `,"a${i}":1`).join('')}}`,
      ],
      [
        'headers',
        length =>
          `{"html":"x","extra_http_headers":{${Array.from({ length: length / 110 }, (_, i) => `"a${i}":"x"`).join()}}}`,
      ],
      [
        'cookies',
        length =>
          `{"html":"x","cookies":[${Array.from({ length: length / 110 }, () => '{}').join()}]}`,
      ],
      ['levels', length => `{"html":${'['.repeat(length)}${']'.repeat(length)}}`],
    ];
    for (const [name, write] of bodies)
      expectLinear(
        name,
        length => {
          const bytes = Buffer.from(write(length));
          return () => asked(parseJson(bytes) as object);
        },
        MIB,
      );
  });
});
