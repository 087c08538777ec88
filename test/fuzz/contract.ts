// Bodies of render requests, valid and broken. The contract rejects with an ApiError that names the
// field, and every accepted request converts to render settings.
import { isDeepStrictEqual } from 'node:util';
import { parseJson } from '../../api/http/body.ts';
import { templateHtml } from '../../api/page/header-footer.ts';
import { pageSizeOverrides } from '../../api/page/print.ts';
import { renderSettings } from '../../api/page/render-settings.ts';
import { ApiError } from '../../common/contract/errors.ts';
import { FIELD_NAMES } from '../../common/contract/fields.ts';
import { parseRenderRequest } from '../../common/contract/render-request.ts';
import type { Chance } from '../fault/harness/random.ts';
import { type Fuzzer, holds, mutated } from './fuzzer.ts';

const RULES = { ports: [80, 443], intranet: false, allowPorts: [], maxTimeoutMs: 60_000 };
const LENGTHS = [
  '10mm',
  '0',
  '.5in',
  '20px',
  '1e3',
  '-1in',
  '200in',
  '0.5',
  '9'.repeat(400),
  '5 mm',
  '3pc',
  '',
];
const MARKUP = [
  ...[
    '<p>x</p>',
    '{{page}} of {{total}}',
    '{{ page }}',
    '{{x}}',
    '{{constructor}}',
    '<b title="{{page}}">',
    '<style>{{page}}</style>',
    '<svg>{{page}}</svg>',
    '<p class=date>',
    '{{pa<b>ge}}',
    '<!--',
    '<script>',
  ],
  ...[
    '@page{size:A4}',
    '@page {',
    '<script src=x>',
    '<link',
    'onx=',
    '',
    ' ',
    '\u0000',
    '\ud800',
    '&amp',
    '\\',
    '<plaintext>',
    '<template><p>',
  ],
];
const TEXTS = [
  '',
  ' ',
  'x',
  'A4',
  'letter',
  '80mmxauto',
  '210mmx297mm',
  '1-3, 5',
  '2-',
  '500ms',
  '1.5s',
  '-1s',
  'print',
  'screen',
  '#ready',
  'a\r\nb',
  '\u0000',
  '\ud800',
  '😀',
  '__proto__',
  'constructor',
  '`',
  '{{page}}',
];
const ADDRESSES = [
  'https://example.com/',
  'http://127.0.0.1/',
  'http://localhost/x',
  'http://example.com:22/',
  'ftp://x/',
  'http://a@b/',
  ' https://example.com/ ',
];
const NAMES = [
  'X-A',
  'x-a',
  'Authorization',
  'Cookie',
  'Host',
  'a b',
  'a\r\nb: c',
  '',
  '__proto__',
  'constructor',
  'Proxy-X',
  'é',
  '1',
];
const ALPHABET = [
  '0',
  '1',
  '-',
  ',',
  '.',
  ' ',
  'm',
  'in',
  'x',
  '{{',
  '}}',
  '<',
  '>',
  '"',
  '`',
  '\\',
  '\n',
  '\u0000',
  '\ud800',
  '\udc00',
  'é',
  '\u2028',
  '\u202e',
];

type Make = (chance: Chance) => unknown;
const oneOf =
  (...texts: string[][]): Make =>
  chance =>
    mutated(chance, chance.pick(texts.flat()), ALPHABET, chance.pick([0, 0, 1, 3]));
const flag: Make = chance => chance.pick([true, false]);

/** An object of some of these members. */
const some =
  (members: Record<string, Make>): Make =>
  chance =>
    Object.fromEntries(
      Object.entries(members).flatMap(([name, make]) =>
        chance.percent(50) ? [[name, oneValue(chance, make)]] : [],
      ),
    );

function anything(chance: Chance, depth = 0): unknown {
  const kind = chance.int(0, depth > 2 ? 3 : 5);
  if (kind === 0) return chance.pick([...TEXTS, ...MARKUP, ...LENGTHS]);
  if (kind === 1) return chance.pick([0, 1, -1, 0.1, 2, 1e308, -0, 1e-7]);
  if (kind < 4) return chance.pick([null, true, false]);
  const members = Array.from({ length: chance.int(0, 4) }, () => anything(chance, depth + 1));
  return kind === 4
    ? members
    : Object.fromEntries(members.map(member => [chance.pick([...NAMES, ...FIELD_NAMES]), member]));
}

const oneValue = (chance: Chance, make: Make) =>
  chance.percent(6) ? anything(chance) : make(chance);

const cookie = some({
  name: oneOf(['a', '__Host-a', '__Secure-a', '']),
  value: oneOf(['b', ' b', 'b;']),
  domain: oneOf(['example.com', '.example.com', '127.0.0.1', '1', '[::1]', 'bücher.example']),
  path: oneOf(['/', '/a', 'a', '/a;b']),
  secure: flag,
  http_only: flag,
  same_site: oneOf(['Strict', 'Lax', 'None', 'lax']),
});
const edge = some({ html: oneOf(MARKUP), height: oneOf(LENGTHS) });
const sides = some({
  top: oneOf(LENGTHS),
  right: oneOf(LENGTHS),
  bottom: oneOf(LENGTHS),
  left: oneOf(LENGTHS),
});
const FIELDS: Record<string, Make> = {
  html: oneOf(MARKUP),
  url: oneOf(ADDRESSES),
  format: oneOf(TEXTS, ['10x10', '1inxauto']),
  paper_width: oneOf(LENGTHS),
  paper_height: oneOf(LENGTHS),
  ...Object.fromEntries(
    [
      'landscape',
      'print_background',
      'single_page',
      'raise_for_status',
      'lazy_load_images',
      'finish_animations',
      'fail_on_resource_error',
      'prefer_css_page_size',
      'wait_for_network_idle',
      'sandbox',
    ].map(name => [name, flag]),
  ),
  timeout: oneOf(TEXTS, ['1s', '60s', '61s']),
  scale: chance => chance.pick([0.1, 1, 2, 0.0999, 2.1, 0, -1]),
  zoom: chance => chance.pick([0.1, 1, 2, 3]),
  margin: chance => (chance.next() < 0.5 ? chance.pick([...LENGTHS, 0, 5]) : sides(chance)),
  header: edge,
  footer: edge,
  pages: oneOf(TEXTS, ['1', '3-1', '0', '1,,2', '999999999-']),
  emulate_media: oneOf(['print', 'screen', 'Print']),
  cookies: chance => Array.from({ length: chance.int(0, 3) }, () => oneValue(chance, cookie)),
  extra_http_headers: chance =>
    Object.fromEntries(
      Array.from({ length: chance.int(0, 3) }, () => [
        chance.pick(NAMES),
        oneValue(chance, oneOf(TEXTS)),
      ]),
    ),
  auth: some({ username: oneOf(['a', 'a:b', '']), password: oneOf(TEXTS) }),
  css: oneOf(TEXTS, ADDRESSES),
  javascript: oneOf(TEXTS, ADDRESSES),
  wait_delay: oneOf(TEXTS, ['31s', '1h', '0', '.5s', '1s1s']),
  wait_for_selector: oneOf(TEXTS),
  wait_for_expression: oneOf(TEXTS),
  metadata: some({
    title: oneOf(TEXTS),
    author: oneOf(TEXTS),
    subject: oneOf(TEXTS),
    keywords: oneOf(TEXTS),
  }),
};

function body(chance: Chance): unknown {
  if (chance.percent(3)) return anything(chance);
  const [few, main] = [chance.pick([5, 10, 25]), chance.pick(['html', 'html', 'url', ''])];
  const chosen = Object.entries(FIELDS).filter(([name]) =>
    name === 'html' || name === 'url' ? name === main : chance.percent(few),
  );
  const members = chosen.map(([name, make]) => [name, oneValue(chance, make)] as const);
  if (chance.percent(3))
    members.push([
      chance.pick([...NAMES, 'printBackground', 'margin.top', 'Html']),
      anything(chance),
    ]);
  return Object.fromEntries(members);
}

/**
 * A message starts with the request, a field in backticks, or a rule that names fields in backticks.
 */
const NAMED = /^(?:The request must|The request body|Send exactly one of `|`[^`]*`)/;

function checkRejection(error: unknown, text: string): void {
  holds(error instanceof ApiError, `an error of another kind (${(error as Error).stack})`, text);
  const { code, message } = error as ApiError;
  holds(code === 'validation_error' || code === 'ssrf_blocked', `the code ${code}`, text);
  holds(NAMED.test(message), `a message that names no field (${message})`, text);
  holds(
    message.length < 4_000 &&
      !/[\u0000-\u001f\u007f-\u009f]/.test(message) &&
      message.isWellFormed(),
    `an unfit message (${message})`,
    text,
  );
}

export const contract: Fuzzer = {
  name: 'contract',
  attempt(chance) {
    const written = JSON.stringify(body(chance)) ?? 'null';
    const text = chance.percent(10)
      ? mutated(chance, written, [...ALPHABET, '{', '}', '[', ']', ':', '"__proto__":1,'], 2)
      : written;
    try {
      const request = parseRenderRequest(parseJson(Buffer.from(text)), RULES);
      const copy = JSON.parse(JSON.stringify(request)) as unknown;
      holds(
        isDeepStrictEqual(parseRenderRequest(copy, RULES), request),
        'a request that is another one when it is read again',
        text,
      );
      const settings = renderSettings(request);
      pageSizeOverrides(settings);
      for (const html of [settings.print.headerHtml, settings.print.footerHtml])
        if (html !== undefined) templateHtml(html);
    } catch (error) {
      checkRejection(error, text);
    }
    holds(Object.keys(Object.prototype).length === 0, 'a changed prototype', text);
  },
};
