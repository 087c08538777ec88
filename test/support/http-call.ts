// An HTTP request on a new connection that reads the whole response and can disconnect.
import { type Agent, request as httpRequest } from 'node:http';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** The error object. Throws when the body is not an error. */
  error(): { code: string; message: string; request_id: string; reason?: string };
}

export interface Call extends Promise<Answer> {
  /** Status and headers, which arrive before the body. Rejects when the call rejects. */
  readonly head: Promise<Pick<Answer, 'status' | 'headers'>>;
  /** Closes the connection without waiting for the response. */
  disconnect(): void;
}

/**
 * Sends a request and reads the response to its end. Rejects when the connection breaks before
 * that. An agent may reuse a connection.
 */
export function httpCall(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string | Buffer,
  agent: Agent | false = false,
): Call {
  const connection = new AbortController();
  const head = Promise.withResolvers<Pick<Answer, 'status' | 'headers'>>();
  head.promise.catch(() => {}); // most tests await only the whole call, which rejects too
  const answer = new Promise<Answer>((resolve, reject) => {
    const fail = (error: Error) => {
      head.reject(error);
      reject(error);
    };
    const outgoing = httpRequest(
      { host: '127.0.0.1', port, method, path, headers, signal: connection.signal, agent },
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
  return Object.assign(answer, { head: head.promise, disconnect: () => connection.abort() });
}

/** Sends a render request with an API key. `body` is a value or JSON text. */
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
