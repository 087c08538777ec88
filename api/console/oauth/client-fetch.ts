// Fetches the metadata document of an app. The URL comes from anonymous clients and the API has no
// egress guard, so: https only, public addresses only, the checked address is the one that is
// dialled, no redirects, bounded size and time.
import { request } from 'node:https';
import type { LookupFunction } from 'node:net';
import {
  inNetwork,
  isPublicAddress,
  literalAddress,
  type Network,
} from '../../../common/addresses.ts';
import { checkedLookup } from './checked-lookup.ts';
import { clientMetadata } from './client-metadata.ts';

const MAX_BYTES = 64 * 1_024;
const MAX_URL = 500;
const TIMEOUT_MS = 5_000;

export interface ClientFetchOptions {
  /** Denied networks, in addition to those that are not public. */
  deny?: readonly Network[];
  /** For tests only: the allowed addresses, name servers, port and CA certificate. */
  isGood?: (address: string) => boolean;
  nameServers?: readonly string[];
  port?: number;
  ca?: string;
}

export type ClientFetch = (
  url: string | URL,
  options?: { signal?: AbortSignal | undefined },
) => Promise<Response>;

/**
 * Rejects with an Error whose message is for the log. The body of the response is the validated
 * metadata.
 */
export function createClientFetch(options: ClientFetchOptions = {}): ClientFetch {
  const { deny = [], isGood: isOpen = isPublicAddress, nameServers, port = 443, ca } = options;
  const isGood = (address: string) =>
    isOpen(address) && !deny.some(network => inNetwork(address, network));
  const lookup = checkedLookup({ isGood, servers: nameServers });

  return async (location, { signal } = {}) => {
    const url = new URL(location);
    if (url.protocol !== 'https:' || url.href.length > MAX_URL || Number(url.port || 443) !== port)
      throw new Error('the URL must be short and use https on the default port');
    const literal = literalAddress(url.hostname);
    // A literal address skips the lookup.
    if (literal !== undefined && !isGood(literal)) throw new Error('the address is not public');
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const { status, headers, body } = await get(
      url,
      lookup,
      ca,
      signal ? AbortSignal.any([signal, timeout]) : timeout,
    );
    const metadata =
      status === 200 ? JSON.stringify(clientMetadata(JSON.parse(body), 'document')) : null;
    return new Response(metadata, { status, headers });
  };
}

function get(url: URL, lookup: LookupFunction, ca: string | undefined, signal: AbortSignal) {
  return new Promise<{ status: number; headers: Record<string, string>; body: string }>(
    (done, fail) => {
      const outgoing = request(
        url,
        {
          agent: false,
          lookup,
          signal,
          ...(ca && { ca }),
          headers: { accept: 'application/json' },
        },
        response => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          response.on('error', fail);
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > MAX_BYTES)
              outgoing.destroy(new Error(`the document is larger than ${MAX_BYTES} bytes`));
            else chunks.push(chunk);
          });
          response.on('end', () => {
            const cache = response.headers['cache-control'];
            done({
              status: response.statusCode!,
              headers: {
                'content-type': 'application/json',
                ...(cache && { 'cache-control': cache }),
              },
              body: Buffer.concat(chunks).toString('utf8'),
            });
          });
        },
      );
      outgoing.on('error', fail);
      outgoing.end();
    },
  );
}
