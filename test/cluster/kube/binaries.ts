// The programs of versions.ts, built once and kept in the cache folder.
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder, findOnPath, installOnce } from '../../../standalone/cache.ts';
import { takeLock } from '../../../standalone/lock.ts';
import type { Notify } from '../../../standalone/run-command.ts';
import { buildModule } from './go-build.ts';
import { type Binary, type GoModule, MODULES } from './versions.ts';

/**
 * The time limit of a hook that may have to build them all, or wait for another process that does.
 */
export const BUILD_LIMIT_MS = 5_400_000;

const print: Notify = line => process.stderr.write(`${line}\n`);

const moduleOf = (name: Binary): GoModule =>
  MODULES.find(({ programs }) => programs.some(program => program.name === name))!;
const modulesOf = (names: readonly Binary[]) => [...new Set(names.map(moduleOf))];

/** Named after all that decides what is built: a folder that is there has what is wanted. */
const folderName = (module: GoModule) => {
  const what = createHash('sha256').update(JSON.stringify(module)).digest('hex').slice(0, 8);
  return `go-${module.path.replaceAll('/', '-')}-${module.version}-${process.arch}-${what}`;
};
const folderOf = (module: GoModule, cache: string) => join(cache, folderName(module));
const isThere = (module: GoModule, cache: string) => existsSync(folderOf(module, cache));

/** Whether these programs can be had without building anything. */
const binariesAreCached = (names: readonly Binary[]): boolean =>
  modulesOf(names).every(module => isThere(module, cacheFolder(process.env)));

/**
 * Why these programs can not be had on this machine; undefined when they are in the cache folder or
 * there is Go to build them with.
 */
export function whyNoBinaries(names: readonly Binary[]): string | undefined {
  if (binariesAreCached(names) || findOnPath(['go'], process.env)) return undefined;
  return `${names.join(', ')} are not in ${cacheFolder(process.env)}, and there is no Go on PATH to build them with`;
}

/**
 * The paths of these programs. Those that are not in the cache folder are built first, with all
 * others of their module: minutes, told by `say`. Of several processes that ask at once, one
 * builds. Throws an Error with what `go` said, and the file in which all of it is.
 */
export async function kubeBinaries<Name extends Binary>(
  names: readonly Name[],
  notify: Notify = print,
): Promise<Record<Name, string>> {
  const cache = cacheFolder(process.env);
  await mkdir(cache, { recursive: true, mode: 0o755 });
  for (const module of modulesOf(names)) await built(module, cache, notify);
  return Object.fromEntries(
    names.map(name => [name, join(folderOf(moduleOf(name), cache), name)]),
  ) as Record<Name, string>;
}

async function built(module: GoModule, cache: string, notify: Notify): Promise<void> {
  while (!isThere(module, cache)) {
    const lock = await takeLock(cache, 'command');
    if (lock.held) {
      try {
        if (!isThere(module, cache)) await build(module, cache, notify);
      } finally {
        await lock.release();
      }
    } else {
      notify(`Process ${lock.pid} builds programs of the tests; waiting for it.`);
      await lock.untilGone;
    }
  }
}

async function build(module: GoModule, cache: string, notify: Notify): Promise<void> {
  const logFile = join(cache, 'go-build.log');
  const log = createWriteStream(logFile);
  const began = performance.now();
  notify(
    `Building ${module.programs.map(({ name }) => name).join(', ')} ${module.version} with Go, once (what it says: ${logFile}).`,
  );
  try {
    await installOnce(cache, folderName(module), folder =>
      buildModule(module, folder, chunk => log.write(chunk)),
    );
  } catch (error) {
    throw new Error(`${(error as Error).message} (what it said: ${logFile})`);
  } finally {
    await new Promise(resolve => log.end(resolve));
  }
  notify(`Built in ${Math.round((performance.now() - began) / 1000)} s.`);
}
