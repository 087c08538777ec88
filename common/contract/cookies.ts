// The field `cookies`. Cookies that Chrome would silently drop or change are rejected with the
// reason.
import { z } from 'zod';
import { CONTROL, MAX_HEAD_BYTES, requiredText, text, trueOrFalse } from './field.ts';
import { quoted } from './problems.ts';
import { TOKEN, TOKEN_PATTERN } from './request-headers.ts';

/** Chromium keeps 180 cookies per site; one more silently evicts the oldest 31 (seen on 156). */
export const MAX_COOKIES = 180;
/** https://www.rfc-editor.org/rfc/rfc6265#section-6.1; also Chromium's limit. */
export const MAX_COOKIE_BYTES = 4_096;
const MAX_PATH_LENGTH = 1_024;
const MAX_HOST_LENGTH = 253;
export const DEFAULT_PATH = '/';

const LABEL = '[A-Za-z0-9_-]{1,63}';
const DOMAIN_PATTERN = `^(?:\\.?${LABEL}(?:\\.${LABEL})*|\\[[0-9A-Fa-f:.]+\\])$`;
const DOMAIN = new RegExp(DOMAIN_PATTERN);
const NOT_IN_VALUE = ';\\u0000-\\u001f\\u007f-\\u009f';
const VALUE_PATTERN = `^(?:[^ ${NOT_IN_VALUE}](?:[^${NOT_IN_VALUE}]*[^ ${NOT_IN_VALUE}])?)?$`;
/** Characters allowed in a URL path. Chrome would encode others, and exceed the length limit. */
const PATH_PATTERN = "^/[A-Za-z0-9!$%&'()*+,./:=@_~-]*$";
const PATH = new RegExp(PATH_PATTERN);

/** The host of a cookie's domain in Chrome's notation, or undefined for an invalid host. */
const hostOf = (domain: string): string | undefined =>
  URL.parse(`http://${domain.replace(/^\./, '')}/`)?.hostname;

const isAddress = (host: string) => host.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(host);

/** A validated cookie domain in lower case, with IP addresses in canonical form. */
export const cookieDomain = (domain: string): string =>
  `${domain.startsWith('.') ? '.' : ''}${hostOf(domain)}`;

function domainProblem(domain: string): string | undefined {
  const requirement =
    'a host name such as `example.com`, `.example.com` to include subdomains, or an IP address such as `192.0.2.1` or `[2001:db8::1]`';
  const length = domain.replace(/^\./, '').length;
  if (length > MAX_HOST_LENGTH)
    return `must be at most ${MAX_HOST_LENGTH} characters long, not ${length}`;
  const host = DOMAIN.test(domain) ? hostOf(domain) : undefined;
  if (host === undefined)
    return `must be ${requirement}, without scheme, port and path, not ${quoted(domain)}`;
  if (!isAddress(host)) return undefined;
  if (domain.startsWith('.'))
    return `must not begin with a dot, since an IP address has no subdomains, not ${quoted(domain)}`;
  // Chrome reads `1` as 0.0.0.1 and would set the cookie for another host.
  return host.startsWith('[') || host === domain
    ? undefined
    : `must be ${requirement}, with all four numbers of an IPv4 address, not ${quoted(domain)}`;
}

const nameProblem = (name: string) =>
  TOKEN.test(name)
    ? undefined
    : `must be a cookie name of letters, digits and !#$%&'*+-.^_\`|~, not ${quoted(name)}`;

function valueProblem(value: string): string | undefined {
  if (CONTROL.test(value) || value.includes(';'))
    return 'must not contain control characters or semicolons; encode them';
  if (value.startsWith(' ') || value.endsWith(' '))
    return 'must not begin or end with a space; encode it';
  return value.isWellFormed() ? undefined : 'must be valid Unicode without lone surrogates';
}

function pathProblem(path: string): string | undefined {
  if (path.length > MAX_PATH_LENGTH)
    return `must be at most ${MAX_PATH_LENGTH} characters long, not ${path.length}`;
  if (PATH.test(path)) return undefined;
  return `must be a percent-encoded URL path that begins with /, without a semicolon or a query, not ${quoted(path)}`;
}

/** Longer prefixes first, because they begin with shorter ones. */
const PREFIXES = [
  { prefix: '__Host-Http-', httpOnly: true, host: true },
  { prefix: '__Host-', httpOnly: false, host: true },
  { prefix: '__Http-', httpOnly: true, host: false },
  { prefix: '__Secure-', httpOnly: false, host: false },
];

const cookieShape = {
  name: requiredText('a cookie name string', nameProblem, {
    description:
      "Cookie name: letters, digits, `!#$%&'*+-.^_|~` and backticks. The prefixes of RFC 6265bis (case-insensitive) have requirements: `__Secure-` requires `secure`; `__Host-` requires `secure`, the path `/` and a domain without a leading dot; `__Http-` and `__Host-Http-` also require `http_only`.",
    examples: ['session', '__Host-id'],
    pattern: TOKEN_PATTERN,
    minLength: 1,
    maxLength: MAX_COOKIE_BYTES,
  }),
  value: requiredText('a cookie value string', valueProblem, {
    description: `Cookie value, sent unchanged in UTF-8. No control characters, semicolons, or leading or trailing spaces. Name and value together are limited to ${MAX_COOKIE_BYTES} bytes.`,
    examples: ['3f9a', ''],
    pattern: VALUE_PATTERN,
    maxLength: MAX_COOKIE_BYTES,
  }),
  domain: requiredText('a host string', domainProblem, {
    description: `The host that receives the cookie: an ASCII host name (\`xn--\` for other scripts), an IPv4 address, or an IPv6 address in brackets, without scheme, port or path. A leading dot includes subdomains. Cookies for public suffixes such as \`.com\` are not set. At most ${MAX_HOST_LENGTH} characters after the dot, at most 63 per label.`,
    examples: ['example.com', '.example.com', '192.0.2.1', '[2001:db8::1]'],
    pattern: DOMAIN_PATTERN,
    minLength: 1,
    maxLength: MAX_HOST_LENGTH + 1,
  }),
  path: text('a path string such as `/`', pathProblem, {
    description: `The cookie is sent for this URL path and paths below it. Percent-encoded, begins with \`/\`, without a semicolon or a query, at most ${MAX_PATH_LENGTH} characters.`,
    examples: ['/', '/reports'],
    default: DEFAULT_PATH,
    pattern: PATH_PATTERN,
    minLength: 1,
    maxLength: MAX_PATH_LENGTH,
  }),
  secure: trueOrFalse({
    description: 'Send the cookie over https only.',
    examples: [true],
    default: false,
  }),
  http_only: trueOrFalse({
    description: 'Hide the cookie from scripts.',
    examples: [true],
    default: false,
  }),
  same_site: z
    .enum(['Strict', 'Lax', 'None'], { error: '`Strict`, `Lax` or `None`' })
    .meta({
      description:
        'SameSite policy. `None` requires `secure`. Default: `Lax` with `url`; `None` with `secure` when you send `html`. A page from `html` has no site, so its requests are cross-site and never include `Strict` or `Lax` cookies.',
      examples: ['Lax'],
    })
    .optional(),
};

const cookie = z
  .strictObject(cookieShape, { error: 'an object with `name`, `value` and `domain`' })
  .superRefine((given, context) => {
    const reject = (member: string, message: string) =>
      context.addIssue({ code: 'custom', path: [member], message });
    const bytes = Buffer.byteLength(given.name + given.value);
    if (bytes > MAX_COOKIE_BYTES)
      reject(
        'value',
        `must be at most ${MAX_COOKIE_BYTES} bytes long together with the name, not ${bytes}`,
      );
    if (given.same_site === 'None' && !given.secure)
      reject('same_site', 'must not be `None` without `secure: true`; browsers drop such a cookie');
    const rule = PREFIXES.find(({ prefix }) =>
      given.name.toLowerCase().startsWith(prefix.toLowerCase()),
    );
    if (!rule) return;
    const because = `must not begin with \`${rule.prefix}\``;
    if (!given.secure)
      reject('name', `${because} without \`secure: true\`; browsers drop such a cookie`);
    else if (rule.httpOnly && !given.http_only)
      reject('name', `${because} without \`http_only: true\`; browsers drop such a cookie`);
    else if (rule.host && given.domain.startsWith('.'))
      reject('name', `${because} when \`domain\` begins with a dot; browsers drop such a cookie`);
    else if (rule.host && (given.path ?? DEFAULT_PATH) !== '/')
      reject('name', `${because} when \`path\` is not \`/\`; browsers drop such a cookie`);
  });

/** Counts names, values, domains and paths. Other types are rejected by the check of each cookie. */
const bytesOf = (given: unknown) =>
  typeof given === 'object' && given !== null
    ? Object.values(given).reduce(
        (sum: number, part) => sum + (typeof part === 'string' ? Buffer.byteLength(part) : 0),
        0,
      )
    : 0;

/** Checks the size of the list before its items are validated. */
export function cookiesProblem(list: unknown): string | undefined {
  if (!Array.isArray(list)) return undefined;
  if (list.length > MAX_COOKIES)
    return `must have at most ${MAX_COOKIES} cookies, not ${list.length}; browsers keep no more per site`;
  const bytes = list.reduce((sum: number, given) => sum + bytesOf(given), 0);
  return bytes > MAX_HEAD_BYTES
    ? `must have at most ${MAX_HEAD_BYTES} bytes in total, not ${bytes}`
    : undefined;
}

export const cookies = z
  .array(cookie, { error: 'an array of cookies' })
  .meta({
    description: `Cookies to set before the page is loaded. They are sent to the hosts in \`domain\`, for the page and its assets. A later cookie with the same name, domain and path replaces an earlier one. At most ${MAX_COOKIES} cookies and ${MAX_HEAD_BYTES} bytes of names, values, domains and paths in total.`,
    examples: [
      [{ name: 'session', value: '3f9a', domain: 'example.com', secure: true, http_only: true }],
    ],
    maxItems: MAX_COOKIES,
  })
  .optional();
export const cookieNames = Object.keys(cookieShape);
