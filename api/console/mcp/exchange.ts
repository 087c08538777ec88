// Between Koa and the SDK, which speaks in fetch's requests and responses: what of the one goes
// into the other, and what the log learns of it.
import type { ErrorCode } from '../../../common/contract/errors.ts';
import { ClientClosed } from '../../http/client-disconnect.ts';
import { sendPieces } from '../../http/send-pieces.ts';
import type { Context } from '../../http/state.ts';

const STREAM = 'text/event-stream';
const BOTH = `application/json, ${STREAM}`;
/** The protocol wants both kinds named; many clients name one of them, anything, or nothing. */
const TAKES_ONE = /^$|application\/(json|\*)|\*\/\*|text\/event-stream/i;

/** Whoever does not name it may not be able to read it. */
const takesStream = (ctx: Context) => ctx.get('Accept').toLowerCase().includes(STREAM);

/** What the protocol says in headers. The token stays here. */
export function headersOf(ctx: Context): Headers {
  const accept = ctx.get('Accept');
  const headers = new Headers({
    'content-type': 'application/json',
    accept: TAKES_ONE.test(accept) ? BOTH : accept,
  });
  for (const [name, value] of Object.entries(ctx.headers))
    if (typeof value === 'string' && name.startsWith('mcp-')) headers.set(name, value);
  return headers;
}

type Words = Partial<Record<'method' | 'id' | 'params' | 'requestId', unknown>>;

/** A message, or the parameters of one, whatever was sent as such. */
export const message = (body: unknown): Words =>
  typeof body === 'object' && body !== null ? body : {};

function codeOf(status: number): ErrorCode {
  if (status >= 500) return 'internal';
  if (status === 404) return 'not_found';
  return 'validation_error';
}

/** The answer alone, without the notices before it. Undefined when the stream ended without one. */
async function lastMessageOf(response: Response): Promise<string | undefined> {
  const lines = (await response.text()).split('\n').filter(line => line.startsWith('data: '));
  return lines.at(-1)?.slice('data: '.length);
}

async function asJson(response: Response): Promise<Response> {
  const text = await lastMessageOf(response);
  // Only a call that was given up ends so.
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
 * Writes the answer while it comes. Koa writes after its middleware has ended, and what the request
 * holds of the memory would be given back before.
 */
export async function write(ctx: Context, response: Response): Promise<void> {
  ctx.respond = false;
  // What the SDK refuses never was a call of ours.
  if (response.status >= 400) ctx.state.code = codeOf(response.status);
  const streams = response.headers.get('content-type')?.startsWith(STREAM);
  await send(ctx, streams && !takesStream(ctx) ? await asJson(response) : response);
}
