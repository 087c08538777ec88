// A temporary folder of a suite's own, made before its tests and removed after them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Call it inside `describe`; the function it gives names a path in the folder, once the tests run. */
export function temporaryFolder(): (...names: string[]) => string {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pressroom-test-'));
  });
  after(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  return (...names) => join(folder, ...names);
}
