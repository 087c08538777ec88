// The folder of one Chrome: made before it starts and removed after its end, or by the next worker
// when the one that made it was killed.
import { chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Profile {
  readonly path: string;
  /** Never throws; safe to call twice. */
  remove(): Promise<void>;
}

/** A folder's name goes on with the number of the worker's process. */
const PREFIX = 'pressroom-chrome-';
/** In a container every worker has the same number: only these are of this process. */
const ours = new Set<string>();

const removeFolder = (path: string) =>
  rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }).catch(() => {});

/**
 * `uid`: the user whose folder it is, when it is not the worker's own. Throws an Error that names
 * TMPDIR.
 */
export async function makeProfile(uid: number | undefined): Promise<Profile> {
  try {
    const path = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
    ours.add(path);
    if (uid !== undefined) await chown(path, uid, uid);
    const remove = async () => {
      await removeFolder(path);
      ours.delete(path);
    };
    return { path, remove };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      `no folder for Chrome's profile can be made in ${tmpdir()} (${code}): make room there, or point TMPDIR to another folder`,
      {
        cause: message,
      },
    );
  }
}

/** False when no process has this number. */
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

/**
 * Process groups with a process that was started on this profile. Without /proc (not Linux) none is
 * found.
 */
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
  // Where Chrome has no group of its own, the one who started that worker may have started this one
  // too.
  groups.delete(await groupOf('self'));
  return groups;
}

/**
 * Ends what a Chrome that stands still has left, since it did not see its worker go, and removes
 * its profile.
 */
async function clear(profile: string): Promise<void> {
  for (const group of await groupsOn(profile)) {
    try {
      process.kill(-group, 'SIGKILL');
    } catch {
      // It is gone by now, or another user's to end.
    }
  }
  await removeFolder(profile);
}

/** Clears away what killed workers of this user left behind. */
export async function sweepProfiles(folder = tmpdir()): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = name.startsWith(PREFIX)
      ? /^\d+(?=-)/.exec(name.slice(PREFIX.length))?.[0]
      : undefined;
    if (!pid) continue;
    const path = join(folder, name);
    if (Number(pid) === process.pid ? !ours.has(path) : !isAlive(Number(pid))) await clear(path);
  }
}
