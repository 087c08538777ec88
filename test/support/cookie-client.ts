// A browser as far as forms need one: it keeps cookies, sends forms as browsers do, and follows
// nothing by itself.
import { type Answer, httpCall } from './http-call.ts';

export interface PageAnswer extends Answer {
  html: string;
  /** The whole `Set-Cookie` of each cookie that this answer set, by its name. */
  set: Map<string, string>;
  location: string | undefined;
}

export interface CookieClient {
  cookies: Map<string, string>;
  get(path: string, headers?: Record<string, string>): Promise<PageAnswer>;
  /** `fields` as a form, or a body as it is. */
  post(
    path: string,
    fields: Record<string, string> | string,
    headers?: Record<string, string>,
  ): Promise<PageAnswer>;
  /** A call of the management API with the visitor's cookies. */
  api(method: string, path: string, body?: unknown): Promise<Answer>;
}

export const SESSION = '__Host-pressroom-session';
export const SECOND_FACTOR = '__Host-pressroom-second-factor';
export const DEVICE = '__Host-pressroom-device';

/** `ip`: what a proxy that is trusted says of it. */
export function cookieClient(port: number, { ip }: { ip?: string } = {}): CookieClient {
  const cookies = new Map<string, string>();

  async function visit(
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
    get: (path, headers = {}) => visit('GET', path, headers),
    post: (path, fields, headers = {}) => {
      const body = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString();
      return visit(
        'POST',
        path,
        { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body,
      );
    },
    api: (method, path, body) => {
      if (body === undefined) return visit(method, `/console/v1${path}`, {});
      const text = JSON.stringify(body);
      // Node announces no length for a DELETE by itself.
      const headers = {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
      };
      return visit(method, `/console/v1${path}`, headers, text);
    },
  };
}
