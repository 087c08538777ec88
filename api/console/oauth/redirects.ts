// Where an app may have the answer sent: https, this computer, or a program of its own. Pure.

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
/**
 * Schemes that a browser or the system itself acts upon, or that name no program of an app
 * (https://www.rfc-editor.org/rfc/rfc8252#section-7.1).
 */
const NO_APP: ReadonlySet<string> = new Set(
  [
    'javascript data vbscript blob file filesystem about view-source ws wss ftp ftps mailto tel sms intent jar chrome edge resource',
    'localhost smb ldap ldaps ssh telnet shell help search search-ms microsoft-edge itms-services android-app',
  ].flatMap(line => line.split(' ')),
);
/** Windows opens its own tools by these, with what stands behind: `ms-msdt`, `ms-officecmd`. */
const OF_WINDOWS = 'ms-';

/** True for http on a loopback address: a program on the user's own computer listens there. */
export function isLoopback(uri: string): boolean {
  const url = URL.parse(uri);
  return url?.protocol === 'http:' && LOOPBACK.has(url.hostname);
}

const isExtension = (scheme: string) => scheme.endsWith('-extension');

/** What is wrong with it, or undefined. */
export function redirectProblem(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (!url || /[\s\p{C}]/u.test(uri)) return 'is no absolute URI';
  if (uri.includes('#')) return 'must not have a fragment';
  if (url.username !== '' || url.password !== '') return 'must not have a name or password';
  const scheme = url.protocol.slice(0, -1);
  if (scheme === 'https') return undefined;
  if (scheme === 'http') return isLoopback(uri) ? undefined : 'must be https, or http on localhost';
  if (NO_APP.has(scheme) || scheme.startsWith(OF_WINDOWS) || isExtension(scheme))
    return `must not have the scheme ${scheme}`;
  return undefined;
}

/**
 * Where the answer goes, for people: a host, or the scheme of a program. `uri` has been checked.
 */
export function redirectName(uri: string): string {
  const { protocol, host } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol;
}
