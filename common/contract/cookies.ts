// The field `cookies`: what Chrome takes as a cookie. What it would drop or change without a word
// is refused here, with the reason.
import { z } from 'zod';
import { CONTROL, MAX_HEAD_BYTES, requiredText, text, trueOrFalse } from './field.ts';
import { quoted } from './problems.ts';
import { TOKEN, TOKEN_PATTERN } from './request-headers.ts';

/**
 * Chromium keeps 180 cookies for a site; one more, and it throws the oldest 31 away without a word
 * (seen on 156, and in its CookieMonster).
 */
export const MAX_COOKIES = 180;
/** https://www.rfc-editor.org/rfc/rfc6265#section-6.1, and what Chromium takes. */
export const MAX_COOKIE_BYTES = 4_096;
const MAX_PATH_LENGTH = 1_024;
const MAX_HOST_LENGTH = 253;
export const DEFAULT_PATH = '/';

const LABEL = '[A-Za-z0-9_-]{1,63}';
const DOMAIN_PATTERN = `^(?:\\.?${LABEL}(?:\\.${LABEL})*|\\[[0-9A-Fa-f:.]+\\])$`;
const DOMAIN = new RegExp(DOMAIN_PATTERN);
const NOT_IN_VALUE = ';\\u0000-\\u001f\\u007f-\\u009f';
const VALUE_PATTERN = `^(?:[^ ${NOT_IN_VALUE}](?:[^${NOT_IN_VALUE}]*[^ ${NOT_IN_VALUE}])?)?$`;
/**
 * What stands in the path of an address as it is: Chrome would percent-encode the rest, and the
 * cookie's path could outgrow its limit.
 */
const PATH_PATTERN = "^/[A-Za-z0-9!$%&'()*+,./:=@_~-]*$";
const PATH = new RegExp(PATH_PATTERN);

/** The host of a cookie's domain as Chrome writes it; undefined when there is no such host. */
const hostOf = (domain: string): string | undefined =>
  URL.parse(`http://${domain.replace(/^\./, '')}/`)?.hostname;

const isAddress = (host: string) => host.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(host);

/**
 * A cookie's domain in lower case and with addresses in their one form. Only for a domain that
 * parseRenderRequest let pass.
 */
export const cookieDomain = (domain: string): string =>
  `${domain.startsWith('.') ? '.' : ''}${hostOf(domain)}`;

function domainProblem(domain: string): string | undefined {
  const words =
    'a host name such as `example.com`, `.example.com` for its subdomains too, or an address such as `192.0.2.1` or `[2001:db8::1]`';
  const length = domain.replace(/^\./, '').length;
  if (length > MAX_HOST_LENGTH)
    return `must be at most ${MAX_HOST_LENGTH} characters long, not ${length}`;
  const host = DOMAIN.test(domain) ? hostOf(domain) : undefined;
  if (host === undefined)
    return `must be ${words}, without scheme, port and path, not ${quoted(domain)}`;
  if (!isAddress(host)) return undefined;
  if (domain.startsWith('.'))
    return `must not begin with a dot, since an address has no subdomains, not ${quoted(domain)}`;
  // Chrome reads `1` as 0.0.0.1, and the caller would wait for a cookie of another host.
  return host.startsWith('[') || host === domain
    ? undefined
    : `must be ${words}, with all four numbers of an address, not ${quoted(domain)}`;
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
  return value.isWellFormed()
    ? undefined
    : 'must be valid Unicode, without half of a surrogate pair';
}

function pathProblem(path: string): string | undefined {
  if (path.length > MAX_PATH_LENGTH)
    return `must be at most ${MAX_PATH_LENGTH} characters long, not ${path.length}`;
  if (PATH.test(path)) return undefined;
  return `must be a path as in an address, beginning with / and percent-encoded, without a semicolon or a query, not ${quoted(path)}`;
}

/** Longer names go first: they begin like the shorter ones. */
const PREFIXES = [
  { prefix: '__Host-Http-', httpOnly: true, host: true },
  { prefix: '__Host-', httpOnly: false, host: true },
  { prefix: '__Http-', httpOnly: true, host: false },
  { prefix: '__Secure-', httpOnly: false, host: false },
];

const cookieShape = {
  name: requiredText('a cookie name in a string', nameProblem, {
    description:
      "The name: letters, digits and `!#$%&'*+-.^_|~` or a backtick, at least one. Names with the prefixes of RFC 6265bis, in any case, need what browsers ask for: `__Secure-` needs `secure`; `__Host-` needs `secure`, the path `/` and a domain without a leading dot; `__Http-` and `__Host-Http-` need `http_only` as well.",
    examples: ['session', '__Host-id'],
    pattern: TOKEN_PATTERN,
    minLength: 1,
    maxLength: MAX_COOKIE_BYTES,
  }),
  value: requiredText('a cookie value in a string', valueProblem, {
    description: `The value, sent as it is in UTF-8: no control characters, no semicolon, no space at its ends. Name and value together have at most ${MAX_COOKIE_BYTES} bytes.`,
    examples: ['3f9a', ''],
    pattern: VALUE_PATTERN,
    maxLength: MAX_COOKIE_BYTES,
  }),
  domain: requiredText('a host in a string', domainProblem, {
    description: `The host that it is sent to, of any port: a host name in ASCII (\`xn--\` for other scripts), with a leading dot for its subdomains too (a name under which anybody can have one, such as \`.com\`, gets none); or an IPv4 address, all four numbers of it, or an IPv6 address in brackets. No scheme, port or path. At most ${MAX_HOST_LENGTH} characters after the dot, each label at most 63.`,
    examples: ['example.com', '.example.com', '192.0.2.1', '[2001:db8::1]'],
    pattern: DOMAIN_PATTERN,
    minLength: 1,
    maxLength: MAX_HOST_LENGTH + 1,
  }),
  path: text('a path in a string, such as "/"', pathProblem, {
    description: `The path below which it is sent: as it stands in an address, beginning with \`/\`, percent-encoded, without a semicolon or a query, at most ${MAX_PATH_LENGTH} characters.`,
    examples: ['/', '/reports'],
    default: DEFAULT_PATH,
    pattern: PATH_PATTERN,
    minLength: 1,
    maxLength: MAX_PATH_LENGTH,
  }),
  secure: trueOrFalse({
    description: 'Sends it over https only.',
    examples: [true],
    default: false,
  }),
  http_only: trueOrFalse({
    description: 'Hides it from scripts of the page.',
    examples: [true],
    default: false,
  }),
  same_site: z
    .enum(['Strict', 'Lax', 'None'], { error: '`Strict`, `Lax` or `None`' })
    .meta({
      description:
        'Whether it goes along when another site asks: `Strict` and `Lax` do not, `None` does and needs `secure`. Absent, it is `Lax` with `url`. With `html` everything is loaded by another site: cookies that are `Strict` or `Lax` are then never sent, and absent stands for `None` and `secure`.',
      examples: ['Lax'],
    })
    .optional(),
};

const cookie = z
  .strictObject(cookieShape, { error: 'an object with `name`, `value` and `domain`' })
  .superRefine((given, context) => {
    const refuse = (member: string, message: string) =>
      context.addIssue({ code: 'custom', path: [member], message });
    const bytes = Buffer.byteLength(given.name + given.value);
    if (bytes > MAX_COOKIE_BYTES)
      refuse(
        'value',
        `must be at most ${MAX_COOKIE_BYTES} bytes long together with the name, not ${bytes}`,
      );
    if (given.same_site === 'None' && !given.secure)
      refuse('same_site', 'must not be `None` without `secure: true`; browsers drop such a cookie');
    const rule = PREFIXES.find(({ prefix }) =>
      given.name.toLowerCase().startsWith(prefix.toLowerCase()),
    );
    if (!rule) return;
    const because = `must not begin with \`${rule.prefix}\``;
    if (!given.secure)
      refuse('name', `${because} without \`secure: true\`; browsers drop such a cookie`);
    else if (rule.httpOnly && !given.http_only)
      refuse('name', `${because} without \`http_only: true\`; browsers drop such a cookie`);
    else if (rule.host && given.domain.startsWith('.'))
      refuse('name', `${because} when \`domain\` begins with a dot; browsers drop such a cookie`);
    else if (rule.host && (given.path ?? DEFAULT_PATH) !== '/')
      refuse('name', `${because} when \`path\` is not \`/\`; browsers drop such a cookie`);
  });

/** Every name, value, domain and path counts; what is no text is refused by its own check. */
const bytesOf = (given: unknown) =>
  typeof given === 'object' && given !== null
    ? Object.values(given).reduce(
        (sum: number, part) => sum + (typeof part === 'string' ? Buffer.byteLength(part) : 0),
        0,
      )
    : 0;

/** What is wrong with the list as a whole, looked at before anything in it is. */
export function cookiesProblem(list: unknown): string | undefined {
  if (!Array.isArray(list)) return undefined;
  if (list.length > MAX_COOKIES)
    return `must have at most ${MAX_COOKIES} cookies, not ${list.length}; browsers keep no more for a site`;
  const bytes = list.reduce((sum: number, given) => sum + bytesOf(given), 0);
  return bytes > MAX_HEAD_BYTES
    ? `must have at most ${MAX_HEAD_BYTES} bytes in all, not ${bytes}`
    : undefined;
}

export const cookies = z
  .array(cookie, { error: 'an array of cookies' })
  .meta({
    description: `Cookies to set before the page is loaded, at most ${MAX_COOKIES} with ${MAX_HEAD_BYTES} bytes of names, values, domains and paths in all. They go to the hosts that their \`domain\` names, for the page and its assets. A later cookie of the same name, domain and path replaces an earlier one.`,
    examples: [
      [{ name: 'session', value: '3f9a', domain: 'example.com', secure: true, http_only: true }],
    ],
    maxItems: MAX_COOKIES,
  })
  .optional();
export const cookieNames = Object.keys(cookieShape);
