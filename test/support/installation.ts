// A whole installation of a test's own in the test's process: API and workers with real Chrome, on
// the shared mongod, with one account and its key.
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

const PEPPER = 'a pepper of the tests';

export type { Answer, Call };

export interface Installation {
  url: string;
  /** Of the database. */
  uri: string;
  key: string;
  account: string;
  accounts: Accounts;
  store: Store;
  api: Api;
  worker: TestWorker;
  workers: TestWorker[];
  metrics: Metrics;
  /** POST /v1/render with the account's key. */
  render(body: unknown, headers?: Record<string, string>): Call;
  /** The PDF of a render; rejects with the answer when it is something else. */
  pdf(body: unknown): Promise<Buffer>;
  /** The status and the error of a render that must not succeed. */
  renderError(body: unknown): Promise<{ status: number } & ReturnType<Answer['error']>>;
  call(
    method: string,
    path: string,
    headers?: Record<string, string>,
    body?: string | Buffer,
  ): Call;
  /** The account's count in this month. */
  usage(): Promise<number>;
  running(): Promise<number>;
  stop(): Promise<boolean>;
}

interface Options {
  workers?: number;
  /** The environment of API and workers, over the tests' defaults. */
  env?: Record<string, string>;
  plan?: string;
  intranet?: boolean;
  log?: Log;
  /** The database of another installation, to be one more API process of it. */
  uri?: string;
  /** Answers with the documents in which apps describe themselves. */
  clientFetch?: ApiOptions['clientFetch'];
}

/** A whole HTML document. */
export const html = (body: string, head = '') =>
  `<!doctype html><html><head><meta charset="utf-8"><title>T</title>${head}</head><body>${body}</body></html>`;

export async function installation({
  workers: wanted = 1,
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
        PRESSROOM_PEPPER: PEPPER,
        PRESSROOM_POOL_SECRET: TEST_SECRET,
        MONGODB_URI: uri,
        PRESSROOM_WORKERS: addresses.join(','),
        ...env,
      }),
    );
  // what is wrong with `env` is said before a Chrome runs that nobody would end
  configFor(['ws://127.0.0.1:1']);
  const workers = await Promise.all(Array.from({ length: wanted }, () => startWorker(env, log)));
  const config = configFor(workers.map(({ address }) => address));
  const metrics = createMetrics({ processDefaults: false });
  const api = createApi(config, log, metrics, { clientFetch });
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
      if (answer.status === 200) throw new Error('it was not refused');
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
