// URLs in a request (`url`, `css`, `javascript`): validates their syntax, port and literal IP
// address. Host names are checked by the worker's egress guard, which resolves them.
import { isPublicAddress, literalAddress } from '../addresses.ts';
import { ApiError, invalid } from './errors.ts';
import { quoted } from './problems.ts';

export const MAX_URL_BYTES = 8_192;
/** The beginning of a URL as a pattern for the OpenAPI document. */
export const URL_PATTERN = '^[Hh][Tt][Tt][Pp][Ss]?://';

const EXAMPLE = '`https://example.com/invoice/42`';
/** The authority as written: the URL parser reads `http:///host` and `http://@host` as `http://host`. */
const WRITTEN = new RegExp(`${URL_PATTERN}(?<authority>[^/?#]*)`);
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]{0,20}:/;
/** Characters that URL parsers handle differently. They are rejected, so that all parsers agree. */
const LOOSE = /[\s\\\u0000-\u001f\u007f-\u009f]/;

/** Names that can be resolved. The URL parser also accepts `a..b`, `127.0.0.1..` and names with `$`. */
const NAME = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?$/;
const MAX_NAME_LENGTH = 253;
const isHost = (hostname: string) =>
  literalAddress(hostname) !== undefined ||
  (NAME.test(hostname) && hostname.replace(/\.$/, '').length <= MAX_NAME_LENGTH);

/**
 * The error text that follows the field's name, or undefined for a valid URL. `instead`: advice for
 * a URL with a password.
 */
export function urlProblem(text: string, instead = ''): string | undefined {
  if (text === '') return `must be a URL such as ${EXAMPLE}, not empty`;
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_URL_BYTES) return `must be at most ${MAX_URL_BYTES} bytes long, not ${bytes}`;
  if (LOOSE.test(text))
    return 'must not contain white space, control characters or backslashes; percent-encode them';
  const authority = WRITTEN.exec(text)?.groups?.['authority'];
  if (authority === undefined) {
    const scheme = SCHEME.exec(text)?.[0];
    const other = scheme && !/^https?:$/i.test(scheme) ? `, not with ${quoted(scheme)}` : '';
    return `must begin with http:// or https://, such as ${EXAMPLE}${other}`;
  }
  if (authority.includes('@')) return `must not contain a user name or a password${instead}`;
  const hostname = authority === '' || !text.isWellFormed() ? undefined : URL.parse(text)?.hostname;
  return hostname === undefined || !isHost(hostname)
    ? `must be a valid URL such as ${EXAMPLE}`
    : undefined;
}

/** The URLs that installation and account allow. */
export interface UrlRules {
  /** Ports for all accounts. */
  ports: readonly number[];
  /** The account may reach private addresses on the allowlist; the egress guard checks them. */
  intranet: boolean;
  /** Additional ports for accounts with `intranet`. */
  allowPorts: readonly number[];
}

function isPrivateHost(hostname: string): boolean {
  const name = hostname.replace(/\.$/, '');
  // Browsers resolve these to loopback without DNS
  // (https://www.rfc-editor.org/rfc/rfc6761#section-6.3).
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  const address = literalAddress(name);
  return address !== undefined && !isPublicAddress(address);
}

/** The error for a literal or resolved address that is not public. Does not reveal the address. */
export const notPublic = (field: string): ApiError =>
  new ApiError(
    'ssrf_blocked',
    field === 'url'
      ? '`url` points to an address that is not public. Use a public URL, or send the document as `html`.'
      : `\`${field}\` points to an address that is not public. Use a public URL, or send the text inline.`,
  );

/**
 * For URLs that passed urlProblem. Throws ssrf_blocked for a literal private address, and
 * validation_error for a port that is not allowed, which takes precedence.
 */
export function checkUrlRules(
  addresses: [field: string, address: string][],
  { ports, intranet, allowPorts }: UrlRules,
): void {
  const accepted = intranet ? [...new Set([...ports, ...allowPorts])] : ports;
  const wrongPorts: string[] = [];
  let blocked: string | undefined;
  for (const [field, address] of addresses) {
    const url = new URL(address);
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    if (!intranet && isPrivateHost(url.hostname)) blocked ??= field;
    else if (!accepted.includes(port))
      wrongPorts.push(
        `\`${field}\` must use one of the ports ${accepted.join(', ')}, not ${port}.`,
      );
  }
  if (wrongPorts.length > 0) throw invalid(wrongPorts.join(' '));
  if (blocked !== undefined) throw notPublic(blocked);
}
