// A company's proxy between the worker and the internet: reached by CONNECT only.
import { request } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import { type DialLimits, dial } from './dial.ts';
import { parseAuthority, type Target } from './target.ts';

export interface UpstreamProxy {
  target: Target;
  authorization: string | undefined;
}

/**
 * Reads PRESSROOM_EGRESS_PROXY, `http://[user:password@]host[:port]`. Throws an Error that says how
 * to mend it and never repeats the password.
 */
export function parseUpstreamProxy(text: string): UpstreamProxy {
  const url = URL.parse(text);
  const target =
    url?.protocol === 'http:' && url.pathname === '/' && url.search === ''
      ? parseAuthority(url.host, 80)
      : undefined;
  if (!url || !target)
    throw new Error(
      'the proxy must be given as `http://host:port` or `http://user:password@host:port`, without a path',
    );
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    target,
    authorization:
      credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
}

/**
 * A tunnel to `address:port` through the proxy at `proxyAddresses`. CONNECT names the literal
 * address that the guard has checked and not the page's host: a name would be looked up once more,
 * by the proxy, and rebinding would be back. Plain http goes through a tunnel too, since a proxy
 * that is sent an absolute URL must take the Host header from it (RFC 9112 section 3.2.2), which
 * would then be the address.
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
    const asking = request({
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
    const onAbort = () => fail(new Error('the connection is no longer wanted'));
    const timer = setTimeout(
      () => fail(new Error(`the proxy did not answer within ${limits.timeoutMs} ms`)),
      limits.timeoutMs,
    );
    limits.signal.addEventListener('abort', onAbort, { once: true });
    asking.on('error', fail);
    asking.once('connect', ({ statusCode = 0 }, _socket, head) => {
      if (statusCode < 200 || statusCode > 299)
        return fail(new Error(`the proxy answered ${statusCode} to CONNECT`));
      settled();
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asking.end();
  });
}
