// The network quota of one render: exchanges (a request or a tunnel each), concurrent exchanges,
// and bytes sent and received.
import { Denied } from './address-rule.ts';

export interface Counts {
  requests: number;
  bytes: number;
  open: number;
}

export function createQuota(max: {
  maxRequests: number;
  maxConnections: number;
  maxBytes: number;
}) {
  const now: Counts = { requests: 0, bytes: 0, open: 0 };

  /** Reserves one exchange; the returned function releases it. Throws Denied. */
  function begin() {
    if (now.bytes > max.maxBytes) throw new Denied('bytes');
    // Blocked exchanges count as well: this ends a page that requests blocked addresses in a loop.
    if (now.requests >= max.maxRequests) throw new Denied('requests');
    now.requests += 1;
    if (now.open >= max.maxConnections) throw new Denied('connections');
    now.open += 1;
    let held = true;
    return () => {
      if (held) now.open -= 1;
      held = false;
    };
  }

  return {
    begin,
    /** Counts transferred bytes. Returns false when the budget is used up. */
    spend: (bytes: number): boolean => {
      now.bytes += bytes;
      return now.bytes <= max.maxBytes;
    },
    counts: (): Counts => ({ ...now }),
  };
}
