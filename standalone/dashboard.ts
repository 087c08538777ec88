// Builds the dashboard's page (Vite) when its sources are newer than what was built. What is built
// stands in dashboard/dist and is not committed.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Notify, runCommand } from './run-command.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'dashboard');
const BUILT = join(FOLDER, 'dist');
const STAMP = '.sources';
/** It takes a second; a busy machine may be far slower. */
const BUILD_MS = 300_000;
const VITE = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');

/** Of every source and of the lock file, which names the packages that go into the page. */
async function sourcesHash(): Promise<string> {
  const names = (await readdir(FOLDER, { recursive: true, withFileTypes: true }))
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(name => !name.startsWith(BUILT))
    .sort();
  const hash = createHash('sha256');
  for (const name of [...names, join(ROOT, 'package-lock.json')])
    hash.update(name.slice(ROOT.length)).update(await readFile(name));
  return hash.digest('hex');
}

/** Nothing to do when it is current. Throws an Error for the terminal. */
export async function buildDashboard(notify: Notify): Promise<void> {
  const wanted = await sourcesHash();
  if ((await readFile(join(BUILT, STAMP), 'utf8').catch(() => '')) === wanted) return;
  if (!existsSync(VITE))
    throw new Error(
      'The dashboard cannot be built: vite is not installed. Run `npm ci` without `--omit=dev`.',
    );
  notify('Building the dashboard.');
  // Two starts may build at once: each in a folder of its own, which then takes the place of the
  // one before.
  const draft = `${BUILT}.${process.pid}`;
  try {
    const { ok, why } = await runCommand(
      process.execPath,
      [VITE, 'build', FOLDER, '--outDir', draft, '--logLevel', 'error'],
      {
        timeoutMs: BUILD_MS,
      },
    );
    if (!ok) throw new Error(`The dashboard could not be built: ${why}`);
    await writeFile(join(draft, STAMP), wanted);
    await rm(BUILT, { recursive: true, force: true });
    await rename(draft, BUILT).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      // The other one was a moment sooner.
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
