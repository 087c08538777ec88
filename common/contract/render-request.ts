// RenderRequest: the body of a render call, checked. What its fields are is fields.ts's, how they
// go together combinations.ts's.
import { z } from 'zod';
import { additionUrl } from './additions.ts';
import { combinationProblems } from './combinations.ts';
import { cookiesProblem } from './cookies.ts';
import { invalid } from './errors.ts';
import { FIELD_NAMES, requestShape } from './fields.ts';
import { checkUrlRules, type UrlRules } from './page-url.ts';
import { problems } from './problems.ts';
import { headersProblem } from './request-headers.ts';

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
  const fields = (typeof body === 'object' && body) || {};
  const found = Object.entries(SIZE_PROBLEMS).map(([field, problem]) => [
    field,
    problem((fields as Record<string, unknown>)[field]),
  ]);
  return found.flatMap(([field, problem]) =>
    problem === undefined ? [] : [`\`${field}\` ${problem}.`],
  );
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
  checkUrlRules(addressesIn(request), rules);
  return request;
}
