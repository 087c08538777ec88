// The fields `extra_http_headers` and `auth`: headers and credentials for the requests of a page.
import { z } from 'zod';
import {
  CONTROL,
  MAX_HEAD_BYTES,
  NO_CONTROL_PATTERN,
  type Problem,
  requiredText,
} from './field.ts';
import { quoted } from './problems.ts';

/** https://www.rfc-editor.org/rfc/rfc9110#name-tokens; also for cookie names. */
export const TOKEN_PATTERN = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";
export const TOKEN = new RegExp(TOKEN_PATTERN);

export const MAX_HEADERS = 64;
export const MAX_HEADER_VALUE_LENGTH = 8_192;
const MAX_NAME_LENGTH = 256;
const MAX_CREDENTIAL_LENGTH = 4_096;

const VALUE_PATTERN = '^[\\t\\u0020-\\u007e\\u00a0-\\u00ff]*$';
const VALUE = new RegExp(VALUE_PATTERN);

/** Why a header is rejected, by name in lower case. */
const REJECTED: Record<string, string> = {
  ...Object.fromEntries(
    ['cookie', 'cookie2', 'set-cookie'].map(name => [name, 'is not allowed; use `cookies`']),
  ),
  host: 'is not allowed; the browser sets it from the URL',
  'content-length': 'is not allowed; the browser sets it from the body',
  expect: 'is not allowed; browsers do not support it',
  ...Object.fromEntries(
    ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'].map(name => [
      name,
      'is not allowed; it is a hop-by-hop header that the browser sets',
    ]),
  ),
};

function nameProblem(name: string): string | undefined {
  if (!TOKEN.test(name)) return "must be a header name of letters, digits and !#$%&'*+-.^_`|~";
  if (name.length > MAX_NAME_LENGTH)
    return `must have a name of at most ${MAX_NAME_LENGTH} characters, not ${name.length}`;
  const lower = name.toLowerCase();
  if (lower.startsWith('proxy-'))
    return 'is not allowed; headers that begin with Proxy- are for proxies';
  return Object.hasOwn(REJECTED, lower) ? REJECTED[lower] : undefined;
}

const valueProblem: Problem<string> = value => {
  if (value.length > MAX_HEADER_VALUE_LENGTH)
    return `must be at most ${MAX_HEADER_VALUE_LENGTH} characters long, not ${value.length}`;
  if (CONTROL.test(value.replaceAll('\t', ''))) return 'must not contain control characters';
  return VALUE.test(value)
    ? undefined
    : 'must not contain characters above U+00FF, which headers do not support; encode them';
};

const headerValue = requiredText('a header value string', valueProblem, {
  description: `Header value: printable characters up to U+00FF, spaces and tabs, at most ${MAX_HEADER_VALUE_LENGTH} characters. Leading and trailing white space is removed.`,
  examples: ['de-CH, de;q=0.8'],
  pattern: VALUE_PATTERN,
  maxLength: MAX_HEADER_VALUE_LENGTH,
});

/** Checks the size of the object before its headers are validated. */
export function headersProblem(headers: unknown): string | undefined {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return undefined;
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS)
    return `must have at most ${MAX_HEADERS} headers, not ${entries.length}`;
  // zod silently drops this name.
  if (entries.some(([name]) => name === '__proto__'))
    return 'must not have a header named `__proto__`';
  const length = entries.reduce(
    (sum, [name, value]) => sum + name.length + (typeof value === 'string' ? value.length : 0),
    0,
  );
  return length > MAX_HEAD_BYTES
    ? `must have at most ${MAX_HEAD_BYTES} characters in total, not ${length}`
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
        (twin === undefined ? undefined : `is a duplicate of ${quoted(twin)}; remove one of them`);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
      seen.set(name.toLowerCase(), name);
    }
  })
  .meta({
    description: `Headers to send with the page and its assets, at most ${MAX_HEADERS} headers and ${MAX_HEAD_BYTES} characters in total. Names are case-insensitive, unique and at most ${MAX_NAME_LENGTH} characters long. Not allowed: \`Cookie\`, \`Cookie2\` and \`Set-Cookie\` (use \`cookies\`), \`Host\`, \`Content-Length\`, \`Connection\`, \`Keep-Alive\`, \`TE\`, \`Trailer\`, \`Transfer-Encoding\`, \`Upgrade\`, \`Expect\`, \`Proxy-*\`, \`__proto__\`, and headers that the browser would change, such as a \`Referer\` that is not a URL. \`Authorization\` requires \`url\`, is sent only to its origin, cannot be combined with \`auth\`, and does not replace one set by the page's own scripts. The headers are also sent for cross-site frames and workers of the page, but not for WebSockets or requests of shared and service workers. Non-ASCII characters are sent in UTF-8.`,
    examples: [{ 'Accept-Language': 'de-CH, de;q=0.8', 'X-Tenant': '42' }],
    maxProperties: MAX_HEADERS,
    propertyNames: { type: 'string', pattern: TOKEN_PATTERN, maxLength: MAX_NAME_LENGTH },
  })
  .optional();

/** The name of the `Authorization` header as the caller wrote it. */
export const authorizationName = (headers: Record<string, string> = {}): string | undefined =>
  Object.keys(headers).find(name => name.toLowerCase() === 'authorization');

const credential = (
  what: string,
  forbidden: RegExp,
  characters: string,
  pattern: string,
  example: string,
) =>
  requiredText(
    'a string',
    value => {
      if (value.length > MAX_CREDENTIAL_LENGTH)
        return `must be at most ${MAX_CREDENTIAL_LENGTH} characters long, not ${value.length}`;
      if (forbidden.test(value)) return `must not contain ${characters}`;
      return value.isWellFormed() ? undefined : 'must be valid Unicode without lone surrogates';
    },
    {
      description: `The ${what}; may be empty. It must not contain ${characters}. At most ${MAX_CREDENTIAL_LENGTH} characters.`,
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
      'Credentials for HTTP Basic authentication, sent only when the origin of `url` requests them. Requires `url`. Cannot be combined with an `Authorization` header in `extra_http_headers`.',
    examples: [{ username: 'reports', password: 'correct horse' }],
  })
  .optional();
export const authNames = Object.keys(authShape);
