// What one render may use of the network: exchanges (a request or a tunnel each), exchanges at
// once, and bytes both ways together.
import { Denied } from './decide.ts';

export interface Counts {
  requests: number;
  bytes: number;
  open: number;
}

export interface Quota {
  /** Takes one exchange; the returned function releases it, once. Throws Denied. */
  begin(): () => void;
  /** Counts bytes that have passed. False when there are none left: then nothing more may pass. */
  spend(bytes: number): boolean;
  counts(): Counts;
}

export function createQuota(max: {
  maxRequests: number;
  maxConnections: number;
  maxBytes: number;
}): Quota {
  const now: Counts = { requests: 0, bytes: 0, open: 0 };

  function begin() {
    if (now.bytes > max.maxBytes) throw new Denied('bytes');
    // Refused ones count: a page that asks for refused addresses in a loop comes to an end too.
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
    spend: bytes => {
      now.bytes += bytes;
      return now.bytes <= max.maxBytes;
    },
    counts: () => ({ ...now }),
  };
}
