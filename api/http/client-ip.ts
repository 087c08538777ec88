// Who is at the other end: the socket's address, or what proxies that the operator trusts say.
import { inNetwork, type Network, normalizeAddress, parseNetwork } from '../../common/addresses.ts';
import { ConfigError } from '../../common/config.ts';
import type { Context } from './state.ts';

/** Throws ConfigError naming an entry that is no address and no CIDR. */
export function parseTrustedProxies(entries: readonly string[]): Network[] {
  return entries.map(entry => {
    const network = parseNetwork(entry);
    if (!network)
      throw new ConfigError(
        `PRESSROOM_TRUSTED_PROXIES: \`${entry}\` is no IP address or CIDR such as 10.0.0.0/8.`,
      );
    return network;
  });
}

export const isTrustedProxy = (address: string, trusted: readonly Network[]): boolean =>
  trusted.some(network => inNetwork(address, network));

/** Some proxies write the port behind the address: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (entry: string): string =>
  /^\[([^\]]*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;

/**
 * The right-most address of `X-Forwarded-For` that is no trusted proxy, when the peer is one; else
 * the peer. What stands left of it is the caller's own invention; an entry that is no address ends
 * the walk at the last hop that is known.
 */
export function clientIp(
  peer: string,
  forwardedFor: string | undefined,
  trusted: readonly Network[],
): string {
  let client = normalizeAddress(peer) ?? peer;
  const hops = forwardedFor?.split(',') ?? [];
  while (isTrustedProxy(client, trusted) && hops.length > 0) {
    const hop = normalizeAddress(withoutPort(hops.pop()!.trim()));
    if (hop === undefined) break;
    client = hop;
  }
  return client;
}

/** Of a call. */
export const callerIp = (ctx: Pick<Context, 'req' | 'get'>, trusted: readonly Network[]): string =>
  clientIp(ctx.req.socket.remoteAddress ?? '', ctx.get('X-Forwarded-For') || undefined, trusted);
