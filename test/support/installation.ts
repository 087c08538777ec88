// An installation in the process of the test: API and workers with real Chrome, a database on the
// shared mongod, and one account with an API key.
import { randomUUID } from 'node:crypto';
import { Accounts } from '../../api/accounts/accounts.ts';
import { type Api, type ApiOptions, complete, createApi } from '../../api/api.ts';
import { readApiConfig } from '../../api/config.ts';
import { connectStore, type Store } from '../../api/store/store.ts';
import { createLifecycle } from '../../common/lifecycle.ts';
import { type Log, silentLog } from '../../common/log.ts';
import { createMetrics, type Metrics } from '../../common/operations.ts';
import { type Answer, type Call, httpCall, renderCall } from './http-call.ts';
import { testDatabase } from './servers/mongod.ts';
import { startWorker, TEST_SECRET, type TestWorker } from './worker.ts';

export const TEST_PEPPER = 'a pepper of the tests';
/** Tests read rows of the render log after each render. */
const RENDER_LOG_MS = 50;

export type { Answer, Call };

export interface Installation {
  url: string;
  /** The connection string of the database. */
  uri: string;
  key: string;
  account: string;
  accounts: Accounts;
  store: Store;
  api: Api;
  worker: TestWorker;
  workers: TestWorker[];
  metrics: Metrics;
  /** Sends POST /v1/render with the key of the account. */
  render(body: unknown, headers?: Record<string, string>): Call;
  /** Returns the PDF of a render. Rejects when the render fails. */
  pdf(body: unknown): Promise<Buffer>;
  /** Returns the status and error of a render. Rejects when the render succeeds. */
  renderError(body: unknown): Promise<{ status: number } & ReturnType<Answer['error']>>;
  call(
    method: string,
    path: string,
    headers?: Record<string, string>,
    body?: string | Buffer,
  ): Call;
  /** The usage of the account in the current billing period. */
  usage(): Promise<number>;
  running(): Promise<number>;
  stop(): Promise<boolean>;
}

interface Options {
  workers?: number;
  /** Environment variables of API and workers; they override the defaults of the tests. */
  env?: Record<string, string>;
  plan?: string;
  intranet?: boolean;
  log?: Log;
  /** The database of another installation, to add an API process to it. */
  uri?: string;
  /** Stub for fetching client metadata documents. */
  clientFetch?: ApiOptions['clientFetch'];
}

/** A complete HTML document. */
export const html = (body: string, head = '') =>
  `<!doctype html><html><head><meta charset="utf-8"><title>T</title>${head}</head><body>${body}</body></html>`;

export async function installation({
  workers: workerCount = 1,
  env = {},
  plan = 'scale',
  intranet = false,
  log = silentLog,
  uri: shared,
  clientFetch,
}: Options = {}): Promise<Installation> {
  const uri = shared ?? (await testDatabase()).uri;
  const configFor = (addresses: string[]) =>
    complete(
      readApiConfig({
        PRESSROOM_HOST: '127.0.0.1',
        PRESSROOM_PORT: '0',
        PRESSROOM_PUBLIC_URL: 'http://localhost:8080',
        PRESSROOM_DRAIN_DELAY: '0s',
        PRESSROOM_PEPPER: TEST_PEPPER,
        PRESSROOM_POOL_SECRET: TEST_SECRET,
        MONGODB_URI: uri,
        PRESSROOM_WORKERS: addresses.join(','),
        ...env,
      }),
    );
  // Validates `env` before a Chrome starts, which would be leaked after an error.
  configFor(['ws://127.0.0.1:1']);
  const workers = await Promise.all(
    Array.from({ length: workerCount }, () => startWorker(env, log)),
  );
  const config = configFor(workers.map(({ address }) => address));
  const metrics = createMetrics({ processDefaults: false });
  const api = createApi(config, log, metrics, {
    clientFetch,
    renderLog: { flushEveryMs: RENDER_LOG_MS },
  });
  const store = connectStore({ uri, operationTimeoutMs: 5_000 }, log);
  const lifecycle = createLifecycle(log, 10_000, [store, ...api.services]);
  await lifecycle.start();
  const accounts = new Accounts(store, config);
  const account = `test ${randomUUID()}`;
  await accounts.createAccount(account, { plan, intranet });
  const { text: key } = await accounts.createKey(account, { name: 'test' });
  const port = api.port();
  const own = async () => (await accounts.listAccounts()).find(({ name }) => name === account)!;
  const call: Installation['call'] = (method, path, headers, body) =>
    httpCall(port, method, path, headers, body);
  const render: Installation['render'] = (body, headers) => renderCall(port, key, body, headers);
  return {
    url: `http://127.0.0.1:${port}`,
    uri,
    key,
    account,
    accounts,
    store,
    api,
    worker: workers[0]!,
    workers,
    metrics,
    call,
    render,
    pdf: async body => {
      const answer = await render(body);
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`);
      return answer.body;
    },
    renderError: async body => {
      const answer = await render(body);
      if (answer.status === 200) throw new Error('the render succeeded');
      return { status: answer.status, ...answer.error() };
    },
    usage: async () => (await own()).usage,
    running: async () => (await own()).running,
    stop: async () => {
      const clean = await lifecycle.stop();
      const ends = await Promise.all(workers.map(worker => worker.stop()));
      return clean && ends.every(Boolean);
    },
  };
}
