// Clients with large bodies: send in pieces while reading, and stop when the response has arrived.
import { request } from 'node:http';
import { Readable } from 'node:stream';
import type { Answer } from '../support/http-call.ts';

const PIECE_BYTES = 64 * 1024;

function* inPieces(body: Buffer): Generator<Buffer> {
  for (let from = 0; from < body.length; from += PIECE_BYTES)
    yield body.subarray(from, from + PIECE_BYTES);
}

/**
 * POST /v1/render. Rejects when the connection breaks before the response is complete. `chunked`:
 * without Content-Length.
 */
export function send(
  port: number,
  key: string | undefined,
  body: Buffer | Iterable<Buffer>,
  { chunked = !Buffer.isBuffer(body) } = {},
): Promise<Answer> {
  const headers = {
    'content-type': 'application/json',
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(Buffer.isBuffer(body) && !chunked && { 'content-length': body.length }),
  };
  return new Promise((resolve, reject) => {
    const source = Readable.from(Buffer.isBuffer(body) ? inPieces(body) : body);
    const outgoing = request(
      { host: '127.0.0.1', port, method: 'POST', path: '/v1/render', headers, agent: false },
      async response => {
        try {
          const pieces: Buffer[] = [];
          for await (const piece of response) pieces.push(piece);
          const whole = Buffer.concat(pieces);
          resolve({
            status: response.statusCode!,
            headers: response.headers as Record<string, string>,
            body: whole,
            error: () => JSON.parse(whole.toString()).error,
          });
        } catch (error) {
          reject(error);
        }
        source.destroy();
        outgoing.destroy();
      },
    );
    outgoing.on('error', reject);
    source.pipe(outgoing);
  });
}

/** Counts the outcomes: status with the error's reason or code, or the error of the connection. */
export async function ends(answers: Promise<Answer>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const outcomes = answers.map(answer =>
    answer.then(
      ({ status, error }) =>
        status === 200 ? '200' : `${status} ${error().reason ?? error().code}`,
      error => `broken: ${error.message}`,
    ),
  );
  for (const end of await Promise.all(outcomes)) counts[end] = (counts[end] ?? 0) + 1;
  return counts;
}
