// The directory of `pressroom batch`: its PDFs, the state with which a later run continues, and a
// lock against a second run at the same time.
import { readdirSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from '../worker/browser/profile.ts';
import { CliError } from './failure.ts';

const STATE_FILE = '.pressroom-batch.json';
const LOCK_FILE = '.pressroom-batch.lock';
const PDF = /^\d{6,}(-.*)?\.pdf$/;
/** See `draft`. */
const LEFT_OVER = /^\.pressroom-batch\.\d+\.\d+\.part$/;
const VERSION = 1;

interface SubmittedPart {
  requests: number;
  /** SHA-256 of the input up to the end of this part. */
  sha256: string;
}

export interface SavedState {
  version: typeof VERSION;
  batches: (SubmittedPart & { id: string })[];
  /** Written before a batch is submitted, and removed with its result. */
  submitting?: SubmittedPart & { since: string };
}

/** A lock with the own ID is of an earlier process: a restarted container uses the same IDs. */
const isOtherProcess = (pid: number): boolean => pid > 0 && pid !== process.pid && isAlive(pid);

/** Not through a symbolic link that is at this path. */
async function openNew(path: string): Promise<FileHandle> {
  await rm(path, { force: true });
  return open(path, 'wx');
}

/** A crash leaves the old content or the new one. */
async function writeDurably(path: string, text: string): Promise<void> {
  const draft = `${path}.part`;
  const file = await openNew(draft);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

async function readState(path: string): Promise<SavedState> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      return { version: VERSION, batches: [] };
    throw error;
  }
  try {
    const state = JSON.parse(text) as SavedState;
    if (state.version === VERSION && Array.isArray(state.batches)) return state;
  } catch {
    // reported below
  }
  throw new CliError(`Cannot read ${path}: it has another format. Use another directory.`);
}

export class BatchDirectory {
  readonly path: string;
  readonly state: SavedState;
  /** Names of the PDFs in it. */
  readonly pdfs: Set<string>;

  private constructor(path: string, state: SavedState, pdfs: Set<string>) {
    this.path = path;
    this.state = state;
    this.pdfs = pdfs;
  }

  /** Creates and locks it. Throws CliError. */
  static async open(path: string): Promise<BatchDirectory> {
    try {
      await mkdir(path, { recursive: true });
      await lock(path);
      const names = readdirSync(path);
      // Of a run that crashed.
      for (const name of names) if (LEFT_OVER.test(name)) await rm(join(path, name));
      const pdfs = names.filter(name => PDF.test(name));
      const state = await readState(join(path, STATE_FILE));
      if (pdfs.length > 0 && state.batches.length === 0)
        throw new CliError(
          `${path} has ${pdfs[0]}, but no ${STATE_FILE} of the run that saved it. Use another directory as --output.`,
        );
      return new BatchDirectory(path, state, new Set(pdfs));
    } catch (error) {
      if (error instanceof CliError) throw error;
      throw new CliError(`Cannot write to ${path}: ${(error as Error).message}`, 1, error);
    }
  }

  /** Where the PDF of a line is written until it is complete. */
  draft(line: number): string {
    return join(this.path, `.pressroom-batch.${line}.${process.pid}.part`);
  }

  save(): Promise<void> {
    return writeDurably(
      join(this.path, STATE_FILE),
      `${JSON.stringify(this.state, undefined, 2)}\n`,
    );
  }

  async unlock(): Promise<void> {
    await rm(join(this.path, LOCK_FILE), { force: true });
  }
}

async function lock(path: string): Promise<void> {
  const file = join(path, LOCK_FILE);
  const own = `${file}.${process.pid}`;
  const draft = await openNew(own);
  try {
    await draft.writeFile(String(process.pid));
    for (;;) {
      try {
        return await link(own, file);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const pid = Number(await readFile(file, 'utf8').catch(() => ''));
      if (isOtherProcess(pid))
        throw new CliError(
          `Process ${pid} already writes to ${path}. Stop it or wait for it. If it is another program, delete ${file}.`,
        );
      await rm(file, { force: true });
    }
  } finally {
    await draft.close();
    await rm(own, { force: true });
  }
}
