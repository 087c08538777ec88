// A whole installation of real processes on loopback for one scenario: MongoDB, API processes,
// workers with Chrome, and, when asked for, a link between any two of them.
import { randomUUID } from 'node:crypto';
import { Accounts } from '../../../api/accounts/accounts.ts';
import { parsePlans } from '../../../api/accounts/plans.ts';
import { type AccountDocument, connectStore } from '../../../api/store/store.ts';
import { silentLog } from '../../../common/log.ts';
import { eventually } from '../../support/eventually.ts';
import { type Call, renderCall } from '../../support/http-call.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { type Link, openLink } from './link.ts';
import { ownPort } from './ports.ts';
import { type PressroomProcess, startPressroom } from './pressroom-process.ts';
import { type ProbePages, startProbePages } from './probe-pages.ts';
import { untilAllReady } from './worker-look.ts';

const PEPPER = 'a pepper of the scenarios';
/** Turns on the dashboard, and with it the render log. */
const DASHBOARD_SECRET = 'a secret of the scenarios';
/** The time limit on a busy machine. */
const START_MS = 180_000;
const POOL_SECRET = 'a pool secret of the scenarios';

/** An API or a worker: a process that can be replaced by another one. */
export interface Replica {
  readonly port: number;
  readonly process: PressroomProcess;
  /**
   * Starts a process in place of one that has ended; resolves when it is ready. `root`: of the code
   * of another version.
   */
  start(env?: Record<string, string>, root?: string): Promise<void>;
}

export interface ApiReplica extends Replica {
  /** With `links`: to each worker, in their order, and to MongoDB. */
  readonly toWorkers: Link[];
  readonly toMongod: Link | undefined;
}

export interface DeploymentAccount {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  read(): Promise<AccountDocument>;
  usage(): Promise<number>;
  /** Unexpired leases by the server's clock. */
  leases(): Promise<number>;
}

export interface Deployment {
  readonly cluster: Cluster;
  readonly probePages: ProbePages;
  readonly apis: ApiReplica[];
  readonly workers: Replica[];
  readonly accounts: DeploymentAccount[];
  /** A new account whose pages may reach the probe pages. */
  account(plan?: string): Promise<DeploymentAccount>;
  /** A render at one of the API processes, by default each in turn. */
  render(account: DeploymentAccount, body: unknown, api?: ApiReplica): Call;
  /** Starts another API process; resolves when it is ready. */
  addApi(env?: Record<string, string>): Promise<ApiReplica>;
  /** Rejects when a process has written a key, the pepper or the pool secret to its log. */
  stop(): Promise<void>;
}

export interface DeploymentOptions {
  apis?: number;
  workers?: number;
  slots?: number;
  /** Members of the MongoDB replica set. Links to MongoDB exist only with one. */
  members?: 1 | 3;
  /** MongoDB's data folder (default: a temporary folder). */
  dataDir?: string;
  links?: boolean;
  /** Overrides the defaults of the scenarios. */
  api?: Record<string, string>;
  worker?: Record<string, string>;
}

/** The log lines of the processes that contain one of the texts. */
export const linesWith = (
  processes: readonly PressroomProcess[],
  secrets: readonly string[],
): string[] =>
  processes.flatMap(({ name, log }) =>
    log
      .map(line => `${name}: ${JSON.stringify(line)}`)
      .filter(line => secrets.some(secret => line.includes(secret))),
  );

/** Stops the parts of a failed start, since a scenario without a deployment cannot. */
export async function startDeployment(options: DeploymentOptions = {}): Promise<Deployment> {
  const ends: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    await Promise.all(ends.splice(0).map(end => end()));
  };
  try {
    return await build(options, end => ends.push(end), stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Each part registers its end with `atEnd`. */
async function build(
  options: DeploymentOptions,
  atEnd: (end: () => Promise<unknown>) => void,
  stop: () => Promise<void>,
): Promise<Deployment> {
  const {
    apis: wantedApis = 2,
    workers: wantedWorkers = 2,
    slots = 2,
    members = 1,
    links = false,
    dataDir,
  } = options;
  const cluster = await startCluster({ size: members, ...(dataDir !== undefined && { dataDir }) });
  atEnd(cluster.stop);
  const probePages = await startProbePages();
  atEnd(probePages.close);
  const shared = {
    PRESSROOM_POOL_SECRET: POOL_SECRET,
    PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${probePages.port}`,
    PRESSROOM_LOG_LEVEL: 'info',
  };
  const linkTo = async (target: number, frames: 'websocket' | 'mongodb') => {
    const link = await openLink(target, frames);
    atEnd(link.close);
    return link;
  };

  const everyProcess: PressroomProcess[] = [];

  async function replica(
    kind: 'api' | 'worker',
    name: string,
    env: Record<string, string>,
  ): Promise<Replica> {
    const [port, operationsPort] = [await ownPort(), await ownPort()];
    const own =
      kind === 'api' ? { PRESSROOM_PORT: String(port) } : { PRESSROOM_GATEWAY_PORT: String(port) };
    const start = (more: Record<string, string> = {}, root?: string) => {
      const variables = { ...shared, ...own, ...env, ...options[kind], ...more };
      const started = startPressroom(kind, name, operationsPort, variables, root);
      everyProcess.push(started);
      return started;
    };
    let process = start();
    atEnd(() => process.kill());
    return {
      port,
      get process() {
        return process;
      },
      start: async (more, root) => {
        await process.exited;
        process = start(more, root);
        await process.untilReady();
      },
    };
  }

  const workers = await Promise.all(
    Array.from({ length: wantedWorkers }, (_, index) =>
      replica('worker', `worker ${index + 1}`, {
        PRESSROOM_GATEWAY_HOST: '127.0.0.1',
        PRESSROOM_SLOTS: String(slots),
      }),
    ),
  );
  const apis: ApiReplica[] = [];

  async function addApi(env: Record<string, string> = {}): Promise<ApiReplica> {
    const toWorkers = links
      ? await Promise.all(workers.map(({ port }) => linkTo(port, 'websocket')))
      : [];
    const toMongod =
      links && members === 1 ? await linkTo(cluster.members[0]!.port, 'mongodb') : undefined;
    const added = await replica('api', `api ${apis.length + 1}`, {
      PRESSROOM_HOST: '127.0.0.1',
      PRESSROOM_DRAIN_DELAY: '0s',
      PRESSROOM_PEPPER: PEPPER,
      PRESSROOM_SECRET: DASHBOARD_SECRET,
      MONGODB_URI: toMongod ? cluster.uriThrough(toMongod.port) : cluster.uri,
      PRESSROOM_WORKERS: (links ? toWorkers : workers)
        .map(({ port }) => `ws://127.0.0.1:${port}`)
        .join(','),
      ...env,
    });
    const api = Object.defineProperties(
      { toWorkers, toMongod },
      Object.getOwnPropertyDescriptors(added),
    ) as ApiReplica;
    apis.push(api);
    await api.process.untilReady();
    return api;
  }
  for (let count = 0; count < wantedApis; count++) await addApi();
  await Promise.all(workers.map(({ process }) => process.untilReady()));
  // A worker is ready with its first slot.
  await Promise.all(workers.map(worker => untilAllReady(worker, START_MS)));
  // An API that starts first looks for its workers periodically.
  for (const { process } of apis)
    await eventually(async () => {
      const known = (await process.metrics()).sum('pressroom_workers_known');
      if (known !== workers.length)
        throw new Error(`${process.name} knows ${known} of ${workers.length} workers`);
    }, START_MS);

  const store = connectStore({ uri: cluster.uri, operationTimeoutMs: 10_000 }, silentLog);
  atEnd(() => store.stop(AbortSignal.timeout(1_000)));
  await store.start();
  const book = new Accounts(store, { plans: parsePlans([]), peppers: [PEPPER] });
  const accounts: DeploymentAccount[] = [];
  /** With the scenario's own client, independent of the product. */
  const documents = cluster.client.db('pressroom').collection<AccountDocument>('accounts');
  let turn = 0;

  return {
    cluster,
    probePages,
    apis,
    workers,
    accounts,
    addApi,
    account: async (plan = 'scale') => {
      const name = `account ${randomUUID()}`;
      const { id } = await book.createAccount(name, { plan, intranet: true });
      const { text: key } = await book.createKey(name, { name: 'key' });
      const read = async () => (await documents.findOne({ _id: id }))!;
      const unexpired = {
        $filter: { input: '$leases', as: 'lease', cond: { $gt: ['$$lease.expires', '$$NOW'] } },
      };
      const account: DeploymentAccount = {
        id,
        name,
        key,
        read,
        usage: async () => (await read()).usage.count,
        leases: async () => {
          const [found] = await documents
            .aggregate<{ count: number }>([
              { $match: { _id: id } },
              { $project: { count: { $size: unexpired } } },
            ])
            .toArray();
          return found!.count;
        },
      };
      accounts.push(account);
      return account;
    },
    render: (account, body, api) =>
      renderCall((api ?? apis[turn++ % apis.length]!).port, account.key, body),
    stop: async () => {
      await stop();
      const leaks = linesWith(everyProcess, [
        PEPPER,
        POOL_SECRET,
        DASHBOARD_SECRET,
        ...accounts.map(({ key }) => key),
      ]);
      if (leaks.length > 0)
        throw new Error(`a secret of the scenario stands in a log:\n${leaks.join('\n')}`);
    },
  };
}
