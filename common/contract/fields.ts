// The fields of a render request: types, rules, defaults and descriptions. Larger fields have their
// own files; rules that span fields are in render-request.ts. These schemas validate requests, and
// the OpenAPI document is generated from them.
import { z } from 'zod';
import { additionsShape } from './additions.ts';
import { cookieNames, cookies } from './cookies.ts';
import { DURATION_PATTERN, timeoutProblem, waitDelayProblem } from './durations.ts';
import { CONTROL, notBlank, type Shown, text, trueOrFalse } from './field.ts';
import { footer, header, headerFooterNames } from './header-footer.ts';
import { marginField, marginShape } from './margin.ts';
import { metadata, metadataShape } from './metadata.ts';
import { MAX_PAGES_LENGTH, PAGES_PATTERN, parsePages } from './page-ranges.ts';
import { MAX_URL_BYTES, URL_PATTERN, urlProblem } from './page-url.ts';
import {
  DEFAULT_FORMAT,
  FORMAT_PATTERN,
  formatProblem,
  LENGTH_PATTERN,
  LENGTH_UNITS,
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
/** Far below a worker's limit for one command. */
const MAX_EXPRESSION_LENGTH = 65_536;

const PAGES_SYNTAX =
  'page numbers and ranges such as `1-3, 5, 8-`, from page 1 and with the lower number first';
const pagesProblem = (value: string) => {
  if (value.length > MAX_PAGES_LENGTH)
    return `must be at most ${MAX_PAGES_LENGTH} characters long, not ${value.length}`;
  return parsePages(value) === undefined
    ? `must be ${PAGES_SYNTAX}, not ${quoted(value)}`
    : undefined;
};

/** Such a name fits into 255 bytes in any script, with `.pdf`. */
export const MAX_FILENAME_LENGTH = 80;
/** Not blank, and one part of a path. */
const FILENAME_PATTERN =
  '^[^\\u0000-\\u001f\\u007f-\\u009f/\\\\]*[^\\u0000-\\u001f\\u007f-\\u009f/\\\\\\s][^\\u0000-\\u001f\\u007f-\\u009f/\\\\]*$';
const filenameProblem = (value: string) =>
  notBlank('a file name such as `invoice-42.pdf`', MAX_FILENAME_LENGTH)(value) ??
  (CONTROL.test(value) || /[/\\]/.test(value)
    ? 'must not contain `/`, `\\` or control characters'
    : undefined);

export const MAX_REFERENCE_LENGTH = 128;
const REFERENCE_PATTERN =
  '^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\s][^\\u0000-\\u001f\\u007f-\\u009f]*$';
const referenceProblem = (value: string) =>
  notBlank('an identifier such as `order-1042`', MAX_REFERENCE_LENGTH)(value) ??
  (CONTROL.test(value) ? 'must not contain control characters' : undefined);

export const requestShape = {
  html: text('a non-empty string', value => (value === '' ? 'must not be empty' : undefined), {
    description:
      'The HTML document to render. It has no origin, so relative URLs do not work: inline your assets or use absolute URLs. Send exactly one of `html` and `url`.',
    examples: ['<!doctype html><h1>Invoice 42</h1>'],
    minLength: 1,
  }),
  url: text(
    'a URL string such as `https://example.com/`',
    value => urlProblem(value, '; use `auth` instead'),
    {
      description:
        'The public http or https URL of the page to render. It must not contain a user name or password (use `auth`). The port must be allowed by this installation (by default 80, 443, 8080 and 8443). The URL and its redirects must not point to a private address. Send exactly one of `html` and `url`.',
      examples: ['https://example.com/invoice/42'],
      format: 'uri',
      pattern: URL_PATTERN,
      minLength: 1,
      maxLength: MAX_URL_BYTES,
    },
  ),
  format: text('a paper size string such as `A4` or `210mmx297mm`', formatProblem, {
    description:
      'Paper size. A name (case-insensitive): A0 to A6, Letter, Legal, Tabloid or Ledger. Or `{width}x{height}`, with the unit px, in, cm, mm, pt or pc for each side (without a unit: inches), each from 0.5 to 200 inches. Or `{width}xauto` for a single page as tall as its content, where a width without a unit is in pixels.',
    examples: ['A4', 'letter', '210mmx297mm', '8.5x11', '80mmxauto', '800xauto'],
    default: DEFAULT_FORMAT,
    pattern: FORMAT_PATTERN,
  }),
  paper_width: text('a length string such as `210mm`', sideProblem, {
    description: `Paper width, ${LENGTH_UNITS}, from 0.5 to 200 inches. Overrides the width of \`format\`. Requires \`paper_height\`.`,
    examples: ['210mm', '8.5in', '6'],
    pattern: LENGTH_PATTERN,
  }),
  paper_height: text('a length string such as `297mm`', sideProblem, {
    description: `Paper height, ${LENGTH_UNITS}, from 0.5 to 200 inches. Overrides the height of \`format\`. Requires \`paper_width\`.`,
    examples: ['297mm', '11in', '9'],
    pattern: LENGTH_PATTERN,
  }),
  prefer_css_page_size: trueOrFalse({
    description:
      'Uses the page sizes of `@page` rules, including named pages. Applies only without `format`, `paper_width`, `landscape` and `single_page`.',
    examples: [true],
    default: false,
  }),
  landscape: trueOrFalse({
    description:
      'Landscape orientation: swaps width and height. Cannot be combined with `{width}xauto`.',
    examples: [true],
    default: false,
  }),
  print_background: trueOrFalse({
    description: 'Whether to print background colors and images.',
    examples: [false],
    default: DEFAULT_PRINT_BACKGROUND,
  }),
  scale: scale({
    description: 'Scale of the content.',
    examples: [0.8],
    default: DEFAULT_SCALE,
  }),
  zoom: scale({
    description: 'Alias for `scale`. Ignored when `scale` is set.',
    examples: [1.25],
  }),
  margin: marginField,
  header,
  footer,
  pages: text('a string of page ranges such as `1-3, 5`', pagesProblem, {
    description:
      'The pages to keep: a comma-separated list of `n`, `n-m` and `n-`. Each page appears once, in document order. Numbers beyond the last page are ignored. Cannot be combined with `single_page` or `{width}xauto`.',
    examples: ['1-3, 5', '2-', '1'],
    pattern: PAGES_PATTERN,
    minLength: 1,
    maxLength: MAX_PAGES_LENGTH,
  }),
  single_page: trueOrFalse({
    description:
      'Prints a single page as tall as the content, at most 200 inches. Implied by `{width}xauto`. Cannot be combined with `pages`, `paper_width` or `paper_height`.',
    examples: [true],
    default: false,
  }),
  emulate_media: z
    .enum(['print', 'screen'], { error: '`print` or `screen`' })
    .meta({
      description: 'The CSS media type to emulate.',
      examples: ['screen'],
      default: DEFAULT_MEDIA,
    })
    .optional(),
  raise_for_status: trueOrFalse({
    description:
      'HTTP statuses of `url` that fail the render. `true`: 3xx, 4xx and 5xx. `false`: none, so that error pages are rendered. Not set: 4xx and 5xx.',
    examples: [false],
  }),
  cookies,
  extra_http_headers: extraHttpHeaders,
  auth,
  ...additionsShape,
  lazy_load_images: trueOrFalse({
    description:
      'Scrolls through the page before the `wait_*` conditions so that lazy images and content load. Waits up to 10 s for images.',
    examples: [true],
    default: false,
  }),
  finish_animations: trueOrFalse({
    description:
      'Skips CSS animations and transitions to their end, after all `wait_*` conditions. Endless and canvas animations are not changed.',
    examples: [true],
    default: false,
  }),
  fail_on_resource_error: trueOrFalse({
    description:
      'Fails the render with `page_status` when a stylesheet, image, font or script does not load.',
    examples: [true],
    default: false,
  }),
  wait_delay: text('a duration string such as `500ms`', waitDelayProblem, {
    description:
      'Pause after all other `wait_*` conditions, at most 30 s, such as `500ms`, `1.5s` or `1s500ms` (Go duration syntax).',
    examples: ['500ms', '1.5s', '1s500ms'],
    default: '0',
    pattern: DURATION_PATTERN,
  }),
  wait_for_selector: text(
    'a CSS selector string',
    notBlank('a CSS selector such as `#ready`', MAX_SELECTOR_LENGTH),
    {
      description: 'A CSS selector. Waits until a matching element exists, visible or not.',
      examples: ['#ready'],
      minLength: 1,
      maxLength: MAX_SELECTOR_LENGTH,
    },
  ),
  wait_for_expression: text(
    'a JavaScript expression string',
    notBlank('a JavaScript expression such as `window.ready === true`', MAX_EXPRESSION_LENGTH),
    {
      description:
        'A JavaScript expression. Waits until it is truthy. Promises are awaited. An exception counts as falsy.',
      examples: ['window.ready === true'],
      minLength: 1,
      maxLength: MAX_EXPRESSION_LENGTH,
    },
  ),
  wait_for_network_idle: trueOrFalse({
    description: 'Waits until the page has had no open connection for 500 ms.',
    examples: [true],
    default: false,
  }),
  timeout: text('a duration string such as `30s`', value => timeoutProblem(value), {
    description:
      "The time limit for the work on the page, in Go duration syntax: from 1 s to the installation's limit (60 s by default), which applies when not set. The wait for a free worker and `wait_delay` are not included.",
    examples: ['30s', '1m', '2.5s'],
    pattern: DURATION_PATTERN,
  }),
  metadata,
  filename: text('a file name string such as `invoice-42.pdf`', filenameProblem, {
    description: `The file name in \`Content-Disposition\`, with or without \`.pdf\`. No \`/\`, \`\\\` or control characters; others that file systems forbid become a dash. Default: \`render.pdf\`.`,
    examples: ['invoice-42.pdf', 'Rechnung Nº 42'],
    pattern: FILENAME_PATTERN,
    minLength: 1,
    maxLength: MAX_FILENAME_LENGTH,
  }),
  reference: text('a string', referenceProblem, {
    description:
      'Your own identifier for the render, such as an order number. Shown and searchable in the render log. Not for secrets. No control characters.',
    examples: ['order-1042'],
    pattern: REFERENCE_PATTERN,
    minLength: 1,
    maxLength: MAX_REFERENCE_LENGTH,
  }),
  sandbox: trueOrFalse({
    description:
      "Adds a SANDBOX watermark to every page. Sandbox renders don't count toward usage: the response has the header `X-Sandbox: true` and no `X-Usage-Count`. They still count toward your concurrency limit.",
    examples: [true],
    default: false,
  }),
};

/** A request in which each field is valid by itself. */
export type RequestFields = z.output<z.ZodObject<typeof requestShape>>;

const inside = (field: string, names: readonly string[]) => names.map(name => `${field}.${name}`);

/** The names of all fields. Nested ones are `margin.top`, those of list items `cookies.0.name`. */
export const FIELD_NAMES = [
  ...Object.keys(requestShape),
  ...inside('margin', Object.keys(marginShape)),
  ...inside('header', headerFooterNames),
  ...inside('footer', headerFooterNames),
  ...inside('cookies.0', cookieNames),
  ...inside('auth', authNames),
  ...inside('metadata', Object.keys(metadataShape)),
];
