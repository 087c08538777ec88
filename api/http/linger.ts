// Sends a response to a client that is still sending: the response goes out at once, then the rest
// of the request is read and discarded for a limited time.
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/**
 * Closing a socket with unread bytes resets the connection, and the client loses the response. So
 * the rest is read, within these limits. Many clients read only after they have sent everything.
 */
const MAX_BYTES = 10 * 2 ** 20;
const SILENT_MS = 2_000;
const MAX_MS = 30_000;
const SMALL_BYTES = 64 * 2 ** 10;

/** Whether a body was announced that has not arrived completely. */
export const stillSending = (request: IncomingMessage): boolean =>
  !request.complete &&
  (request.headers['transfer-encoding'] !== undefined ||
    Number(request.headers['content-length'] ?? 0) > 0);

/**
 * Whether reading the announced body costs less than a new connection, which the client would need
 * for its next request.
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
