// RenderRequest: validates the body of a render call, including the rules that span several fields.
// The fields are in fields.ts.

import { z } from 'zod';
import { additionUrl } from './additions.ts';
import { cookiesProblem } from './cookies.ts';
import { timeoutProblem } from './durations.ts';
import { invalid } from './errors.ts';
import { FIELD_NAMES, type RequestFields, requestShape } from './fields.ts';
import { checkUrlRules, type UrlRules } from './page-url.ts';
import { contentAreaProblem, hasAutoHeight } from './paper.ts';
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
    sentence: () => 'Send exactly one of `html` and `url`. The request has neither.',
  },
  {
    broken: ({ html, url }) => given(html) && given(url),
    sentence: () => 'Send exactly one of `html` and `url`. The request has both.',
  },
  {
    broken: ({ paper_width, paper_height }) => given(paper_width) && !given(paper_height),
    sentence: () => '`paper_width` requires `paper_height`. Set both or neither.',
  },
  {
    broken: ({ paper_width, paper_height }) => !given(paper_width) && given(paper_height),
    sentence: () => '`paper_height` requires `paper_width`. Set both or neither.',
  },
  {
    broken: request => hasSides(request) && hasAutoHeight(request),
    sentence: request =>
      `\`paper_width\` and \`paper_height\` cannot be combined with ${auto(request)}, whose height follows the content. Remove one of them.`,
  },
  {
    broken: request => hasSides(request) && request.single_page === true,
    sentence: () =>
      '`paper_width` and `paper_height` cannot be combined with `single_page`, whose height follows the content. Use a `format` such as `80mmxauto` instead.',
  },
  {
    broken: request => request.landscape === true && hasAutoHeight(request),
    sentence: request =>
      `\`landscape\` cannot be combined with ${auto(request)}. Set the width in \`format\` instead.`,
  },
  {
    broken: request => request.single_page === false && hasAutoHeight(request),
    sentence: request =>
      `\`single_page\` cannot be false with ${auto(request)}, which is a single page. Set a height in \`format\` instead.`,
  },
  {
    broken: request => given(request.pages) && request.single_page === true,
    sentence: () =>
      '`pages` cannot be combined with `single_page`, which has only one page. Remove one of them.',
  },
  {
    broken: request => given(request.pages) && hasAutoHeight(request),
    sentence: request =>
      `\`pages\` cannot be combined with ${auto(request)}, which has only one page. Set a height in \`format\` instead.`,
  },
  {
    broken: ({ html, auth }) => given(html) && given(auth),
    sentence: () =>
      '`auth` cannot be combined with `html`, which has no origin. Send the page as `url` instead.',
  },
  {
    broken: ({ html, extra_http_headers }) => given(html) && hasAuthorization(extra_http_headers),
    sentence: request =>
      `${authorization(request)} cannot be combined with \`html\`, which has no origin. Send the page as \`url\` instead.`,
  },
  {
    broken: ({ auth, extra_http_headers }) => given(auth) && hasAuthorization(extra_http_headers),
    sentence: request =>
      `\`auth\` cannot be combined with ${authorization(request)}. Remove one of them.`,
  },
];

/** Error messages of the rules that a request breaks. Each of its fields is valid by itself. */
export function combinationProblems(request: RequestFields): string[] {
  const broken = RULES.filter(rule => rule.broken(request)).map(rule => rule.sentence(request));
  const tooSmall = broken.length === 0 ? contentAreaProblem(request) : undefined;
  return tooSmall === undefined ? broken : [tooSmall];
}

/** Complete requests for the OpenAPI document. */
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

/**
 * Exactly one of `html` and `url`. Generators turn a `oneOf` without properties into a union of
 * unknown types, and ignore conditions.
 */
const HTML_OR_URL = {
  if: { required: ['html'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { not: { required: ['url'] } },
  else: { required: ['url'] },
};

/** The schema in the OpenAPI document. */
export const renderRequestSchema = z.strictObject(requestShape).meta({
  description:
    'A render request. Send exactly one of `html` and `url`. Unknown fields are rejected.',
  ...HTML_OR_URL,
  dependentRequired: { paper_width: ['paper_height'], paper_height: ['paper_width'] },
  examples: Object.values(EXAMPLE_REQUESTS),
});

/** A validated request with the caller's original texts. Absent fields have their defaults. */
export type RenderRequest = z.output<typeof renderRequestSchema>;

/** Fields that may have millions of items: their size is checked before the items. */
const SIZE_PROBLEMS = { cookies: cookiesProblem, extra_http_headers: headersProblem };

function sizeProblems(body: unknown): string[] {
  const fields = ((typeof body === 'object' && body) || {}) as Record<string, unknown>;
  return Object.entries(SIZE_PROBLEMS).flatMap(([field, problemOf]) => {
    const problem = fields[field] === undefined ? undefined : problemOf(fields[field]);
    return problem === undefined ? [] : [`\`${field}\` ${problem}.`];
  });
}

/** The fields of a rejected body that are valid by themselves. */
export function validFields(body: unknown): Partial<RenderRequest> {
  if (sizeProblems(body).length > 0) return {};
  const fields = ((typeof body === 'object' && body) || {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(requestShape).flatMap(([name, schema]) => {
      const parsed = fields[name] === undefined ? undefined : schema.safeParse(fields[name]);
      return parsed?.success ? [[name, parsed.data]] : [];
    }),
  );
}

/** The fields that contain a URL, with the URL. */
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

/** What the installation and the account allow. */
export interface RequestRules extends UrlRules {
  /** The installation's time limit for a render, and the largest `timeout`. */
  maxTimeoutMs: number;
}
/** The rules that are the same for all accounts of the installation. */
export type InstallationRules = Omit<RequestRules, 'intranet'>;

/**
 * Validates a body. Throws validation_error that names up to five invalid fields and what they
 * accept, or, if each field is valid by itself, the forbidden combinations. Throws ssrf_blocked
 * when `url`, `css` or `javascript` has a literal private address. Messages quote the caller's
 * values, so they must not be logged.
 */
export function parseRenderRequest(body: unknown, rules: RequestRules): RenderRequest {
  const tooMuch = sizeProblems(body);
  if (tooMuch.length > 0) throw invalid(tooMuch.join(' '));
  const parsed = renderRequestSchema.safeParse(body);
  if (!parsed.success) throw invalid(problems(parsed.error.issues, body, FIELD_NAMES).join(' '));
  const request = parsed.data;
  const conflicts = combinationProblems(request);
  if (conflicts.length > 0) throw invalid(conflicts.join(' '));
  const { timeout } = request;
  const tooLong = timeout === undefined ? undefined : timeoutProblem(timeout, rules.maxTimeoutMs);
  if (tooLong !== undefined) throw invalid(`\`timeout\` ${tooLong}.`);
  const addresses = addressesIn(request);
  if (addresses.length > 0) checkUrlRules(addresses, rules);
  return request;
}
