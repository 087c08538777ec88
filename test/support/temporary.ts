// Temporary folders: of a suite's own, made before its tests and removed after them, and of
// whatever tests start, which the next run removes when this one is killed.
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Call it inside `describe`; the function it gives names a path in the folder, once the tests run.
 */
export function temporaryFolder(): (...names: string[]) => string {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pressroom-test-'));
  });
  after(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  return (...names) => join(folder, ...names);
}

/**
 * Makes a folder in `parent` whose name begins with `prefix` and tells whose it is, and removes
 * those of processes that are gone. Who asks for it removes it.
 */
export async function folderOfThisRun(parent: string, prefix: string): Promise<string> {
  for (const name of await readdir(parent)) {
    const [, pid] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? [];
    if (pid && !existsSync(`/proc/${pid}`))
      await rm(join(parent, name), { recursive: true, force: true });
  }
  return mkdtemp(join(parent, `${prefix}${process.pid}-`));
}
