// Asynchronous renders over HTTP, for the tests of an installation.
import type { AsyncRender } from '../../common/contract/async-renders.ts';
import type { Batch } from '../../common/contract/batches.ts';
import { type Call, httpCall } from './http-call.ts';

export interface AsyncClient {
  call(method: string, path: string, body?: unknown): Call;
  /** Submits a render. Throws when it is not accepted. */
  submit(body: unknown): Promise<AsyncRender>;
  read(id: string): Promise<AsyncRender>;
  /** Polls with `wait` until the render has ended. */
  end(id: string): Promise<AsyncRender>;
}

export function asyncClient(port: number, key: string): AsyncClient {
  const call: AsyncClient['call'] = (method, path, body) =>
    httpCall(
      port,
      method,
      `/v1/renders${path}`,
      {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body === undefined ? undefined : JSON.stringify(body),
    );
  const parsed = async (answer: Call, status: number): Promise<AsyncRender> => {
    const { status: got, body } = await answer;
    if (got !== status) throw new Error(`${got} ${body}`);
    return JSON.parse(body.toString());
  };
  return {
    call,
    submit: body => parsed(call('POST', '', body), 202),
    read: id => parsed(call('GET', `/${id}`), 200),
    async end(id) {
      for (;;) {
        const render = await parsed(call('GET', `/${id}?wait=20s`), 200);
        if (!['queued', 'running'].includes(render.status)) return render;
      }
    },
  };
}

export interface BatchClient {
  call(method: string, path: string): Call;
  /** The body of a successful response. */
  read<T>(path: string, method?: string): Promise<T>;
  /** Sends a batch, by default as lines. */
  post(body: string | Buffer, type?: string): Call;
  /** The same. Throws when it is not accepted. */
  submit(body: string | Buffer, type?: string): Promise<Batch>;
}

export function batchClient(port: number, key: string): BatchClient {
  const headers = { authorization: `Bearer ${key}` };
  const parsed = async (answer: Call) => {
    const { status, body } = await answer;
    if (status >= 300) throw new Error(`${status} ${body}`);
    return JSON.parse(body.toString());
  };
  const client: BatchClient = {
    call: (method, path) => httpCall(port, method, path, headers),
    read: (path, method = 'GET') => parsed(client.call(method, path)),
    post: (body, type = 'application/x-ndjson') =>
      httpCall(port, 'POST', '/v1/batches', { ...headers, 'content-type': type }, body),
    submit: (body, type) => parsed(client.post(body, type)),
  };
  return client;
}
