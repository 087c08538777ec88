// Handles clients that close their half of a connection while responses are pending: they may be
// waiting for them, or be gone.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Most responses end before. The second probe, after 60 ms, detects a client that is gone. */
const FIRST_PROBE_MS = 20;

/** HTTP/1.0 has no interim responses, and nothing can be inserted into a stream that has begun. */
const cannotBeProbed = (response: ServerResponse) =>
  response.req.httpVersion === '1.0' ||
  (response.headersSent &&
    String(response.getHeader('Content-Type')).startsWith('text/event-stream'));

/**
 * TCP reports both cases alike until something is written: the host of a client that is gone
 * answers with a reset, and the next write fails. So `100 Continue`, which HTTP/1.1 clients skip
 * (RFC 9110 section 15.2), is written at intervals that double: 12 times in a minute. Python's
 * `http.client` accepts no other interim response.
 *
 * `due` returns the responses that have not ended, oldest first. A client that cannot be probed
 * counts as gone.
 */
export function probeHalfClosed(socket: Socket, due: () => ServerResponse[]): void {
  if (due().some(cannotBeProbed)) {
    socket.end();
    return;
  }
  const probe = (nextMs: number) => {
    const [response] = due();
    if (!response) return;
    // The writes of a response that has begun have the same effect.
    if (!response.headersSent) response.writeContinue();
    timer = setTimeout(probe, nextMs, 2 * nextMs);
  };
  let timer = setTimeout(probe, FIRST_PROBE_MS, 2 * FIRST_PROBE_MS);
  socket.once('close', () => clearTimeout(timer));
}
