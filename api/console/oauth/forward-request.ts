// Passes a call to oidc-provider with the host of the public URL and without the provider's session
// cookie.
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Provider } from 'oidc-provider';
import type { ErrorCode } from '../../../common/contract/errors.ts';
import type { Context } from '../../http/state.ts';
import { COOKIES } from './provider.ts';

export interface ForwardDeps {
  publicUrl: string;
  serve(): Promise<ReturnType<Provider['callback']>>;
  /** Also stores it for limits that are checked inside the provider. */
  ipOf(ctx: Context): string;
}

/** Replaces the URL or the body of the call. */
interface Replaced {
  url?: string;
  /** The body, when it was already read. */
  body?: Buffer;
}

const codeOf = (status: number): ErrorCode | undefined => {
  if (status < 400) return undefined;
  if (status === 503) return 'unavailable';
  return status === 401 ? 'unauthorized' : status < 500 ? 'validation_error' : 'internal';
};

/**
 * A request with this body. Node cannot create an IncomingMessage from bytes; the library reads
 * only these fields: hence the cast.
 */
const withBody = (
  { method, url, headers, socket, httpVersion }: IncomingMessage,
  body: Buffer,
): IncomingMessage =>
  Object.assign(Readable.from([body]), {
    method,
    url,
    headers: { ...headers, 'content-length': String(body.length) },
    socket,
    httpVersion,
  }) as unknown as IncomingMessage;

/** The provider builds links from the request's host and protocol, set to the public URL's. */
export function forwardToProvider({
  publicUrl,
  serve,
  ipOf,
}: ForwardDeps): (ctx: Context, replaced?: Replaced) => Promise<void> {
  const { host, protocol } = new URL(publicUrl);

  return async (ctx, { url = ctx.req.url!, body } = {}) => {
    ipOf(ctx);
    const handle = await serve();
    const request = body ? withBody(ctx.req, body) : ctx.req;
    request.url = url;
    Object.assign(request.headers, {
      host,
      'x-forwarded-host': host,
      'x-forwarded-proto': protocol.slice(0, -1),
    });
    const cookies = (request.headers.cookie ?? '')
      .split(';')
      .filter(cookie => !cookie.trim().startsWith(COOKIES.session));
    request.headers.cookie = cookies.join(';');
    ctx.respond = false;
    await handle(request, ctx.res);
    const code = codeOf(ctx.res.statusCode);
    if (code) ctx.state.code = code;
  };
}
