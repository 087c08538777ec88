// What the guard refused to open for the page, by host and port: the reason behind a load that Chrome only sees fail.
import { EGRESS_DENIED, type EgressDenied } from '../../common/protocol.ts';
import type { Session } from './session.ts';

export interface Denials {
  /** Why the guard refused the server of this address; undefined when it did not. */
  of(url: string): EgressDenied['reason'] | undefined;
}

/** As the guard names a target; empty for what Chrome takes for an address and Node does not, such as `http://a%20b/`. */
export function hostPort(url: string): string {
  const at = URL.parse(url);
  if (!at) return '';
  const { hostname, port, protocol } = at;
  return `${hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase()}:${port || (protocol === 'https:' || protocol === 'wss:' ? 443 : 80)}`;
}

/** Watches from now on. The guard tells before it hangs up, so that a load which failed by it is known here first. */
export function watchDenials(session: Session): Denials {
  const reasons = new Map<string, EgressDenied['reason']>();
  session.on(EGRESS_DENIED, ({ host, port, reason }) => reasons.set(`${host.toLowerCase()}:${port}`, reason));
  return { of: url => (/^https?:/.test(url) ? reasons.get(hostPort(url)) : undefined) };
}
