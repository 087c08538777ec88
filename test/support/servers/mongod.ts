// Real mongod processes for tests: a shared one with test commands (fail points), started on first
// use, and separate ones on request.
import { randomBytes } from 'node:crypto';
import { rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { type ManagedMongod, startMongod } from '../../../standalone/mongod.ts';
import { findOrInstallMongod } from '../../../standalone/mongod-binary.ts';
import { folderOfThisRun } from '../temporary.ts';

/** Required for `configureFailPoint: 'failCommand'`. */
const TEST_ARGS = ['--setParameter', 'enableTestCommands=1'];

const log = (line: string) => process.stderr.write(`${line}\n`);

let binary: Promise<{ path: string; version: string }> | undefined;

/** The mongod binary from PATH, from the cache or downloaded. Resolved once. */
export const mongodBinary = () => {
  binary ??= findOrInstallMongod(process.env, log);
  return binary;
};

const MEMORY = '/dev/shm';
/** Much more than the data of a whole run. */
const MIN_FREE_BYTES = 4 * 2 ** 30;

/** In memory if there is space, because a shared disk may stall for a minute. */
async function dataFolder(onDisk: boolean): Promise<string> {
  const freeBytes = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return folderOfThisRun(
    onDisk || freeBytes < MIN_FREE_BYTES ? tmpdir() : MEMORY,
    'pressroom-test-mongod-',
  );
}

/**
 * Starts a separate mongod that the test must stop. The default `dataDir` is a temporary folder,
 * in memory if possible unless `onDisk`; `stop` then kills mongod and removes the folder.
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

/** The shared mongod. Do not stop it or leave fail points on; use `freshMongod` for that. */
export const testMongod = () => {
  shared ??= freshMongod();
  return shared;
};

/** A new database on the shared mongod. `uri` contains the credentials and the name. */
export async function testDatabase(): Promise<{ uri: string; name: string }> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  return { uri: (await testMongod()).uriFor(name), name };
}

/** Called by the root hook. */
export async function stopTestMongod(): Promise<void> {
  const mongod = await shared?.catch(() => undefined);
  shared = undefined;
  await mongod?.stop();
}
