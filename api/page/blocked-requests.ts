// Connections that the guard could not make for the page, by host and port: the reasons for failed
// loads, which Chrome does not know.
import { EGRESS_DENIED, EGRESS_REFUSED, type EgressDenied } from '../../common/protocol.ts';
import type { Session } from '../workers/session.ts';

/** `refused`: the guard allows the server, which refused the connection. */
export type NoConnection = EgressDenied['reason'] | 'refused';

export interface BlockedRequests {
  /** Why there was no connection to the server of this address; undefined when there was one. */
  of(url: string): NoConnection | undefined;
}

/**
 * As the guard names a target; empty for what Chrome takes for an address and Node does not, such
 * as `http://a%20b/`.
 */
export function hostPort(url: string): string {
  const at = URL.parse(url);
  if (!at) return '';
  const { hostname, port, protocol } = at;
  return `${hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase()}:${port || (protocol === 'https:' || protocol === 'wss:' ? 443 : 80)}`;
}

/**
 * Watches from now on. The guard tells before it hangs up, so that a load which failed by it is
 * known here first.
 */
export function watchBlockedRequests(session: Session): BlockedRequests {
  const reasons = new Map<string, NoConnection>();
  session.on(EGRESS_DENIED, ({ host, port, reason }) =>
    reasons.set(`${host.toLowerCase()}:${port}`, reason),
  );
  session.on(EGRESS_REFUSED, ({ host, port }) =>
    reasons.set(`${host.toLowerCase()}:${port}`, 'refused'),
  );
  return { of: url => (/^https?:/.test(url) ? reasons.get(hostPort(url)) : undefined) };
}
