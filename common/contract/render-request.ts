// RenderRequest: the body of a render call, checked, and the rules that span several fields. The
// fields themselves are in fields.ts.

import { z } from 'zod';
import { additionUrl } from './additions.ts';
import { cookiesProblem } from './cookies.ts';
import { invalid } from './errors.ts';
import { FIELD_NAMES, type RequestFields, requestShape } from './fields.ts';
import { checkUrlRules, type UrlRules } from './page-url.ts';
import { hasAutoHeight, roomProblem } from './paper.ts';
import { problems, quoted } from './problems.ts';
import { authorizationName, headersProblem } from './request-headers.ts';

interface Rule {
  broken: (request: RequestFields) => boolean;
  sentence: (request: RequestFields) => string;
}

const given = (value: unknown) => value !== undefined;
const hasSides = ({ paper_width, paper_height }: RequestFields) =>
  given(paper_width) && given(paper_height);
const auto = ({ format }: RequestFields) => `\`format\` ${quoted(format ?? '')}`;
const hasAuthorization = (headers: RequestFields['extra_http_headers']) =>
  headers !== undefined && given(authorizationName(headers));
const authorization = ({ extra_http_headers }: RequestFields) =>
  `\`extra_http_headers.${authorizationName(extra_http_headers)}\``;

const RULES: Rule[] = [
  {
    broken: ({ html, url }) => !given(html) && !given(url),
    sentence: () => 'Exactly one of `html` and `url` must be given; neither was.',
  },
  {
    broken: ({ html, url }) => given(html) && given(url),
    sentence: () => 'Exactly one of `html` and `url` must be given; both were.',
  },
  {
    broken: ({ paper_width, paper_height }) => given(paper_width) && !given(paper_height),
    sentence: () => '`paper_width` must be paired with `paper_height`; give both or neither.',
  },
  {
    broken: ({ paper_width, paper_height }) => !given(paper_width) && given(paper_height),
    sentence: () => '`paper_height` must be paired with `paper_width`; give both or neither.',
  },
  {
    broken: request => hasSides(request) && hasAutoHeight(request),
    sentence: request =>
      `\`paper_width\` and \`paper_height\` cannot be combined with ${auto(request)}, whose height follows the content; leave out one of the two.`,
  },
  {
    broken: request => hasSides(request) && request.single_page === true,
    sentence: () =>
      '`paper_width` and `paper_height` cannot be combined with `single_page`, whose height follows the content; use `format` such as `80mmxauto`.',
  },
  {
    broken: request => request.landscape === true && hasAutoHeight(request),
    sentence: request =>
      `\`landscape\` cannot be combined with ${auto(request)}; give the width that you want in \`format\`.`,
  },
  {
    broken: request => request.single_page === false && hasAutoHeight(request),
    sentence: request =>
      `\`single_page\` cannot be false with ${auto(request)}, which is a single page; give a height in \`format\`.`,
  },
  {
    broken: request => given(request.pages) && request.single_page === true,
    sentence: () =>
      '`pages` cannot be combined with `single_page`, which has only one page; leave out one of the two.',
  },
  {
    broken: request => given(request.pages) && hasAutoHeight(request),
    sentence: request =>
      `\`pages\` cannot be combined with ${auto(request)}, which has only one page; give a height in \`format\`.`,
  },
  {
    broken: ({ html, auth }) => given(html) && given(auth),
    sentence: () =>
      '`auth` cannot be combined with `html`, which has no origin to authenticate at; give the page as `url`.',
  },
  {
    broken: ({ html, extra_http_headers }) => given(html) && hasAuthorization(extra_http_headers),
    sentence: request =>
      `${authorization(request)} cannot be combined with \`html\`, which has no origin to send it to; give the page as \`url\`.`,
  },
  {
    broken: ({ auth, extra_http_headers }) => given(auth) && hasAuthorization(extra_http_headers),
    sentence: request =>
      `\`auth\` cannot be combined with ${authorization(request)}; leave out one of the two.`,
  },
];

/** The rules that a request breaks, as sentences. Each of its fields is right by itself. */
export function combinationProblems(request: RequestFields): string[] {
  const broken = RULES.filter(rule => rule.broken(request)).map(rule => rule.sentence(request));
  const room = broken.length === 0 ? roomProblem(request) : undefined;
  return room === undefined ? broken : [room];
}

/** Whole requests that the description shows. */
export const EXAMPLE_REQUESTS = {
  html: {
    html: '<!doctype html><h1>Invoice 42</h1>',
    format: 'A4',
    margin: { top: '20mm', bottom: '20mm' },
  },
  url: {
    url: 'https://example.com/report',
    emulate_media: 'screen',
    single_page: true,
    wait_for_selector: '#ready',
  },
} as const;

/** The API description shows exactly this. */
export const renderRequestSchema = z.strictObject(requestShape).meta({
  description:
    'What to render and how. Exactly one of `html` and `url` must be given; unknown fields are refused.',
  oneOf: [{ required: ['html'] }, { required: ['url'] }],
  dependentRequired: { paper_width: ['paper_height'], paper_height: ['paper_width'] },
  examples: Object.values(EXAMPLE_REQUESTS),
});

/**
 * A checked request: texts as the caller wrote them, every one of which parses. Absent fields mean
 * their defaults.
 */
export type RenderRequest = z.output<typeof renderRequestSchema>;

/**
 * The fields of which there may be millions: as a whole they are looked at before the work for each
 * of them is begun.
 */
const SIZE_PROBLEMS = { cookies: cookiesProblem, extra_http_headers: headersProblem };

function sizeProblems(body: unknown): string[] {
  const fields = ((typeof body === 'object' && body) || {}) as Record<string, unknown>;
  return Object.entries(SIZE_PROBLEMS).flatMap(([field, problemOf]) => {
    const problem = fields[field] === undefined ? undefined : problemOf(fields[field]);
    return problem === undefined ? [] : [`\`${field}\` ${problem}.`];
  });
}

/** The fields that hold an address, with what they hold. */
function addressesIn({ url, css, javascript }: RenderRequest): [field: string, address: string][] {
  const fields = {
    url,
    css: css && additionUrl(css),
    javascript: javascript && additionUrl(javascript),
  };
  return Object.entries(fields).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
}

/**
 * Checks a body. Throws validation_error that names up to five wrong fields, each in a sentence
 * with what is accepted; when every field is right by itself, the combinations that are not
 * allowed; ssrf_blocked when only a literal private address in `url`, `css` or `javascript` is
 * wrong. The messages quote the caller's own values: they go back to the caller and nowhere else,
 * least of all into a log.
 */
export function parseRenderRequest(body: unknown, rules: UrlRules): RenderRequest {
  const tooMuch = sizeProblems(body);
  if (tooMuch.length > 0) throw invalid(tooMuch.join(' '));
  const parsed = renderRequestSchema.safeParse(body);
  if (!parsed.success) throw invalid(problems(parsed.error.issues, body, FIELD_NAMES).join(' '));
  const request = parsed.data;
  const conflicts = combinationProblems(request);
  if (conflicts.length > 0) throw invalid(conflicts.join(' '));
  const addresses = addressesIn(request);
  if (addresses.length > 0) checkUrlRules(addresses, rules);
  return request;
}
