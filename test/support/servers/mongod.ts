// A real mongod for tests: one for the whole run, started at its first use with test commands (fail
// points) on, and more of them on request.
import { randomBytes } from 'node:crypto';
import { rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import {
  findOrInstallMongod,
  type ManagedMongod,
  startMongod,
} from '../../../standalone/mongod.ts';
import { folderOfThisRun } from '../temporary.ts';

/** With these, `configureFailPoint: 'failCommand'` works. */
const TEST_ARGS = ['--setParameter', 'enableTestCommands=1'];

const say = (line: string) => process.stderr.write(`${line}\n`);

let binary: Promise<{ path: string; version: string }> | undefined;

/**
 * The mongod that tests use: the one on PATH, the cached one or a downloaded one; looked for once.
 */
export const mongodBinary = () => {
  binary ??= findOrInstallMongod(process.env, say);
  return binary;
};

const MEMORY = '/dev/shm';
/** What the data of a whole run take, and much more. */
const ROOM_BYTES = 4 * 2 ** 30;

/**
 * In memory where there is room, since a disk that several machines share may stand still for a
 * minute.
 */
async function dataFolder(onDisk: boolean): Promise<string> {
  const room = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return folderOfThisRun(onDisk || room < ROOM_BYTES ? tmpdir() : MEMORY, 'pressroom-test-mongod-');
}

/**
 * A mongod of a test's own in `dataDir` (default: a temporary folder, in memory where there is room
 * unless `onDisk`, removed by `stop`, which then does not wait for a clean shutdown). The test
 * stops it.
 */
export async function freshMongod({
  dataDir,
  onDisk = false,
  port,
  extraArgs = TEST_ARGS,
}: {
  dataDir?: string;
  onDisk?: boolean;
  port?: number;
  extraArgs?: string[];
} = {}): Promise<ManagedMongod> {
  const folder = dataDir ?? (await dataFolder(onDisk));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
  const { path } = await mongodBinary();
  try {
    const mongod = await startMongod({
      binary: path,
      dataDir: folder,
      extraArgs,
      ...(port === undefined ? {} : { port }),
    });
    return dataDir ? mongod : { ...mongod, stop: () => mongod.kill().then(remove) };
  } catch (error) {
    if (!dataDir) await remove();
    throw error;
  }
}

let shared: Promise<ManagedMongod> | undefined;

/**
 * The mongod that all tests share. Never stop it, and leave no fail point on: use `freshMongod` for
 * that.
 */
export const testMongod = () => {
  shared ??= freshMongod();
  return shared;
};

/** A database of a test's own on the shared mongod. `uri` carries the credentials and the name. */
export async function testDatabase(): Promise<{ uri: string; name: string }> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  return { uri: (await testMongod()).uriFor(name), name };
}

/** For the root hook. */
export async function stopTestMongod(): Promise<void> {
  const mongod = await shared?.catch(() => undefined);
  shared = undefined;
  await mongod?.stop();
}
