// The cache folder for downloaded programs, outside the repository, with atomic installation.
import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, chmod, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Notify } from './run-command.ts';

/**
 * `PRESSROOM_CACHE_DIR`, otherwise `/var/cache/pressroom` for root (Chrome runs as another user and
 * cannot enter root's home), otherwise `$XDG_CACHE_HOME/pressroom` or `~/.cache/pressroom`.
 */
export function cacheFolder(env: NodeJS.ProcessEnv, uid = process.getuid?.()): string {
  if (env.PRESSROOM_CACHE_DIR) return resolve(env.PRESSROOM_CACHE_DIR);
  if (uid === 0) return '/var/cache/pressroom';
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'pressroom');
}

export { findOnPath } from '../worker/browser/find-chrome.ts';

export const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

/**
 * `file` itself or the nearest parent folder that is closed to other users. Undefined when every
 * user can execute `file`.
 */
export async function closedToOthers(file: string): Promise<string | undefined> {
  for (let at = resolve(file); ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return at;
    if (at === dirname(at)) return undefined;
  }
}

/**
 * Throws an Error that names the closed folder and the variables to set when `uid` is another user
 * and cannot execute `path`.
 */
export async function mustBeOpen(
  program: string,
  path: string,
  uid: number | undefined,
  variables: string,
): Promise<void> {
  if (uid === undefined || uid === process.getuid?.()) return;
  const closed = await closedToOthers(path);
  if (closed)
    throw new Error(
      `${program} runs as user ${uid}, which cannot execute ${path}: ${closed} is not accessible to other users. ` +
        `Run \`chmod o+x ${closed}\`, or set ${variables} to a path that every user can access.`,
    );
}

/**
 * Creates `cache/name` atomically: `fill` writes into a temporary folder, which is then renamed. Of
 * two concurrent processes the first one wins. Leaves nothing behind when `fill` throws. Returns
 * the folder.
 */
export async function installOnce(
  cache: string,
  name: string,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const target = join(cache, name);
  await mkdir(cache, { recursive: true, mode: 0o755 });
  const folder = await mkdtemp(join(cache, `.${name}-`));
  try {
    await chmod(folder, 0o755);
    await fill(folder);
    await rename(folder, target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return target;
}

/** The SHA-256 of a file in hex. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Throws an Error unless the SHA-256 of the downloaded `file` is `expected`. */
export async function mustHaveSha256(file: string, expected: string): Promise<void> {
  const found = await sha256Of(file);
  if (found !== expected)
    throw new Error(
      `${basename(file)} is not the published file: expected SHA-256 ${expected}, found ${found}`,
    );
}

/** The text as one line without a trailing full stop. */
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').replace(/[.:, ]+$/, '');

/** A source to install a missing program from. `install` throws an Error with one short reason. */
export interface Source {
  name: string;
  install(): Promise<unknown>;
}

/**
 * Returns the result of `find`, after installing from the first source that works if needed.
 * Reports each source with one line.
 */
export async function findOrInstall<T>(
  program: string,
  find: () => Promise<T | undefined>,
  sources: Source[],
  notify: Notify,
): Promise<T | undefined> {
  let found = await find();
  let before = `${program} is not installed.`;
  for (const { name, install } of found === undefined ? sources : []) {
    notify(`${before} Installing ${name}.`.trimStart());
    try {
      await install();
      found = await find();
      if (found !== undefined) return found;
      before = '';
    } catch (error) {
      before = `Could not install ${name} (${oneLine((error as Error).message)}).`;
    }
  }
  if (found === undefined && before) notify(before);
  return found;
}
