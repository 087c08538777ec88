// One HTTP call to Pressroom as a customer makes it: a connection of its own, the whole answer, and
// a way to hang up.
import { type Agent, request as httpRequest } from 'node:http';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** The error object of the envelope; throws when the body is something else. */
  error(): { code: string; message: string; request_id: string; reason?: string };
}

export interface Call extends Promise<Answer> {
  /** The status and the headers, which come before the body. Rejects as the whole does. */
  readonly head: Promise<Pick<Answer, 'status' | 'headers'>>;
  /** The caller goes away without waiting for the answer. */
  disconnect(): void;
}

/**
 * Sends and reads the answer to its end; rejects when the connection breaks before that. With an
 * agent the connection may be one that it keeps.
 */
export function httpCall(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string | Buffer,
  agent: Agent | false = false,
): Call {
  const leaving = new AbortController();
  const head = Promise.withResolvers<Pick<Answer, 'status' | 'headers'>>();
  head.promise.catch(() => {}); // few look at it, and the whole says the same
  const answer = new Promise<Answer>((resolve, reject) => {
    const fail = (error: Error) => {
      head.reject(error);
      reject(error);
    };
    const outgoing = httpRequest(
      { host: '127.0.0.1', port, method, path, headers, signal: leaving.signal, agent },
      async response => {
        head.resolve({
          status: response.statusCode!,
          headers: response.headers as Record<string, string>,
        });
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
          fail(error as Error);
        }
      },
    );
    outgoing.on('error', fail);
    outgoing.end(body);
  });
  return Object.assign(answer, { head: head.promise, disconnect: () => leaving.abort() });
}

/** A render with a key; `body` is the request's JSON, as a value or as a text. */
export const renderCall = (
  port: number,
  key: string,
  body: unknown,
  headers: Record<string, string> = {},
  agent: Agent | false = false,
): Call =>
  httpCall(
    port,
    'POST',
    '/v1/render',
    { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    typeof body === 'string' ? body : JSON.stringify(body),
    agent,
  );
