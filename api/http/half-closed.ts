// What happens when a client has sent its last byte while answers are due: it may be waiting for them, or be gone.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Most answers are there before. A client that is gone is noticed by the second probe, after 60 ms. */
const FIRST_PROBE_MS = 20;

/** HTTP/1.0 has no interim answers, and nothing can be inserted into a stream that has begun. */
const cannotBeProbed = (response: ServerResponse) =>
  response.req.httpVersion === '1.0' ||
  (response.headersSent && String(response.getHeader('Content-Type')).startsWith('text/event-stream'));

/**
 * TCP reports both cases alike until something is written: the computer of a client that is gone answers with a reset, by which
 * the next write fails. So `100 Continue` is written, which clients of HTTP/1.1 skip (RFC 9110 section 15.2), at intervals that
 * double: 12 times in a minute. It is the interim answer that is known best; Python's `http.client` takes no other.
 *
 * `due` returns the answers that have not ended, oldest first. A client that cannot be asked counts as gone.
 */
export function probeHalfClosed(socket: Socket, due: () => ServerResponse[]): void {
  if (due().some(cannotBeProbed)) {
    socket.end();
    return;
  }
  const probe = (nextMs: number) => {
    const [response] = due();
    if (!response) return;
    // The writes of an answer that has begun serve as well.
    if (!response.headersSent) response.writeContinue();
    timer = setTimeout(probe, nextMs, 2 * nextMs);
  };
  let timer = setTimeout(probe, FIRST_PROBE_MS, 2 * FIRST_PROBE_MS);
  socket.once('close', () => clearTimeout(timer));
}
