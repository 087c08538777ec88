// RenderRequest: the body of a render call, checked. What its fields are is fields.ts's, how they go together combinations.ts's.
import { z } from 'zod';
import { combinationProblems } from './combinations.ts';
import { invalid } from './errors.ts';
import { marginShape, supportedShape } from './fields.ts';
import { checkUrlRules, type UrlRules } from './page-url.ts';
import { problems } from './problems.ts';

/** Whole requests that the description shows. */
export const EXAMPLE_REQUESTS = {
  html: { html: '<!doctype html><h1>Invoice 42</h1>', format: 'A4', margin: { top: '20mm', bottom: '20mm' } },
  url: { url: 'https://example.com/report', emulate_media: 'screen', single_page: true, wait_for_selector: '#ready' },
} as const;

/** What this release supports; the API description shows exactly this. */
export const renderRequestSchema = z.strictObject(supportedShape).meta({
  description: 'What to render and how. Exactly one of `html` and `url` must be given; unknown fields are refused.',
  oneOf: [{ required: ['html'] }, { required: ['url'] }],
  dependentRequired: { paper_width: ['paper_height'], paper_height: ['paper_width'] },
  examples: Object.values(EXAMPLE_REQUESTS),
});

/** A checked request: texts as the caller wrote them, every one of which parses. Absent fields mean their defaults. */
export type RenderRequest = z.output<typeof renderRequestSchema>;

const notYet = z.custom<never>(() => false, { error: 'is not supported yet' }).optional();

/** Off is what happens anyway, so it may be said; on is not there yet. */
const onlyOff = z
  .boolean({ error: 'true or false' })
  .refine(on => !on, { error: 'is not supported yet' })
  .optional();

/** Fields of the specification that a later release brings: known by name, so that nobody takes them for a typing mistake of theirs. */
const notYetShape = {
  header: notYet,
  footer: notYet,
  cookies: notYet,
  extra_http_headers: notYet,
  auth: notYet,
  css: notYet,
  javascript: notYet,
  metadata: notYet,
  lazy_load_images: onlyOff,
  sandbox: onlyOff,
};

const known = z.strictObject({ ...supportedShape, ...notYetShape });
const NAMES = [...Object.keys(known.shape), ...Object.keys(marginShape).map(side => `margin.${side}`)];

/**
 * Checks a body. Throws validation_error that names up to five wrong fields, each in a sentence with what is accepted; when every field is right
 * by itself, the combinations that are not allowed; ssrf_blocked when only a literal private address in `url` is wrong.
 * The messages quote the caller's own values: they go back to the caller and nowhere else, least of all into a log.
 */
export function parseRenderRequest(body: unknown, rules: UrlRules): RenderRequest {
  const parsed = known.safeParse(body);
  if (!parsed.success) throw invalid(problems(parsed.error.issues, body, NAMES).join(' '));
  const { sandbox: _sandbox, lazy_load_images: _lazy, ...request } = parsed.data;
  const conflicts = combinationProblems(request);
  if (conflicts.length > 0) throw invalid(conflicts.join(' '));
  if (request.url !== undefined) checkUrlRules(request.url, rules);
  return request;
}
