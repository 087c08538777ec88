// Sends a response in pieces, as fast as the client reads. Owns the limit for a client that does
// not read.
import type { ServerResponse } from 'node:http';
import type { Log } from '../../common/log.ts';
import { ClientClosed } from './errors.ts';
import type { Context } from './state.ts';

/** The same limit as the server's for a whole response. */
const UNREAD_MS = 30_000;
/**
 * What must be read in that time. A slow line cannot take a piece of many megabytes.
 */
const PART_BYTES = 256 * 1_024;

/** False when the client disconnected or does not read. */
const drained = (res: ServerResponse): Promise<boolean> =>
  new Promise(resolve => {
    const end = (took: boolean) => {
      clearTimeout(unread);
      res.off('drain', onDrain).off('close', onClose);
      resolve(took);
    };
    const onDrain = () => end(true);
    const onClose = () => end(false);
    const unread = setTimeout(end, UNREAD_MS, false);
    res.once('drain', onDrain).once('close', onClose);
  });

async function send(res: ServerResponse, piece: Uint8Array): Promise<void> {
  for (let from = 0; from < piece.length; from += PART_BYTES) {
    if (res.destroyed) throw new ClientClosed();
    if (!res.write(piece.subarray(from, from + PART_BYTES)) && !(await drained(res)))
      throw new ClientClosed();
  }
}

/**
 * Ends the response after the last piece. Throws ClientClosed when the client does not read it, and
 * any error of `pieces`.
 */
export async function sendPieces(
  res: ServerResponse,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  for await (const piece of pieces) await send(res, piece);
  if (res.destroyed) throw new ClientClosed();
  res.end();
}

async function* startingWith(
  first: IteratorResult<Buffer, void>,
  rest: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  if (!first.done) yield first.value;
  yield* rest;
}

/**
 * Answers with a stored PDF. The first piece is read before `describe` sets the status and the
 * headers, so that a failure of the database still gets an error response.
 */
export async function sendStoredPdf(
  ctx: Context,
  pieces: AsyncGenerator<Buffer, void>,
  describe: () => void,
  log: Log,
): Promise<void> {
  const first = await pieces.next();
  describe();
  ctx.respond = false;
  try {
    await sendPieces(ctx.res, startingWith(first, pieces));
  } catch (error) {
    if (!(error instanceof ClientClosed))
      log.warn({ reason: (error as Error).message }, 'could not send a stored PDF completely');
    // The response has started, so only a closed connection can report the failure.
    throw new ClientClosed();
  }
}
