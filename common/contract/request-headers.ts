// The fields `extra_http_headers` and `auth`: what goes along with the requests of a page, and what
// may not.
import { z } from 'zod';
import {
  CONTROL,
  MAX_HEAD_BYTES,
  NO_CONTROL_PATTERN,
  type Problem,
  requiredText,
} from './field.ts';
import { quoted } from './problems.ts';

/** https://www.rfc-editor.org/rfc/rfc9110#name-tokens; cookies have the same names. */
export const TOKEN_PATTERN = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";
export const TOKEN = new RegExp(TOKEN_PATTERN);

export const MAX_HEADERS = 64;
export const MAX_HEADER_VALUE_LENGTH = 8_192;
const MAX_NAME_LENGTH = 256;
const MAX_CREDENTIAL_LENGTH = 4_096;

const VALUE_PATTERN = '^[\\t\\u0020-\\u007e\\u00a0-\\u00ff]*$';
const VALUE = new RegExp(VALUE_PATTERN);

const HOP_BY_HOP = 'is about one connection and is set by the browser';
/** By name in lower case: why it is refused. */
const REFUSED: Record<string, string> = {
  ...Object.fromEntries(
    ['cookie', 'cookie2', 'set-cookie'].map(name => [name, 'is not accepted; use `cookies`']),
  ),
  host: 'is not accepted; it is the host of each address',
  'content-length': 'is not accepted; it is set by the browser from what it sends',
  expect: 'is not accepted; browsers do not wait for an answer to it',
  ...Object.fromEntries(
    ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'].map(name => [
      name,
      `is not accepted; it ${HOP_BY_HOP}`,
    ]),
  ),
};

function nameProblem(name: string): string | undefined {
  if (!TOKEN.test(name)) return "must be a header's name of letters, digits and !#$%&'*+-.^_`|~";
  if (name.length > MAX_NAME_LENGTH)
    return `must have a name of at most ${MAX_NAME_LENGTH} characters, not ${name.length}`;
  const lower = name.toLowerCase();
  if (lower.startsWith('proxy-'))
    return 'is not accepted; headers that begin with Proxy- are for proxies';
  return Object.hasOwn(REFUSED, lower) ? REFUSED[lower] : undefined;
}

const valueProblem: Problem<string> = value => {
  if (value.length > MAX_HEADER_VALUE_LENGTH)
    return `must be at most ${MAX_HEADER_VALUE_LENGTH} characters long, not ${value.length}`;
  if (CONTROL.test(value.replaceAll('\t', ''))) return 'must not contain control characters';
  return VALUE.test(value)
    ? undefined
    : 'must not contain characters beyond U+00FF, which a header cannot carry; encode them';
};

const headerValue = requiredText('a header value in a string', valueProblem, {
  description: `The value: visible characters up to U+00FF, spaces and tabs, at most ${MAX_HEADER_VALUE_LENGTH} characters. White space at its ends is not sent.`,
  examples: ['de-CH, de;q=0.8'],
  pattern: VALUE_PATTERN,
  maxLength: MAX_HEADER_VALUE_LENGTH,
});

/** What is wrong with the headers as a whole, looked at before any of them is. */
export function headersProblem(headers: unknown): string | undefined {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return undefined;
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS)
    return `must have at most ${MAX_HEADERS} headers, not ${entries.length}`;
  // The schema's library leaves this name out without a word.
  if (entries.some(([name]) => name === '__proto__'))
    return 'must not have a header with the name `__proto__`';
  const length = entries.reduce(
    (sum, [name, value]) => sum + name.length + (typeof value === 'string' ? value.length : 0),
    0,
  );
  return length > MAX_HEAD_BYTES
    ? `must have at most ${MAX_HEAD_BYTES} characters in all, not ${length}`
    : undefined;
}

export const extraHttpHeaders = z
  .record(z.string(), headerValue, { error: 'an object of header names and values' })
  .superRefine((headers, context) => {
    const seen = new Map<string, string>();
    for (const name of Object.keys(headers)) {
      const twin = seen.get(name.toLowerCase());
      const message =
        nameProblem(name) ??
        (twin === undefined ? undefined : `must be given once; it is there as ${quoted(twin)} too`);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
      seen.set(name.toLowerCase(), name);
    }
  })
  .meta({
    description: `Headers sent with the page and its assets, at most ${MAX_HEADERS} with ${MAX_HEAD_BYTES} characters in all. Names are tokens of at most ${MAX_NAME_LENGTH} characters, each given once whatever its case. Refused, in any case: \`Cookie\`, \`Cookie2\` and \`Set-Cookie\` (use \`cookies\`), \`Host\`, \`Content-Length\`, \`Connection\`, \`Keep-Alive\`, \`TE\`, \`Trailer\`, \`Transfer-Encoding\`, \`Upgrade\`, \`Expect\`, names that begin with \`Proxy-\`, \`__proto__\`, and what the browser does not send as it is given, such as a \`Referer\` that is no address. \`Authorization\` is sent to the origin of \`url\` alone, so it needs \`url\`, and cannot be combined with \`auth\`; one that the page's own scripts send stays. Frames of other sites and the page's workers are included; WebSockets, and what shared and service workers load, are not. Characters beyond ASCII are sent in UTF-8.`,
    examples: [{ 'Accept-Language': 'de-CH, de;q=0.8', 'X-Tenant': '42' }],
    maxProperties: MAX_HEADERS,
    propertyNames: { type: 'string', pattern: TOKEN_PATTERN, maxLength: MAX_NAME_LENGTH },
  })
  .optional();

/** The name under which `Authorization` was given, whatever its case. */
export const authorizationName = (headers: Record<string, string> = {}): string | undefined =>
  Object.keys(headers).find(name => name.toLowerCase() === 'authorization');

const credential = (
  what: string,
  forbidden: RegExp,
  words: string,
  pattern: string,
  example: string,
) =>
  requiredText(
    'a string',
    value => {
      if (value.length > MAX_CREDENTIAL_LENGTH)
        return `must be at most ${MAX_CREDENTIAL_LENGTH} characters long, not ${value.length}`;
      if (forbidden.test(value)) return `must not contain ${words}`;
      return value.isWellFormed()
        ? undefined
        : 'must be valid Unicode, without half of a surrogate pair';
    },
    {
      description: `The ${what}, which may be empty: not with ${words}, at most ${MAX_CREDENTIAL_LENGTH} characters.`,
      examples: [example],
      pattern,
      maxLength: MAX_CREDENTIAL_LENGTH,
    },
  );

const authShape = {
  // https://www.rfc-editor.org/rfc/rfc7617#section-2
  username: credential(
    'user name',
    /[:\u0000-\u001f\u007f-\u009f]/,
    'a colon or control characters',
    '^[^:\\u0000-\\u001f\\u007f-\\u009f]*$',
    'reports',
  ),
  password: credential(
    'password',
    CONTROL,
    'control characters',
    NO_CONTROL_PATTERN,
    'correct horse',
  ),
};

export const auth = z
  .strictObject(authShape, { error: 'an object with `username` and `password`' })
  .meta({
    description:
      'HTTP Basic authentication, answered when the origin of `url` asks for it, and to no other origin. Needs `url`; not together with an `Authorization` header in `extra_http_headers`.',
    examples: [{ username: 'reports', password: 'correct horse' }],
  })
  .optional();
export const authNames = Object.keys(authShape);
