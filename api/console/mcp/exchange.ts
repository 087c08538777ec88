// Converts between Koa and the SDK, which uses fetch's Request and Response. Sets the error code of
// the log.
import type { ErrorCode } from '../../../common/contract/errors.ts';
import { ClientClosed } from '../../http/errors.ts';
import { sendPieces } from '../../http/send-pieces.ts';
import type { Context } from '../../http/state.ts';

const STREAM = 'text/event-stream';
const BOTH = `application/json, ${STREAM}`;
/** The protocol requires both types; many clients send one of them, a wildcard, or nothing. */
const ACCEPTS_ONE = /^$|application\/(json|\*)|\*\/\*|text\/event-stream/i;

/** A client that does not name the type may not be able to read it. */
const acceptsStream = (ctx: Context) => ctx.get('Accept').toLowerCase().includes(STREAM);

/** The protocol's headers, without the token. */
export function headersOf(ctx: Context): Headers {
  const accept = ctx.get('Accept');
  const headers = new Headers({
    'content-type': 'application/json',
    accept: ACCEPTS_ONE.test(accept) ? BOTH : accept,
  });
  for (const [name, value] of Object.entries(ctx.headers))
    if (typeof value === 'string' && name.startsWith('mcp-')) headers.set(name, value);
  return headers;
}

type Fields = Partial<Record<'method' | 'id' | 'params' | 'requestId', unknown>>;

/** The fields of a message or of its parameters; empty unless it is an object. */
export const message = (body: unknown): Fields =>
  typeof body === 'object' && body !== null ? body : {};

function codeOf(status: number): ErrorCode {
  if (status >= 500) return 'internal';
  if (status === 404) return 'not_found';
  return 'validation_error';
}

/** The response without the notifications before it; undefined when the stream has none. */
async function lastMessageOf(response: Response): Promise<string | undefined> {
  const lines = (await response.text()).split('\n').filter(line => line.startsWith('data: '));
  return lines.at(-1)?.slice('data: '.length);
}

async function asJson(response: Response): Promise<Response> {
  const text = await lastMessageOf(response);
  // Only an aborted call ends so.
  if (text === undefined) throw new ClientClosed();
  const headers = new Headers(response.headers);
  headers.set('content-type', 'application/json');
  return new Response(text, { status: response.status, headers });
}

async function send({ res }: Context, { status, headers, body }: Response): Promise<void> {
  res.statusCode = status;
  for (const [name, value] of headers) res.setHeader(name, value);
  if (!body) res.end();
  else await sendPieces(res, body);
}

/**
 * Streams the response within the middleware. Koa writes after its middleware has ended, when the
 * request's memory reservation is already released.
 */
export async function write(ctx: Context, response: Response): Promise<void> {
  ctx.respond = false;
  // The SDK rejected the message before any of our code ran.
  if (response.status >= 400) ctx.state.code = codeOf(response.status);
  const streams = response.headers.get('content-type')?.startsWith(STREAM);
  await send(ctx, streams && !acceptsStream(ctx) ? await asJson(response) : response);
}
