// The programs of versions.ts, built once and cached.
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder, findOnPath, installOnce } from '../../../standalone/cache.ts';
import { takeLock } from '../../../standalone/lock.ts';
import type { Notify } from '../../../standalone/run-command.ts';
import { buildModule } from './go-build.ts';
import { type Binary, type GoModule, MODULES, RELEASE_MODULES } from './versions.ts';

/** Time limit of a hook that may build all programs, or wait for another process that does. */
export const BUILD_LIMIT_MS = 5_400_000;

const print: Notify = line => process.stderr.write(`${line}\n`);

const moduleOf = (name: Binary): GoModule =>
  [...MODULES, ...RELEASE_MODULES].find(({ programs }) =>
    programs.some(program => program.name === name),
  )!;
const modulesOf = (names: readonly Binary[]) => [...new Set(names.map(moduleOf))];

/** The name contains a hash of all build inputs, so an existing folder is up to date. */
const folderName = (module: GoModule) => {
  const what = createHash('sha256').update(JSON.stringify(module)).digest('hex').slice(0, 8);
  return `go-${module.path.replaceAll('/', '-')}-${module.version}-${process.arch}-${what}`;
};
const folderOf = (module: GoModule, cache: string) => join(cache, folderName(module));
const isThere = (module: GoModule, cache: string) => existsSync(folderOf(module, cache));

/** Whether these programs are cached. */
const binariesAreCached = (names: readonly Binary[]): boolean =>
  modulesOf(names).every(module => isThere(module, cacheFolder(process.env)));

/** Why these programs are not available, if so: not cached, and Go is not installed. */
export function whyNoBinaries(names: readonly Binary[]): string | undefined {
  if (binariesAreCached(names) || findOnPath(['go'], process.env)) return undefined;
  return `${names.join(', ')} are not in ${cacheFolder(process.env)}, and there is no Go on PATH to build them with`;
}

/**
 * Returns the paths of these programs. Missing ones are built with all others of their module,
 * which takes minutes and is reported to `notify`. Only one process builds at a time. Errors
 * contain the path of the build log.
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
      notify(`Waiting for process ${lock.pid}, which builds test programs.`);
      await lock.untilGone;
    }
  }
}

async function build(module: GoModule, cache: string, notify: Notify): Promise<void> {
  const logFile = join(cache, 'go-build.log');
  const log = createWriteStream(logFile);
  const began = performance.now();
  notify(
    `Building ${module.programs.map(({ name }) => name).join(', ')} ${module.version} with Go (log: ${logFile}).`,
  );
  try {
    await installOnce(cache, folderName(module), folder =>
      buildModule(module, folder, chunk => log.write(chunk)),
    );
  } catch (error) {
    throw new Error(`${(error as Error).message} (log: ${logFile})`);
  } finally {
    await new Promise(resolve => log.end(resolve));
  }
  notify(`Built in ${Math.round((performance.now() - began) / 1000)} s.`);
}
