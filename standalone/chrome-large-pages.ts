// The copy of this machine's Chrome that the kernel can hold in large pages, in the cache: made once for each version of Chrome, where the machine can make use of it.
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fillLargePages } from '../worker/large-pages.ts';
import { layOutForLargePages, layoutOf, programOf } from '../worker/program-layout.ts';
import { closedToOthers, installOnce, isExecutable } from './cache.ts';
import type { Say } from './run-command.ts';

/** In the cache. Chrome's other files are links to where they were installed. */
export const LARGE_PAGES = 'chrome-large-pages';
/** In the copy: which program it was made of. */
const MADE_OF = 'made-of';
/** As small as a file can be to show whether the cache's file system has large pages. */
const PROBE_BYTES = 2 ** 21;

/** What tells one version of a program from the next at the same place. */
async function identityOf(program: string): Promise<string> {
  const { size, mtimeMs } = await stat(program);
  return `${program} ${size} ${mtimeMs}`;
}

/** True when a file in the cache can be held in large pages; that depends on its file system and the kernel. */
async function canBeHad(cache: string): Promise<boolean> {
  const probe = join(cache, `.large-page-${process.pid}`);
  try {
    await mkdir(cache, { recursive: true, mode: 0o755 });
    await writeFile(probe, Buffer.alloc(PROBE_BYTES, 1), { flush: true });
    return (await fillLargePages(probe)) > 0;
  } finally {
    await rm(probe, { force: true });
  }
}

/** Before anything is written that nobody could use. `uid`: the user that Chrome will run as, where that is another one. */
async function mustBeOpen(cache: string, uid: number | undefined): Promise<void> {
  const closed = uid === undefined || uid === process.getuid?.() ? undefined : await closedToOthers(cache);
  if (closed) throw new Error(`${closed} is closed to user ${uid}, whom Chrome runs as`);
}

async function makeCopy(program: string, folder: string, identity: string): Promise<void> {
  for (const name of await readdir(dirname(program)))
    if (name !== basename(program)) await symlink(join(dirname(program), name), join(folder, name));
  await layOutForLargePages(program, join(folder, basename(program)));
  await writeFile(join(folder, MADE_OF), identity);
}

/** What the copy that is there was made of. */
const madeOf = (cache: string) => readFile(join(cache, LARGE_PAGES, MADE_OF), 'utf8').catch(() => undefined);

/** Of another version: a Chrome that still runs from it goes on, and its worker starts the next from the new one. */
async function removeCopy(cache: string): Promise<void> {
  const gone = join(cache, `.${LARGE_PAGES}-old-${process.pid}`);
  await rename(join(cache, LARGE_PAGES), gone).catch(() => {}); // there was none
  await rm(gone, { recursive: true, force: true });
}

/** How a copy will be run. */
export interface Use {
  /** The user that Chrome will run as where that is another one. */
  uid: number | undefined;
  /** Rejects for a copy that cannot be used. */
  prove(copy: string): Promise<unknown>;
}

/**
 * A Chrome that is the same but for how its program is laid out in its file: the copy in the cache, which is made when there is none of this version and large pages can be had here.
 * Gives `executable` itself where they cannot be had, and with a word to `say` when there can be no copy. Never rejects.
 */
export async function withLargePages(executable: string, cache: string, say: Say, { uid, prove }: Use): Promise<string> {
  try {
    const program = await programOf(executable);
    if ((await layoutOf(program)) !== 'small') return executable;
    const identity = await identityOf(program);
    const copy = join(cache, LARGE_PAGES, basename(program));
    if ((await madeOf(cache)) === identity && (await isExecutable(copy))) return copy;
    if (!(await canBeHad(cache))) return executable;
    await mustBeOpen(cache, uid);
    await installOnce(cache, LARGE_PAGES, async folder => {
      await makeCopy(program, folder, identity);
      await prove(join(folder, basename(program)));
      if ((await madeOf(cache)) !== identity) await removeCopy(cache);
    });
    return copy;
  } catch (error) {
    say(`Chrome is used as it was installed, without large pages: ${(error as Error).message}.`);
    return executable;
  }
}
