// Parses the target of a proxy request: host and port of its request line. Pure.
import { literalAddress } from '../../common/addresses.ts';

/** `host` is in lower case, without brackets and trailing dot. IP literals are canonical. */
export interface Target {
  host: string;
  port: number;
}

const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::([0-9]{1,5}))?$/i;
const NEVER_IN_AUTHORITY = /[^!-~]|[@/\\?#%]/;
const MAX_AUTHORITY_LENGTH = 300; // a name has at most 253 characters

/**
 * The host as parsed by the URL standard, which Chrome follows as well. A host that does not parse
 * is returned in lower case and is later blocked as a name.
 */
function canonicalHost(host: string): string {
  const hostname = URL.parse(`http://${host}/`)?.hostname ?? host.toLowerCase();
  return literalAddress(hostname) ?? hostname.replace(/\.$/, '');
}

/**
 * Parses `host:port`; with `defaultPort` the port is optional. Undefined for anything else:
 * userinfo, a path, port 0 or 65536, white space, percent signs, bytes outside ASCII, an IPv6
 * address without brackets.
 */
export function parseAuthority(authority: string, defaultPort?: number): Target | undefined {
  if (authority.length > MAX_AUTHORITY_LENGTH || NEVER_IN_AUTHORITY.test(authority))
    return undefined;
  const match = AUTHORITY.exec(authority);
  const host = match?.[1];
  if (!host) return undefined;
  const port = match[2] === undefined ? defaultPort : Number(match[2]);
  if (port === undefined || port < 1 || port > 65_535) return undefined;
  const canonical = canonicalHost(host);
  return canonical.startsWith('[') ? undefined : { host: canonical, port };
}

/**
 * The target and the path of a request in absolute form, `http://host[:port]/path?query`;
 * `authority` is as written. Undefined for any other form.
 */
export function parseAbsoluteForm(
  url: string,
): { target: Target; authority: string; path: string } | undefined {
  const [, authority = '', rest = ''] = /^http:\/\/([^/?#]*)([^#]*)$/i.exec(url) ?? [];
  const target = parseAuthority(authority, 80);
  return target && { target, authority, path: rest.startsWith('/') ? rest : `/${rest}` };
}

/**
 * Whether it can be resolved: labels of letters, digits, `-` and `_`, at most 253 characters, not
 * ending in a number (a malformed IPv4 address).
 */
export const isHostName = (host: string) =>
  host.length <= 253 &&
  /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/.test(host) &&
  !/(^|\.)(\d+|0x[0-9a-f]*)$/.test(host);

/** `localhost` and its subdomains always mean this machine (RFC 6761 section 6.3). */
export const isLoopbackName = (host: string) => host === 'localhost' || host.endsWith('.localhost');
