// The copies of this machine's Chromes that the kernel can hold in large pages, in the cache: one for each version of a Chrome, made where the machine can make use of it.
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fillLargePages } from '../worker/large-pages.ts';
import { layOutForLargePages, layoutOf, programOf } from '../worker/program-layout.ts';
import { closedTo, installOnce, isExecutable } from './cache.ts';
import type { Say } from './run-command.ts';

/** How the names of their folders begin. In each, Chrome's other files are links to where they were installed. */
export const LARGE_PAGES = 'chrome-large-pages-';
/** In a copy: which program it was made of, and how large its own is. */
const MADE_OF = 'made-of.json';
/** As small as a file can be to show whether its file system has large pages. */
const PROBE_BYTES = 2 ** 21;
/** Nobody needs as long for a copy: what is older was left by who was killed meanwhile. */
const LEFTOVER_MS = 3_600_000;

/** What tells one version of a Chrome from the next at the same place: its program, and which files are beside it. */
interface Origin {
  program: string;
  size: number;
  mtimeMs: number;
  beside: string[];
}

class NoLargePages extends Error {}

async function originOf(program: string): Promise<Origin> {
  const { size, mtimeMs } = await stat(program);
  const beside = (await readdir(dirname(program))).filter(name => name !== basename(program)).sort();
  return { program, size, mtimeMs, beside };
}

const nameOf = (origin: Origin) => `${LARGE_PAGES}${createHash('sha256').update(JSON.stringify(origin)).digest('hex').slice(0, 16)}`;
const sizeOf = async (file: string) => (await stat(file)).size;
const isSame = (one: Origin, other: Origin) => JSON.stringify(one) === JSON.stringify(other);
const readMadeOf = async (folder: string) => JSON.parse(await readFile(join(folder, MADE_OF), 'utf8')) as { origin: Origin; size: number };

/** True for a copy of this version that is whole: laid out, and as large as it was made. */
async function isWhole(folder: string, origin: Origin): Promise<boolean> {
  const copy = join(folder, basename(origin.program));
  try {
    const { origin: madeOf, size } = await readMadeOf(folder);
    return isSame(madeOf, origin) && (await sizeOf(copy)) === size && (await layoutOf(copy)) === 'large' && (await isExecutable(copy));
  } catch {
    return false;
  }
}

async function mustBeOpen(path: string, uid: number | undefined): Promise<void> {
  const closed = await closedTo(uid, path);
  if (closed) throw new Error(`${closed} is closed to user ${uid}, whom Chrome runs as`);
}

async function makeCopy(origin: Origin, folder: string): Promise<string> {
  const copy = join(folder, basename(origin.program));
  await layOutForLargePages(origin.program, copy);
  await writeFile(join(folder, MADE_OF), JSON.stringify({ origin, size: await sizeOf(copy) }));
  for (const name of origin.beside) if (name !== MADE_OF) await symlink(join(dirname(origin.program), name), join(folder, name));
  return copy;
}

const isOld = async (path: string) => Date.now() - (await stat(path)).mtimeMs > LEFTOVER_MS;
const remove = (path: string) => rm(path, { recursive: true, force: true }).catch(() => {}); // or another user's

/** Of a copy the program goes first: who still runs from it finds the rest beside it for an hour, to start a process of Chrome again that died. */
async function removeStaleCopy(folder: string): Promise<void> {
  const { origin } = await readMadeOf(folder);
  const isStale = await originOf(origin.program).then(
    now => !isSame(origin, now),
    () => true,
  );
  if (!isStale) return;
  const copy = join(folder, basename(origin.program));
  if (await isExecutable(copy)) await remove(copy);
  else if (await isOld(folder)) await remove(folder);
}

/** Copies whose program has another version now, or is gone, and what copying left when it was killed. */
async function removeStale(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    if (name.startsWith(LARGE_PAGES)) await removeStaleCopy(path).catch(() => {}); // a damaged one, which is made anew when it is needed
    if (name.startsWith(`.${LARGE_PAGES}`) && (await isOld(path).catch(() => false))) await remove(path);
  }
}

interface Use {
  /** The cache's folder. */
  cache: string;
  say: Say;
  /** The user that Chrome will run as where that is another one. */
  uid?: number | undefined;
  /** Rejects for a copy that cannot be used. */
  prove(copy: string, giveUp?: AbortSignal): Promise<unknown>;
  /** How large pages are filled (`fillLargePages`). */
  fill?: typeof fillLargePages;
}

/**
 * Gives a function that finds, for a Chrome that is about to start, one that is the same but for how its program is laid out in its file: the copy in the cache, which is made when there is none of
 * this version and large pages can be had there. It gives the executable itself where they cannot be had, and with a word to `say`, once for each version, when there can be no copy. Never rejects;
 * `giveUp` ends a copying soon.
 */
export function createLargePages({ cache, say, uid, prove, fill = fillLargePages }: Use) {
  const refused = new Set<string>();
  /** Since the last copy was made. */
  let tidied = false;

  async function make(origin: Origin, folder: string, giveUp?: AbortSignal): Promise<void> {
    await installOnce(cache, nameOf(origin), async unfinished => {
      const probe = join(unfinished, 'probe');
      await writeFile(probe, Buffer.alloc(PROBE_BYTES, 1), { flush: true });
      if ((await fill(probe, giveUp)) === 0) throw new NoLargePages();
      await rm(probe);
      await mustBeOpen(cache, uid);
      const copy = await makeCopy(origin, unfinished);
      giveUp?.throwIfAborted();
      await prove(copy, giveUp);
      // Only a damaged one is in the way; another may have made a whole one meanwhile, and run it.
      if (!(await isWhole(folder, origin))) await remove(folder);
    });
    if (!(await isWhole(folder, origin))) throw new Error(`${folder} was changed meanwhile`);
    tidied = false;
  }

  /** Undefined when there can be none. */
  async function copyOf(origin: Origin, giveUp?: AbortSignal): Promise<string | undefined> {
    const name = nameOf(origin);
    const folder = join(cache, name);
    if (refused.has(name)) return undefined;
    try {
      if (!(await isWhole(folder, origin))) await make(origin, folder, giveUp);
      const copy = join(folder, basename(origin.program));
      await mustBeOpen(copy, uid);
      return copy;
    } catch (error) {
      if (giveUp?.aborted) return undefined;
      refused.add(name);
      const why = (error as Error).message.replace(/\.$/, '');
      if (!(error instanceof NoLargePages)) say(`Chrome is used as it was installed, without large pages: ${why}.`);
      return undefined;
    }
  }

  return async (executable: string, giveUp?: AbortSignal): Promise<string> => {
    try {
      const program = await programOf(executable);
      if ((await layoutOf(program)) !== 'small') return executable;
      const copy = await copyOf(await originOf(program), giveUp);
      if (!tidied) await removeStale(cache).catch(() => {}); // there is no cache yet
      tidied = true;
      return copy ?? executable;
    } catch {
      return executable; // it is gone, or cannot be read: who starts it is told so
    }
  };
}
