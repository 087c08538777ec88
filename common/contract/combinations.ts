// Rules of a render request that span fields. Each row is one rule: what the request must not be,
// and the sentence for it.
import type { RequestFields } from './fields.ts';
import { hasAutoHeight, roomProblem } from './paper.ts';
import { quoted } from './problems.ts';
import { authorizationName } from './request-headers.ts';

interface Rule {
  broken: (request: RequestFields) => boolean;
  sentence: (request: RequestFields) => string;
}

const given = (value: unknown) => value !== undefined;
const hasSides = ({ paper_width, paper_height }: RequestFields) =>
  given(paper_width) && given(paper_height);
const auto = ({ format }: RequestFields) => `\`format\` ${quoted(format ?? '')}`;
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
    broken: ({ html, extra_http_headers }) =>
      given(html) && given(authorizationName(extra_http_headers)),
    sentence: request =>
      `${authorization(request)} cannot be combined with \`html\`, which has no origin to send it to; give the page as \`url\`.`,
  },
  {
    broken: ({ auth, extra_http_headers }) =>
      given(auth) && given(authorizationName(extra_http_headers)),
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
