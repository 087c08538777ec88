// An HTTP client with a cookie jar that submits forms like a browser and follows no redirects.
import { type Answer, httpCall } from './http-call.ts';

export interface PageAnswer extends Answer {
  html: string;
  /** The `Set-Cookie` header of each cookie in the response, by name. */
  set: Map<string, string>;
  location: string | undefined;
}

export interface CookieClient {
  cookies: Map<string, string>;
  get(path: string, headers?: Record<string, string>): Promise<PageAnswer>;
  /** Sends `fields` as a form, or a string as the body. */
  post(
    path: string,
    fields: Record<string, string> | string,
    headers?: Record<string, string>,
  ): Promise<PageAnswer>;
  /** Sends a request to the management API with the cookies. */
  api(method: string, path: string, body?: unknown): Promise<Answer>;
}

export const SESSION = '__Host-pressroom-session';
export const SECOND_FACTOR = '__Host-pressroom-second-factor';
export const DEVICE = '__Host-pressroom-device';

/** `ip`: the client address that a trusted proxy forwards. */
export function cookieClient(port: number, { ip }: { ip?: string } = {}): CookieClient {
  const cookies = new Map<string, string>();

  async function send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<PageAnswer> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const sent = {
      'sec-fetch-site': 'same-origin',
      ...(cookie && { cookie }),
      ...(ip && { 'x-forwarded-for': ip }),
      ...headers,
    };
    const answer = await httpCall(port, method, path, sent, body);
    const set = new Map<string, string>();
    for (const line of (answer.headers['set-cookie'] as unknown as string[] | undefined) ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      set.set(name!, line);
      if (/Max-Age=0(;|$)/.test(line)) cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    return Object.assign(answer, {
      html: answer.body.toString(),
      set,
      location: answer.headers['location'],
    });
  }

  return {
    cookies,
    get: (path, headers = {}) => send('GET', path, headers),
    post: (path, fields, headers = {}) => {
      const body = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString();
      return send(
        'POST',
        path,
        { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body,
      );
    },
    api: (method, path, body) => {
      if (body === undefined) return send(method, `/console/v1${path}`, {});
      const text = JSON.stringify(body);
      // Node sends no Content-Length with a DELETE by default.
      const headers = {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
      };
      return send(method, `/console/v1${path}`, headers, text);
    },
  };
}
