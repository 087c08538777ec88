// The profile folder of one Chrome: created before the start and removed after the end. Folders of
// killed workers are removed by the next worker.
import { chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Profile {
  readonly path: string;
  /** Never throws; safe to call twice. */
  remove(): Promise<void>;
}

/** Followed by the process id of the worker. */
const PREFIX = 'pressroom-chrome-';
/** The folders of this process. In containers every worker has the same process id. */
const ownFolders = new Set<string>();

const removeFolder = (path: string) =>
  rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }).catch(() => {});

/** Creates the folder, owned by `uid` if given. Throws an Error that names TMPDIR. */
export async function makeProfile(uid: number | undefined): Promise<Profile> {
  try {
    const path = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
    ownFolders.add(path);
    if (uid !== undefined) await chown(path, uid, uid);
    const remove = async () => {
      await removeFolder(path);
      ownFolders.delete(path);
    };
    return { path, remove };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      `Cannot create a profile folder for Chrome in ${tmpdir()} (${code}). Free space there, or set TMPDIR to another folder.`,
      { cause: message },
    );
  }
}

/** False when no process has this id. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

const read = (pid: string, file: string) =>
  readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
const groupOf = async (pid: string) =>
  Number((await read(pid, 'stat')).replace(/^.*\) /s, '').split(' ')[2]);

/** Process groups with a process that uses this profile. Empty without /proc (not Linux). */
async function groupsOn(profile: string): Promise<Set<number>> {
  const groups = new Set<number>();
  for (const pid of await readdir('/proc').catch(() => [])) {
    if (
      !/^\d+$/.test(pid) ||
      !(await read(pid, 'cmdline')).split('\0').includes(`--user-data-dir=${profile}`)
    )
      continue;
    groups.add(await groupOf(pid));
  }
  groups.delete(Number.NaN);
  // A Chrome without its own group shares the group of its worker, which may be this process.
  groups.delete(await groupOf('self'));
  return groups;
}

/**
 * Kills the processes of a hung Chrome, which did not notice the end of its worker, and removes its
 * profile.
 */
async function clear(profile: string): Promise<void> {
  for (const group of await groupsOn(profile)) {
    try {
      process.kill(-group, 'SIGKILL');
    } catch {
      // It has exited, or belongs to another user.
    }
  }
  await removeFolder(profile);
}

/** Removes the folders and processes that killed workers of this user left behind. */
export async function sweepProfiles(folder = tmpdir()): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = name.startsWith(PREFIX)
      ? /^\d+(?=-)/.exec(name.slice(PREFIX.length))?.[0]
      : undefined;
    if (!pid) continue;
    const path = join(folder, name);
    if (Number(pid) === process.pid ? !ownFolders.has(path) : !isAlive(Number(pid)))
      await clear(path);
  }
}
