// Sends an answer piece by piece, as fast as its reader takes it. Owns how long a reader may take
// nothing.
import type { ServerResponse } from 'node:http';
import { ClientClosed } from './errors.ts';

/** As long as the server waits for the reader of a whole answer. */
const UNREAD_MS = 30_000;
/**
 * What must be taken in that time: all of a piece of many megabytes is more than a slow line takes.
 */
const PART_BYTES = 256 * 1_024;

/** False when the reader went away or takes nothing. */
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
 * Ends the answer after the last piece. Throws ClientClosed when nobody reads it, and whatever
 * `pieces` throws.
 */
export async function sendPieces(
  res: ServerResponse,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  for await (const piece of pieces) await send(res, piece);
  if (res.destroyed) throw new ClientClosed();
  res.end();
}
