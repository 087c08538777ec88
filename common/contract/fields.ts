// The fields of a render request: the one place where their types, rules, defaults and descriptions
// stand; the larger ones have files of their own. Requests are checked by these schemas and the API
// description is generated from them; rules that span fields are in render-request.ts.
import { z } from 'zod';
import { additionsShape } from './additions.ts';
import { cookieNames, cookies } from './cookies.ts';
import { DURATION_PATTERN, parseWaitDelayMs } from './durations.ts';
import { notBlank, type Shown, text, trueOrFalse } from './field.ts';
import { footer, header, headerFooterNames } from './header-footer.ts';
import { metadata, metadataShape } from './metadata.ts';
import { MAX_PAGES_LENGTH, PAGES_PATTERN, parsePages } from './page-ranges.ts';
import { MAX_URL_BYTES, URL_PATTERN, urlProblem } from './page-url.ts';
import {
  DEFAULT_FORMAT,
  DEFAULT_MARGIN,
  FORMAT_PATTERN,
  formatProblem,
  LENGTH_PATTERN,
  marginProblem,
  type Side,
  sideProblem,
} from './paper.ts';
import { quoted } from './problems.ts';
import { auth, authNames, extraHttpHeaders } from './request-headers.ts';

export const DEFAULT_PRINT_BACKGROUND = true;
export const DEFAULT_SCALE = 1;
export const DEFAULT_MEDIA = 'print';

const SCALE = { error: 'a number from 0.1 to 2' };
const scale = (shown: Shown) =>
  z
    .number(SCALE)
    .min(0.1, SCALE)
    .max(2, SCALE)
    .meta({ ...shown })
    .optional();

const MAX_SELECTOR_LENGTH = 4_096;
/** Far below what a worker takes in one command. */
const MAX_EXPRESSION_LENGTH = 65_536;

const delayProblem = (value: string) =>
  parseWaitDelayMs(value) === undefined
    ? `must be a duration from 0 to 30s such as \`500ms\`, \`1.5s\` or \`1s500ms\`, not ${quoted(value)}`
    : undefined;

const PAGES_WORDS =
  'page numbers and ranges such as `1-3, 5, 8-`, counted from 1 and with the lower number first';
const pagesProblem = (value: string) => {
  if (value.length > MAX_PAGES_LENGTH)
    return `must be at most ${MAX_PAGES_LENGTH} characters long, not ${value.length}`;
  return parsePages(value) === undefined
    ? `must be ${PAGES_WORDS}, not ${quoted(value)}`
    : undefined;
};

const margin = (side: Side) =>
  text('a length in a string, such as "10mm"', marginProblem, {
    description: `Margin at the ${side}. A length with the unit px, in, cm, mm, pt or pc; inches without a unit. Not negative.`,
    examples: ['10mm', '0.5in', '0'],
    default: DEFAULT_MARGIN,
    pattern: LENGTH_PATTERN,
  });

const SIDE_WORDS =
  'A length with the unit px, in, cm, mm, pt or pc; inches without a unit. From 0.5 to 200 inches.';

export const marginShape = {
  top: margin('top'),
  right: margin('right'),
  bottom: margin('bottom'),
  left: margin('left'),
};

export const requestShape = {
  html: text(
    'a string that is not empty',
    value => (value === '' ? 'must not be empty' : undefined),
    {
      description:
        'The HTML document to render. It is loaded in a document of its own without an origin: relative addresses lead nowhere, so give assets by absolute URL or inline. Exactly one of `html` and `url` must be given.',
      examples: ['<!doctype html><h1>Invoice 42</h1>'],
      minLength: 1,
    },
  ),
  url: text(
    'an address in a string, such as "https://example.com/"',
    value => urlProblem(value, '; put them into `auth`'),
    {
      description:
        'The address of the public page to render, http or https. It must not carry a user name or password (use `auth`), its port must be one that the operator allows (80, 443, 8080 and 8443 by default), and neither it nor its redirects may lead to a private address. Exactly one of `html` and `url` must be given.',
      examples: ['https://example.com/invoice/42'],
      format: 'uri',
      pattern: URL_PATTERN,
      minLength: 1,
      maxLength: MAX_URL_BYTES,
    },
  ),
  format: text('a paper size in a string, such as "A4" or "210mmx297mm"', formatProblem, {
    description:
      'Paper size: A0 to A6, Letter, Legal, Tabloid or Ledger, without regard to case; or `{width}x{height}` with the units px, in, cm, mm, pt or pc on each side, inches without a unit, each side from 0.5 to 200 inches. `{width}xauto` gives one page as tall as its content; there a width without a unit is pixels.',
    examples: ['A4', 'letter', '210mmx297mm', '8.5x11', '80mmxauto', '800xauto'],
    default: DEFAULT_FORMAT,
    pattern: FORMAT_PATTERN,
  }),
  paper_width: text('a length in a string, such as "210mm"', sideProblem, {
    description: `Width of the paper in place of that of \`format\`; only together with \`paper_height\`. ${SIDE_WORDS}`,
    examples: ['210mm', '8.5in', '6'],
    pattern: LENGTH_PATTERN,
  }),
  paper_height: text('a length in a string, such as "297mm"', sideProblem, {
    description: `Height of the paper in place of that of \`format\`; only together with \`paper_width\`. ${SIDE_WORDS}`,
    examples: ['297mm', '11in', '9'],
    pattern: LENGTH_PATTERN,
  }),
  landscape: trueOrFalse({
    description: 'Swaps the two sides of the paper, whichever is longer. Not with `{width}xauto`.',
    examples: [true],
    default: false,
  }),
  print_background: trueOrFalse({
    description: 'Prints background colours and images.',
    examples: [false],
    default: DEFAULT_PRINT_BACKGROUND,
  }),
  scale: scale({
    description: 'Size of the content on the paper.',
    examples: [0.8],
    default: DEFAULT_SCALE,
  }),
  zoom: scale({
    description: 'Another name for `scale`, which counts only when `scale` is absent.',
    examples: [1.25],
  }),
  margin: z
    .strictObject(marginShape, { error: 'an object with `top`, `right`, `bottom` and `left`' })
    .meta({
      description:
        'White room at the four sides. At least 0.5 inches of the page must be left in both directions. When it is given, `@page` rules of the page do not change it.',
      examples: [{ top: '20mm', bottom: '20mm' }],
    })
    .optional(),
  header,
  footer,
  pages: text('page ranges in a string, such as "1-3, 5"', pagesProblem, {
    description:
      'The pages to keep: comma-separated `n`, `n-m` and `n-`. The PDF has them in document order, each once; what lies beyond the last page is left out. Not with `single_page` or `{width}xauto`.',
    examples: ['1-3, 5', '2-', '1'],
    pattern: PAGES_PATTERN,
    minLength: 1,
    maxLength: MAX_PAGES_LENGTH,
  }),
  single_page: trueOrFalse({
    description:
      'Prints one page as wide as the paper and as tall as the content, at most 200 inches. Implied by `{width}xauto`; not with `pages`, `paper_width` and `paper_height`.',
    examples: [true],
    default: false,
  }),
  emulate_media: z
    .enum(['print', 'screen'], { error: '`print` or `screen`' })
    .meta({
      description: 'Which styles lay out the page: those for print or those for the screen.',
      examples: ['screen'],
      default: DEFAULT_MEDIA,
    })
    .optional(),
  raise_for_status: trueOrFalse({
    description:
      'What counts as a failure of the page at `url`: true, any redirect and any status from 400; false, no status; absent, any status from 400.',
    examples: [false],
  }),
  cookies,
  extra_http_headers: extraHttpHeaders,
  auth,
  ...additionsShape,
  lazy_load_images: trueOrFalse({
    description:
      'Scrolls through the whole page before the waits, so that images load that wait to be seen, and waits at most 10 s for those that have begun.',
    examples: [true],
    default: false,
  }),
  wait_delay: text('a duration in a string, such as "500ms"', delayProblem, {
    description:
      'A pause after all other waits, at most 30 s, such as `500ms`, `1.5s` or `1s500ms` (the notation of Go).',
    examples: ['500ms', '1.5s', '1s500ms'],
    default: '0',
    pattern: DURATION_PATTERN,
  }),
  wait_for_selector: text(
    'a CSS selector in a string',
    notBlank('a CSS selector such as `#ready`', MAX_SELECTOR_LENGTH),
    {
      description:
        'A CSS selector. Printing waits until an element that it matches exists, visible or not.',
      examples: ['#ready'],
      minLength: 1,
      maxLength: MAX_SELECTOR_LENGTH,
    },
  ),
  wait_for_expression: text(
    'a JavaScript expression in a string',
    notBlank('a JavaScript expression such as `window.ready === true`', MAX_EXPRESSION_LENGTH),
    {
      description:
        'A JavaScript expression. Printing waits until it is truthy. A promise is awaited; an exception counts as not yet.',
      examples: ['window.ready === true'],
      minLength: 1,
      maxLength: MAX_EXPRESSION_LENGTH,
    },
  ),
  wait_for_network_idle: trueOrFalse({
    description: 'Printing waits until no connection has been open for 500 ms.',
    examples: [true],
    default: false,
  }),
  metadata,
  sandbox: trueOrFalse({
    description:
      'Draws SANDBOX across every page and does not count the render: the answer has the header `X-Sandbox` and no `X-Usage-Count`. It takes one of the places of the plan all the same.',
    examples: [true],
    default: false,
  }),
};

/** What a request has when each of its fields is as it should be. */
export type RequestFields = z.output<z.ZodObject<typeof requestShape>>;

const inside = (field: string, names: readonly string[]) => names.map(name => `${field}.${name}`);

/**
 * Every field by name, those inside objects as `margin.top`, those of each element of a list as
 * `cookies.0.name`.
 */
export const FIELD_NAMES = [
  ...Object.keys(requestShape),
  ...inside('margin', Object.keys(marginShape)),
  ...inside('header', headerFooterNames),
  ...inside('footer', headerFooterNames),
  ...inside('cookies.0', cookieNames),
  ...inside('auth', authNames),
  ...inside('metadata', Object.keys(metadataShape)),
];
