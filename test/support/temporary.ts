// Temporary folders of a suite, and folders of a run that the next run removes if this one was
// killed.
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Call inside `describe`. Returns a function that returns paths in the folder of the suite. */
export function temporaryFolder(): (...names: string[]) => string {
  let folder: string;
  before(async function () {
    folder = await mkdtemp(join(tmpdir(), 'pressroom-test-'));
    // After the hooks of the suite, which stop processes that use the folder.
    const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 10 });
    this.test!.parent!.afterAll(remove);
  });
  return (...names) => join(folder, ...names);
}

/**
 * Creates a folder in `parent` that is named after `prefix` and this process, and removes folders
 * of ended processes. The caller removes the created folder.
 */
export async function folderOfThisRun(parent: string, prefix: string): Promise<string> {
  for (const name of await readdir(parent)) {
    const [, pid] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? [];
    if (pid && !existsSync(`/proc/${pid}`))
      await rm(join(parent, name), { recursive: true, force: true });
  }
  return mkdtemp(join(parent, `${prefix}${process.pid}-`));
}
