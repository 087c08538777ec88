// The copies of this machine's Chromes that the kernel can hold in large pages, in the cache: one for each version of a Chrome, made where the machine can make use of it.
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fillLargePages } from '../worker/large-pages.ts';
import { layOutForLargePages, layoutOf, programOf } from '../worker/program-layout.ts';
import { closedToOthers, installOnce, isExecutable } from './cache.ts';
import type { Say } from './run-command.ts';

/** How the names of their folders begin. In each, Chrome's other files are links to where they were installed. */
export const LARGE_PAGES = 'chrome-large-pages-';
/** In a copy: which program it was made of, and how large its own is. */
const MADE_OF = 'made-of.json';
/** As small as a file can be to show whether its file system has large pages. */
const PROBE_BYTES = 2 ** 21;
/** Nobody needs as long for a copy: what is older was left by who was killed meanwhile. */
const LEFTOVER_MS = 3_600_000;

/** What tells one version of a program from the next at the same place. */
interface Origin {
  program: string;
  size: number;
  mtimeMs: number;
}

class NoLargePages extends Error {}

async function originOf(program: string): Promise<Origin> {
  const { size, mtimeMs } = await stat(program);
  return { program, size, mtimeMs };
}

const nameOf = (origin: Origin) => `${LARGE_PAGES}${createHash('sha256').update(JSON.stringify(origin)).digest('hex').slice(0, 16)}`;
const sizeOf = async (file: string) => (await stat(file)).size;
const isSame = (one: Origin, other: Origin) => JSON.stringify(one) === JSON.stringify(other);
const readMadeOf = async (folder: string) => JSON.parse(await readFile(join(folder, MADE_OF), 'utf8')) as { origin: Origin; size: number };

/** True for a copy of this version that is whole. */
async function isWhole(folder: string, origin: Origin): Promise<boolean> {
  const copy = join(folder, basename(origin.program));
  try {
    const { origin: madeOf, size } = await readMadeOf(folder);
    return isSame(madeOf, origin) && (await sizeOf(copy)) === size && (await layoutOf(copy)) === 'large' && (await isExecutable(copy));
  } catch {
    return false;
  }
}

/** `uid`: of the user that Chrome will run as, where that is another one. */
async function mustBeOpen(path: string, uid: number | undefined): Promise<void> {
  const closed = uid === undefined || uid === process.getuid?.() ? undefined : await closedToOthers(path);
  if (closed) throw new Error(`${closed} is closed to user ${uid}, whom Chrome runs as`);
}

async function makeCopy(origin: Origin, folder: string): Promise<string> {
  const [from, name] = [dirname(origin.program), basename(origin.program)];
  const copy = join(folder, name);
  for (const other of await readdir(from)) if (other !== name) await symlink(join(from, other), join(folder, other));
  await layOutForLargePages(origin.program, copy);
  await writeFile(join(folder, MADE_OF), JSON.stringify({ origin, size: await sizeOf(copy) }));
  return copy;
}

/** Copies whose program has another version now, or is gone, and what copying left when it was killed. */
async function removeStale(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const folder = join(cache, name);
    const isStale = name.startsWith(LARGE_PAGES)
      ? readMadeOf(folder).then(async ({ origin }) => !isSame(origin, await originOf(origin.program)))
      : stat(folder).then(({ mtimeMs }) => name.startsWith(`.${LARGE_PAGES}`) && Date.now() - mtimeMs > LEFTOVER_MS);
    if (await isStale.catch(() => name.startsWith(LARGE_PAGES))) await rm(folder, { recursive: true, force: true }).catch(() => {}); // another user's
  }
}

interface Use {
  /** The cache's folder. */
  cache: string;
  say: Say;
  /** The user that Chrome will run as where that is another one. */
  uid?: number | undefined;
  /** Rejects for a copy that cannot be used. */
  prove(copy: string): Promise<unknown>;
  /** How large pages are filled (`fillLargePages`). */
  fill?: typeof fillLargePages;
}

/**
 * Gives a function that finds, for a Chrome that is about to start, one that is the same but for how its program is laid out in its file: the copy in the cache, which is made when there is none of
 * this version and large pages can be had there. It gives the executable itself where they cannot be had, and with a word to `say`, once for each version, when there can be no copy. Never rejects.
 */
export function createLargePages({ cache, say, uid, prove, fill = fillLargePages }: Use): (executable: string) => Promise<string> {
  const refused = new Set<string>();

  async function make(origin: Origin, folder: string): Promise<void> {
    await rm(join(cache, nameOf(origin)), { recursive: true, force: true });
    await installOnce(cache, nameOf(origin), async unfinished => {
      await writeFile(join(unfinished, 'probe'), Buffer.alloc(PROBE_BYTES, 1), { flush: true });
      if ((await fill(join(unfinished, 'probe'))) === 0) throw new NoLargePages();
      await rm(join(unfinished, 'probe'));
      await mustBeOpen(cache, uid);
      await prove(await makeCopy(origin, unfinished));
    });
    if (!(await isWhole(folder, origin))) throw new Error(`${folder} was changed meanwhile`);
    await removeStale(cache);
  }

  /** Undefined when there can be none. */
  async function copyOf(origin: Origin): Promise<string | undefined> {
    const name = nameOf(origin);
    const folder = join(cache, name);
    if (refused.has(name)) return undefined;
    try {
      if (!(await isWhole(folder, origin))) await make(origin, folder);
      const copy = join(folder, basename(origin.program));
      await mustBeOpen(copy, uid);
      return copy;
    } catch (error) {
      refused.add(name);
      if (!(error instanceof NoLargePages)) say(`Chrome is used as it was installed, without large pages: ${(error as Error).message}.`);
      return undefined;
    }
  }

  return async executable => {
    try {
      const program = await programOf(executable);
      if ((await layoutOf(program)) !== 'small') return executable;
      return (await copyOf(await originOf(program))) ?? executable;
    } catch {
      return executable; // it is gone, or cannot be read: who starts it is told so
    }
  };
}
