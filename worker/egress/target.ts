// Where a page wants to go: host and port as the proxy's request line names them. Pure.
import { literalAddress } from '../../common/addresses.ts';

/**
 * `host` is in lower case, without brackets and without a trailing dot; an IP literal in any
 * notation is in its usual one.
 */
export interface Target {
  host: string;
  port: number;
}

const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::([0-9]{1,5}))?$/i;
const NEVER_IN_AUTHORITY = /[^!-~]|[@/\\?#%]/;
const MAX_AUTHORITY_LENGTH = 300; // a name has at most 253 characters

/**
 * The host as the URL standard reads it, the same parser that Chrome follows; a host it does not
 * take comes back in lower case, to be refused as a name.
 */
function canonicalHost(host: string): string {
  const hostname = URL.parse(`http://${host}/`)?.hostname ?? host.toLowerCase();
  return literalAddress(hostname) ?? hostname.replace(/\.$/, '');
}

/**
 * Reads `host:port`; with `defaultPort` the port may be absent. Undefined for anything else:
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
 * Whether it can be looked up: labels of letters, digits, `-` and `_`, at most 253 characters, and
 * not ending in a number (that would be a broken IPv4 address).
 */
export const isHostName = (host: string) =>
  host.length <= 253 &&
  /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/.test(host) &&
  !/(^|\.)(\d+|0x[0-9a-f]*)$/.test(host);

/**
 * `localhost` and all below it mean this machine (RFC 6761 section 6.3), whatever a name server
 * says.
 */
export const isLoopbackName = (host: string) => host === 'localhost' || host.endsWith('.localhost');
