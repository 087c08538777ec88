// A MongoDB replica set of one or three members on loopback for one scenario, with fail points, and
// members that can be killed, frozen and restarted.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Document, MongoClient } from 'mongodb';
import { type MongodProcess, spawnMongod } from '../../../standalone/mongod-process.ts';
import { eventually } from '../../support/eventually.ts';
import { freeze, thaw } from '../../support/freeze.ts';
import { mongodBinary } from '../../support/servers/mongod.ts';
import { ownPort } from './ports.ts';

const SET = 'fault';

export interface Member {
  readonly port: number;
  readonly pid: number;
  /** SIGKILL, like a power loss. */
  kill(): Promise<void>;
  /** Restarts it with its data and port. */
  start(): Promise<void>;
  freeze(): Promise<void>;
  thaw(): void;
}

export interface Cluster {
  readonly members: Member[];
  /** Without a link. */
  readonly uri: string;
  /** Through a link to the only member. */
  uriThrough(linkPort: number): string;
  /** The test's own client, with another application name, so that fail points do not apply. */
  readonly client: MongoClient;
  /** The current primary. */
  primary(): Promise<Member>;
  /** Steps the primary down. Resolves when there is a new primary. */
  stepDown(): Promise<void>;
  /**
   * Sets a fail point on the primary for commands of these names from Pressroom
   * (https://github.com/mongodb/mongo/wiki/The-failCommand-fail-point).
   */
  fail(commands: string[], data: Document, mode?: unknown): Promise<void>;
  working(): Promise<void>;
  stop(): Promise<void>;
}

/** `dataDir`: where the data lie (default: a temporary folder that `stop` removes). */
export async function startCluster({
  size = 1,
  dataDir,
}: {
  size?: 1 | 3;
  dataDir?: string;
} = {}): Promise<Cluster> {
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'pressroom-fault-')));
  const { path: binary } = await mongodBinary();
  const members = await Promise.all(
    Array.from({ length: size }, (_, index) => startMember(binary, join(folder, String(index)))),
  );
  const hosts = members.map(({ port }) => `127.0.0.1:${port}`);
  const uri = `mongodb://${hosts.join(',')}/pressroom?replicaSet=${SET}`;

  const first = await MongoClient.connect(`mongodb://${hosts[0]}/?directConnection=true`);
  await first.db('admin').command({
    replSetInitiate: {
      _id: SET,
      members: hosts.map((host, _id) => ({ _id, host })),
      // An election after two seconds of silence instead of ten.
      settings: { electionTimeoutMillis: 2_000, heartbeatIntervalMillis: 500 },
    },
  });
  await first.close();
  const client = new MongoClient(uri, { appName: 'a scenario', serverSelectionTimeoutMS: 30_000 });
  await client.connect();
  const admin = client.db('admin');
  await eventually(async () => {
    if (!(await admin.command({ hello: 1 })).isWritablePrimary)
      throw new Error('there is no primary yet');
  });

  async function primary(): Promise<Member> {
    const { me } = await admin.command({ hello: 1 }, { readPreference: 'primary' });
    return members.find(({ port }) => me === `127.0.0.1:${port}`)!;
  }

  return {
    members,
    uri,
    uriThrough: port => `mongodb://127.0.0.1:${port}/pressroom?directConnection=true`,
    client,
    primary,
    stepDown: async () => {
      const before = await primary();
      await admin
        .command({ replSetStepDown: 10, secondaryCatchUpPeriodSecs: 5, force: true })
        .catch(() => {}); // it may hang up on us
      await eventually(async () => {
        if ((await primary()) === before) throw new Error('the primary has not changed yet');
      });
    },
    fail: async (failCommands, data, mode = 'alwaysOn') => {
      await admin.command({
        configureFailPoint: 'failCommand',
        mode,
        data: { failCommands, appName: 'pressroom', ...data },
      });
    },
    working: async () => {
      await admin.command({ configureFailPoint: 'failCommand', mode: 'off' });
    },
    stop: async () => {
      await client.close();
      await Promise.all(members.map(member => member.kill()));
      if (!dataDir) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function startMember(binary: string, dataDir: string): Promise<Member> {
  const port = await ownPort();
  const data = join(dataDir, 'db');
  await mkdir(data, { recursive: true });
  const args = [
    ...['--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket', '--replSet', SET],
    ...['--wiredTigerCacheSizeGB', '0.25', '--oplogSize', '64', '--quiet', '--noscripting'],
    ...[
      '--setParameter',
      'enableTestCommands=1',
      '--setParameter',
      'diagnosticDataCollectionEnabled=false',
    ],
  ];
  const start = () => spawnMongod(binary, args, data, join(dataDir, 'mongod.log'));
  let process: MongodProcess = await start();
  return {
    port,
    get pid() {
      return process.pid;
    },
    kill: () => process.stop(0),
    start: async () => {
      process = await start();
    },
    freeze: () => freeze(process.pid),
    thaw: () => thaw(process.pid),
  };
}
