// The managed mongod: a replica set of one member on loopback, with its own keyfile, password and
// folder.
import { lchown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SET_NAME, USER } from '../api/store/replica-set-names.ts';
import { mustBeOpen } from './cache.ts';
import { spawnMongod, stopPredecessor } from './mongod-process.ts';
import { giveDataTo, MONGOD_UID } from './mongod-user.ts';
import { usablePort } from './ports.ts';
import { newSecret, openDataFolder, readPrivate, writePrivate } from './state.ts';

export interface ManagedMongod {
  /** With credentials, for the database `pressroom`; use `uriFor` for another one. */
  readonly uri: string;
  uriFor(database: string): string;
  readonly pid: number;
  readonly port: number;
  /** Settles when mongod has ended, even unexpectedly. */
  readonly exited: Promise<string>;
  /** Shuts down cleanly (about 1 s, because of mongod's oplog applier); SIGKILL after 10 s. */
  stop(): Promise<void>;
  /** Ends it immediately, like a power failure. */
  kill(): Promise<void>;
}

export interface MongodOptions {
  binary: string;
  /** Contains the data, the keyfile, the password and the log. Nothing else may be in it. */
  dataDir: string;
  /** Preferred port; 0 (the default) keeps that of the last start, or uses a free one. */
  port?: number;
  extraArgs?: readonly string[];
  /** Called when mongod has been spawned. This process is idle until mongod is writable. */
  onSpawned?: () => void;
}

/** Loaded while mongod starts, because it imports the MongoDB driver. */
const loadReplicaSet = () => import('../api/store/replica-set-initiation.ts');

/**
 * The content of `mongod.json`. The port stays the same because the data of a replica set contains
 * the address of its member.
 */
interface Kept {
  port: number;
  password: string;
  /** True after the first start has completed. */
  founded: boolean;
}

const stateFile = (dataDir: string) => join(dataDir, 'mongod.json');

const readKept = async (dataDir: string): Promise<Kept | undefined> => {
  const text = await readPrivate(stateFile(dataDir));
  return text === undefined ? undefined : (JSON.parse(text) as Kept);
};

const writeKept = (dataDir: string, kept: Kept) =>
  writePrivate(stateFile(dataDir), `${JSON.stringify(kept)}\n`);

/** `port` if it is free on loopback, otherwise (or for 0) another one. */
const loopbackPort = async (port: number): Promise<number> =>
  (await usablePort('127.0.0.1', port)) ?? loopbackPort(0);

const uriOf = ({ port, password }: Kept, database: string) =>
  `mongodb://${USER}:${password}@127.0.0.1:${port}/${database}?authSource=admin&replicaSet=${SET_NAME}`;

/**
 * The address of the mongod that was last started on `dataDir`, running or not. Undefined when
 * there was none.
 */
export async function managedUri(
  dataDir: string,
  database = 'pressroom',
): Promise<string | undefined> {
  const kept = await readKept(dataDir);
  return kept?.founded ? uriOf(kept, database) : undefined;
}

/**
 * Shortens the start of mongod, which mostly allocates 33,000 sessions and reads its journal files
 * of 100 MB (6.0). Each client operation holds a session; the connection pools of this
 * installation, 100 connections each, stay below this limit.
 */
const STORAGE = 'session_max=2000,log=(file_max=8MB)';

/** Small caches and no features that a single client on one machine does not need. */
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
 * Gives mongod's user access to the data and the keyfile. The folder and the password remain owned
 * by root: no other user may create a link in a folder that root writes to.
 */
async function openTo(uid: number, binary: string, dataDir: string): Promise<void> {
  await mustBeOpen('mongod', binary, uid, 'PRESSROOM_CACHE_DIR');
  await lchown(join(dataDir, 'keyfile'), uid, uid);
  await giveDataTo(uid, join(dataDir, 'db'));
}

/**
 * Starts mongod on `dataDir` and waits until it is writable. Ends a leftover mongod on the same
 * folder first.
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
    port: await loopbackPort(port || before?.port || 0),
  };
  // Only root may enter the parent folders, so mongod's user accesses the data through its working
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
  loading.catch(() => {}); // handled below
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
