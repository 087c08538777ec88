// Middleware that identifies the caller before the body is read: its address, its API key, and how
// many of its requests may run at once.
import { inNetwork, type Network, normalizeAddress, parseNetwork } from '../../common/addresses.ts';
import { ConfigError } from '../../common/config.ts';
import type { Metrics } from '../../common/operations.ts';
import type { AcceptedKeys, KeyUse } from '../accounts/accepted-keys.ts';
import { noBearerToken } from '../accounts/account-errors.ts';
import type { AccountRequests } from '../accounts/account-requests.ts';
import type { Context, Middleware } from './state.ts';

/** Throws ConfigError for the first entry that is neither an address nor a CIDR range. */
export function parseTrustedProxies(entries: readonly string[]): Network[] {
  return entries.map(entry => {
    const network = parseNetwork(entry);
    if (!network)
      throw new ConfigError(
        `PRESSROOM_TRUSTED_PROXIES: \`${entry}\` is not an IP address or CIDR range such as 10.0.0.0/8.`,
      );
    return network;
  });
}

export const isTrustedProxy = (address: string, trusted: readonly Network[]): boolean =>
  trusted.some(network => inNetwork(address, network));

/** Some proxies append the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (entry: string): string =>
  /^\[([^\]]*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;

/**
 * The peer, or when it is a trusted proxy the right-most address of `X-Forwarded-For` that is not
 * one: the client can forge everything left of it. An entry that is not an address ends the search
 * at the last valid hop.
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

/** The client address of a request. */
export const callerIp = (ctx: Pick<Context, 'req' | 'get'>, trusted: readonly Network[]): string =>
  clientIp(ctx.req.socket.remoteAddress ?? '', ctx.get('X-Forwarded-For') || undefined, trusted);

/**
 * RFC 6750 §2.1; the scheme is read without regard to case (RFC 9110 §11.1). Undefined when there
 * is no bearer token.
 */
export const bearerToken = (header: string | undefined): string | undefined =>
  /^bearer +([^ ]+) *$/i.exec(header ?? '')?.[1];

/** Identifies the caller by its key. Rejects with the errors of `AcceptedKeys.check`. */
export const identifiedBy = (
  keys: AcceptedKeys,
  trustedProxies: readonly Network[],
  use: KeyUse,
) => {
  return async (ctx: Context): Promise<void> => {
    const address = callerIp(ctx, trustedProxies);
    // Also for a known key that is rejected, so that the log has its account.
    const token = bearerToken(ctx.headers.authorization);
    if (token === undefined) throw noBearerToken(ctx.headers.authorization);
    await keys.check(token, address, use, accepted => {
      ctx.state.accepted = accepted;
    });
  };
};

export const bearer = (...of: Parameters<typeof identifiedBy>): Middleware => {
  const identify = identifiedBy(...of);
  return async (ctx, next) => {
    await identify(ctx);
    await next();
  };
};

/**
 * Counts requests with `X-Forwarded-For`: those of an untrusted peer have its address for all
 * limits.
 */
export function countForwarded(metrics: Metrics, trusted: readonly Network[]): Middleware {
  const count = metrics.counterBy(
    'pressroom_http_forwarded_requests_total',
    'Requests with X-Forwarded-For by type of their peer: one of PRESSROOM_TRUSTED_PROXIES, or untrusted, whose header is ignored.',
    'type',
    ['trusted', 'untrusted'],
  );
  return async (ctx, next) => {
    if (ctx.get('X-Forwarded-For'))
      count(isTrustedProxy(ctx.req.socket.remoteAddress ?? '', trusted) ? 'trusted' : 'untrusted');
    await next();
  };
}

interface Caller {
  accountId: string;
  /** Of the plan, where it is known. */
  parallel?: number;
}

/**
 * `onRejected` is called for a request over the bound. The sending of the answer is not counted: it
 * has a share of the memory.
 */
export const boundRequests = (
  requests: AccountRequests,
  callerOf: (ctx: Context) => Caller,
  onRejected: (ctx: Context) => void = () => {},
): Middleware => {
  return async (ctx, next) => {
    const { accountId, parallel } = callerOf(ctx);
    const endRequest = await requests.enter(accountId, parallel).catch(error => {
      onRejected(ctx);
      throw error;
    });
    await next().finally(endRequest);
  };
};
