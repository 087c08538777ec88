// An address in a request (`url`, `css`, `javascript`): how it must be written, and which ports and
// literal addresses may be asked for. Names are judged where they are resolved: by the worker's
// guard, which sees every connection of a page and cannot be talked past.
import { isPublicAddress, literalAddress } from '../addresses.ts';
import { ApiError, invalid } from './errors.ts';
import { quoted } from './problems.ts';

export const MAX_URL_BYTES = 8_192;
/** What a URL must begin with, as a regular expression that the API description shows. */
export const URL_PATTERN = '^[Hh][Tt][Tt][Pp][Ss]?://';

const EXAMPLE = '`https://example.com/invoice/42`';
/**
 * The authority is looked at as written: the parser takes `http:///host` and `http://@host` for
 * `http://host`.
 */
const WRITTEN = new RegExp(`${URL_PATTERN}(?<authority>[^/?#]*)`);
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]{0,20}:/;
/**
 * What parsers of URLs drop or turn into something else, each in its own way. Refused, so that all
 * of them read the same.
 */
const LOOSE = /[\s\\\u0000-\u001f\u007f-\u009f]/;

/**
 * What can be looked up: the parser also takes `a..b`, `127.0.0.1..` and names with `$`, which the
 * worker's guard refuses.
 */
const NAME = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?$/;
const MAX_NAME_LENGTH = 253;
const isHost = (hostname: string) =>
  literalAddress(hostname) !== undefined ||
  (NAME.test(hostname) && hostname.replace(/\.$/, '').length <= MAX_NAME_LENGTH);

/**
 * What is wrong with the way `text` is written, as the words that follow the field's name;
 * undefined when nothing is. `instead`: where a password goes.
 */
export function urlProblem(text: string, instead = ''): string | undefined {
  if (text === '') return `must be an address such as ${EXAMPLE}, not empty`;
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_URL_BYTES) return `must be at most ${MAX_URL_BYTES} bytes long, not ${bytes}`;
  if (LOOSE.test(text))
    return 'must not contain white space, control characters or backslashes; write them percent-encoded';
  const authority = WRITTEN.exec(text)?.groups?.['authority'];
  if (authority === undefined) {
    const scheme = SCHEME.exec(text)?.[0];
    const other = scheme && !/^https?:$/i.test(scheme) ? `, not with ${quoted(scheme)}` : '';
    return `must begin with http:// or https://, such as ${EXAMPLE}${other}`;
  }
  if (authority.includes('@')) return `must not contain a user name or a password${instead}`;
  const hostname = authority === '' || !text.isWellFormed() ? undefined : URL.parse(text)?.hostname;
  return hostname === undefined || !isHost(hostname)
    ? `must be a valid address such as ${EXAMPLE}`
    : undefined;
}

/** Where the operator and the account let a page come from. */
export interface UrlRules {
  /** The operator's list, for everyone. */
  ports: readonly number[];
  /** The account may reach addresses that are not public; the worker's guard decides which. */
  intranet: boolean;
  /** More ports, for accounts with `intranet` only. */
  allowPorts: readonly number[];
}

function isPrivateHost(hostname: string): boolean {
  const name = hostname.replace(/\.$/, '');
  // Browsers take these for loopback without asking anybody
  // (https://www.rfc-editor.org/rfc/rfc6761#section-6.3).
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  const address = literalAddress(name);
  return address !== undefined && !isPublicAddress(address);
}

/**
 * What the caller reads when a literal address or one that a name resolved to is not public. It
 * does not tell what was resolved.
 */
export const notPublic = (field: string): ApiError => {
  const instead = field === 'url' ? 'send the document as `html`' : 'give the text itself';
  return new ApiError(
    'ssrf_blocked',
    `\`${field}\` leads to an address that is not public. Give a public address, or ${instead}.`,
  );
};

/**
 * Throws validation_error when the port of an address is outside the list, unless the address is
 * literally private, for which it throws ssrf_blocked; of several addresses the wrong port goes
 * first. Every address is one that urlProblem let pass.
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
