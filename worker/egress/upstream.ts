// An upstream proxy between the worker and the internet, used through CONNECT only.
import { request } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import { type DialLimits, dial } from './dial.ts';
import { parseAuthority, type Target } from './target.ts';

export interface UpstreamProxy {
  target: Target;
  authorization: string | undefined;
}

/**
 * Parses PRESSROOM_EGRESS_PROXY, `http://[user:password@]host[:port]`. Throws an Error that names
 * the fix and does not contain the password.
 */
export function parseUpstreamProxy(text: string): UpstreamProxy {
  const url = URL.parse(text);
  const target =
    url?.protocol === 'http:' && url.pathname === '/' && url.search === ''
      ? parseAuthority(url.host, 80)
      : undefined;
  if (!url || !target)
    throw new Error(
      'the proxy must have the form `http://host:port` or `http://user:password@host:port`, without a path',
    );
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    target,
    authorization:
      credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
}

/**
 * Opens a tunnel to `address:port` through the proxy at `proxyAddresses`. CONNECT names the checked
 * address, not the host: the proxy would resolve a name again and permit DNS rebinding. Plain HTTP
 * uses a tunnel too, since a proxy replaces the Host header with the host of an absolute URL (RFC
 * 9112 section 3.2.2), which would be the address.
 */
export async function dialThrough(
  proxy: UpstreamProxy,
  proxyAddresses: string[],
  address: string,
  port: number,
  limits: DialLimits,
): Promise<Socket> {
  const socket = await dial(proxyAddresses, proxy.target.port, limits);
  const authority = isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
  return new Promise((resolve, reject) => {
    const connecting = request({
      method: 'CONNECT',
      path: authority,
      headers: {
        host: authority,
        ...(proxy.authorization && { 'proxy-authorization': proxy.authorization }),
      },
      createConnection: () => socket,
    });
    const settled = () => {
      clearTimeout(timer);
      limits.signal.removeEventListener('abort', onAbort);
    };
    const fail = (error: Error) => {
      settled();
      socket.destroy();
      reject(error);
    };
    const onAbort = () => fail(new Error('the connection attempt was aborted'));
    const timer = setTimeout(
      () => fail(new Error(`the proxy did not respond within ${limits.timeoutMs} ms`)),
      limits.timeoutMs,
    );
    limits.signal.addEventListener('abort', onAbort, { once: true });
    connecting.on('error', fail);
    connecting.once('connect', ({ statusCode = 0 }, _socket, head) => {
      if (statusCode < 200 || statusCode > 299)
        return fail(new Error(`the proxy responded to CONNECT with status ${statusCode}`));
      settled();
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    connecting.end();
  });
}
