// The managed mongod: a replica set of one on loopback, with a keyfile and a password of its own,
// in a folder of its own.
import { lchown, mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { SET_NAME, USER } from '../api/store/replica-set-names.ts';
import { mustBeOpen } from './cache.ts';
import { spawnMongod, stopPredecessor } from './mongod-process.ts';
import { giveDataTo, MONGOD_UID } from './mongod-user.ts';
import { newSecret, openDataFolder, readPrivate, writePrivate } from './state.ts';

export {
  findMongod,
  findOrInstallMongod,
  type MongodBinary,
  pastEndOfLife,
  upgradeAdvice,
} from './mongod-binary.ts';
export { MONGOD_UID } from './mongod-user.ts';

export interface ManagedMongod {
  /** With credentials; the database is `pressroom` unless another name is asked for by `uriFor`. */
  readonly uri: string;
  uriFor(database: string): string;
  readonly pid: number;
  readonly port: number;
  /** Settles when mongod is gone, also when nobody asked for it. */
  readonly exited: Promise<string>;
  /** A clean shutdown (about 1 s: mongod's oplog applier ends no sooner); SIGKILL after 10 s. */
  stop(): Promise<void>;
  /** Ends it at once, as a loss of power would. */
  kill(): Promise<void>;
}

export interface MongodOptions {
  binary: string;
  /** Holds the data, the keyfile, the password and the log. Nothing else may be in it. */
  dataDir: string;
  /** Wanted port; 0 (the default) keeps the one of the last start, or takes a free one. */
  port?: number;
  extraArgs?: readonly string[];
  /**
   * Called when mongod has been spawned: until it can be written to, this process has nothing to
   * do.
   */
  onSpawned?: () => void;
}

/** Loaded while mongod starts: it brings the driver, which takes its time. */
const loadReplicaSet = () => import('../api/store/replica-set-initiation.ts');

/**
 * What is kept in `mongod.json`. The port stays the same because a replica set's member has its
 * address in the data.
 */
interface Kept {
  port: number;
  password: string;
  /** False until the first start came to its end. */
  founded: boolean;
}

const stateFile = (dataDir: string) => join(dataDir, 'mongod.json');

const readKept = async (dataDir: string): Promise<Kept | undefined> => {
  const text = await readPrivate(stateFile(dataDir));
  return text === undefined ? undefined : (JSON.parse(text) as Kept);
};

const writeKept = (dataDir: string, kept: Kept) =>
  writePrivate(stateFile(dataDir), `${JSON.stringify(kept)}\n`);

/** The port itself when it is free on loopback, else (or for 0) another one. */
const freePort = (port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' && port !== 0 ? resolve(freePort(0)) : reject(error),
    );
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const { port: taken } = server.address() as { port: number };
      server.close(() => resolve(taken));
    });
  });

const uriOf = ({ port, password }: Kept, database: string) =>
  `mongodb://${USER}:${password}@127.0.0.1:${port}/${database}?authSource=admin&replicaSet=${SET_NAME}`;

/**
 * The address of the mongod that was last started on `dataDir`, or undefined when there never was
 * one. It says nothing of whether it runs.
 */
export async function managedUri(
  dataDir: string,
  database = 'pressroom',
): Promise<string | undefined> {
  const kept = await readKept(dataDir);
  return kept?.founded ? uriOf(kept, database) : undefined;
}

/**
 * Most of mongod's own start is making room for 33,000 sessions and reading its journal, files of
 * 100 MB of which most is empty, eleven times over (seen on 6.0). Each operation of a client holds
 * a session: the pools of this installation's own clients, a hundred connections each, bound them.
 */
const STORAGE = 'session_max=2000,log=(file_max=8MB)';

/** Small, silent and without what a database of one client on one machine does not need. */
const commonArguments = (port: number, keyFile: string, extra: readonly string[]) => [
  ...[
    '--port',
    String(port),
    '--bind_ip',
    '127.0.0.1',
    '--nounixsocket',
    '--auth',
    '--keyFile',
    keyFile,
  ],
  ...[
    '--wiredTigerCacheSizeGB',
    '0.25',
    '--wiredTigerEngineConfigString',
    STORAGE,
    '--oplogSize',
    '256',
    '--quiet',
    '--noscripting',
  ],
  ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
  ...extra,
];

/**
 * Gives mongod's user access to the data and the keyfile. The folder and the password in it stay
 * root's: no other user may be able to create a link where root writes.
 */
async function openTo(uid: number, binary: string, dataDir: string): Promise<void> {
  await mustBeOpen('mongod', binary, uid, 'PRESSROOM_CACHE_DIR');
  await lchown(join(dataDir, 'keyfile'), uid, uid);
  await giveDataTo(uid, join(dataDir, 'db'));
}

/**
 * Starts mongod on `dataDir` and waits until it can be written to. A mongod left behind on the same
 * folder is ended first.
 */
export async function startMongod({
  binary,
  dataDir,
  port = 0,
  extraArgs = [],
  onSpawned = () => {},
}: MongodOptions): Promise<ManagedMongod> {
  const uid = process.getuid?.() === 0 ? MONGOD_UID : undefined;
  await openDataFolder(dataDir, uid === undefined ? 0o700 : 0o711);
  const before = await readKept(dataDir);
  const [keyFile, db] = [join(dataDir, 'keyfile'), join(dataDir, 'db')];
  const keyFileText = (await readPrivate(keyFile)) ?? `${newSecret(96).replace(/[-_]/g, 'x')}\n`;
  await writePrivate(keyFile, keyFileText);
  await mkdir(db, { recursive: true, mode: 0o700 });
  await stopPredecessor(db);
  if (uid !== undefined) await openTo(uid, binary, dataDir);
  const kept: Kept = {
    founded: false,
    password: newSecret(),
    ...before,
    port: await freePort(port || before?.port || 0),
  };
  // Only root may enter the folders above: mongod's user reaches the data through its working
  // directory.
  const files = uid === undefined ? dataDir : '/proc/self/cwd';
  const args = commonArguments(kept.port, join(files, 'keyfile'), extraArgs);
  const start = (...more: string[]) =>
    spawnMongod(binary, [...args, ...more], join(files, 'db'), join(dataDir, 'mongod.log'), {
      uid,
      cwd: dataDir,
    });

  if (before && before.port !== kept.port) {
    const alone = await start();
    const moved = loadReplicaSet().then(({ moveMember }) => moveMember(kept.port, keyFileText));
    await moved.finally(() => alone.stop());
  }
  await writeKept(dataDir, kept);
  const starting = start('--replSet', SET_NAME);
  onSpawned();
  const loading = loadReplicaSet();
  loading.catch(() => {}); // looked at below
  const child = await starting;
  try {
    const { initiateReplicaSet } = await loading;
    await initiateReplicaSet(kept.port, kept.password, kept.founded);
    if (!kept.founded) await writeKept(dataDir, { ...kept, founded: true });
  } catch (error) {
    await child.stop();
    throw error;
  }
  return {
    uri: uriOf(kept, 'pressroom'),
    uriFor: database => uriOf(kept, database),
    pid: child.pid,
    port: kept.port,
    exited: child.exited,
    stop: () => child.stop(),
    kill: () => child.stop(0),
  };
}
