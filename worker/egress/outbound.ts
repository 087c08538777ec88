// The only path to the network: resolves a target, decides about its addresses and dials them. Chrome
// follows redirects itself, and each hop arrives here as a new target.
import { isIP, type Socket } from 'node:net';
import { Denied, decideEgress, portMayBeOpen, type Rules } from './address-rule.ts';
import { type DialLimits, dial } from './dial.ts';
import type { Names } from './resolve.ts';
import { isHostName, isLoopbackName, type Target } from './target.ts';
import { dialThrough, parseUpstreamProxy, type UpstreamProxy } from './upstream.ts';

const LOOPBACK = ['127.0.0.1', '::1'];
// One address of each family: the upstream proxy does not try a second one by itself.
const MAX_ATTEMPTS_UPSTREAM = 2;

async function addressesOf(host: string, names: Names): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  if (isLoopbackName(host)) return LOOPBACK;
  if (!isHostName(host)) throw new Denied('name');
  return names.addresses(host);
}

/** The administrator configured the proxy, so its own address is not checked. */
async function dialUpstream(
  proxy: UpstreamProxy,
  allowed: string[],
  port: number,
  names: Names,
  limits: DialLimits,
): Promise<Socket> {
  const proxyAddresses = await addressesOf(proxy.target.host, names);
  let failure: unknown;
  for (const address of allowed.slice(0, MAX_ATTEMPTS_UPSTREAM)) {
    try {
      return await dialThrough(proxy, proxyAddresses, address, port, limits);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/**
 * The returned function opens a connection. It throws Denied when the rules block it, otherwise
 * LookupFailed or the error of the network.
 */
export function createOutbound(
  names: Names,
  connectTimeoutMs: number,
  upstreamProxy: string | undefined,
) {
  const proxy = upstreamProxy === undefined ? undefined : parseUpstreamProxy(upstreamProxy);
  return async (target: Target, rules: Rules, signal: AbortSignal): Promise<Socket> => {
    if (!portMayBeOpen(target.port, rules)) throw new Denied('port');
    const decision = decideEgress(target, await addressesOf(target.host, names), rules);
    if ('denied' in decision) throw new Denied(decision.denied);
    const limits = { timeoutMs: connectTimeoutMs, signal };
    return proxy
      ? dialUpstream(proxy, decision.allowed, target.port, names, limits)
      : dial(decision.allowed, target.port, limits);
  };
}
