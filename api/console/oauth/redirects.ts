// Validates the redirect URIs of apps: https, loopback, or the custom scheme of an app. Pure.

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
/**
 * Schemes that browsers or systems handle themselves, so no app owns them
 * (https://www.rfc-editor.org/rfc/rfc8252#section-7.1).
 */
const RESERVED_SCHEMES: ReadonlySet<string> = new Set(
  [
    'javascript data vbscript blob file filesystem about view-source ws wss ftp ftps mailto tel sms intent jar chrome edge resource',
    'localhost smb ldap ldaps ssh telnet shell help search search-ms microsoft-edge itms-services android-app',
  ].flatMap(line => line.split(' ')),
);
/** Windows passes these to its own tools, such as `ms-msdt` and `ms-officecmd`. */
const WINDOWS_PREFIX = 'ms-';

/** True for http on a loopback address, where an app on the user's computer listens. */
export function isLoopback(uri: string): boolean {
  const url = URL.parse(uri);
  return url?.protocol === 'http:' && LOOPBACK.has(url.hostname);
}

const isExtension = (scheme: string) => scheme.endsWith('-extension');

/** The problem of a redirect URI, or undefined. */
export function redirectProblem(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (!url || /[\s\p{C}]/u.test(uri)) return 'must be an absolute URI';
  if (uri.includes('#')) return 'must not contain a fragment';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  const scheme = url.protocol.slice(0, -1);
  if (scheme === 'https') return undefined;
  if (scheme === 'http')
    return isLoopback(uri) ? undefined : 'must use https, or http on localhost';
  if (RESERVED_SCHEMES.has(scheme) || scheme.startsWith(WINDOWS_PREFIX) || isExtension(scheme))
    return `must not use the scheme ${scheme}`;
  return undefined;
}

/** A display name of a valid redirect URI: its host, or the custom scheme. */
export function redirectName(uri: string): string {
  const { protocol, host } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol;
}
