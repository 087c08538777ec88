// How an answer reaches a caller who is still sending: it goes out at once, then what still comes
// is read and thrown away for a while.
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/**
 * Closing with unread bytes in the kernel resets the connection, and the caller loses the answer:
 * so the rest is read, within these bounds. Many clients read only when they have sent everything,
 * and on a slow line that takes its time: a connection on which something still comes is worth
 * waiting for.
 */
const MAX_BYTES = 10 * 2 ** 20;
const SILENT_MS = 2_000;
const MAX_MS = 30_000;
const SMALL_BYTES = 64 * 2 ** 10;

/** Whether a body was announced that has not arrived as a whole. */
export const stillSending = (request: IncomingMessage): boolean =>
  !request.complete &&
  (request.headers['transfer-encoding'] !== undefined ||
    Number(request.headers['content-length'] ?? 0) > 0);

/**
 * Whether a body is announced that costs less to read than a new connection does, which a refused
 * caller who comes again would need.
 */
export const isSmall = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length']) <= SMALL_BYTES;

/**
 * A stream of `answer` whose end comes when the request has ended, or the bounds are reached. To be
 * sent with its exact Content-Length.
 */
export function lingering(request: IncomingMessage, answer: Buffer): Readable {
  const stream = new Readable({ read: () => {} });
  let left = MAX_BYTES;
  const count = (chunk: Buffer) => {
    silent.refresh();
    left -= chunk.length;
    if (left <= 0) end();
  };
  const end = () => {
    clearTimeout(silent);
    clearTimeout(total);
    request.off('data', count).off('end', end).off('close', end);
    stream.push(null);
  };
  const silent = setTimeout(end, SILENT_MS);
  const total = setTimeout(end, MAX_MS);
  stream.push(answer);
  request.on('data', count).once('end', end).once('close', end).resume();
  return stream;
}
