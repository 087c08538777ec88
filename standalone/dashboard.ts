// Builds the dashboard with Vite when its sources have changed. The result, dashboard/dist, is not
// committed.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Notify, runCommand } from './run-command.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'dashboard');
/** The dashboard imports from it. */
const CONTRACT = join(ROOT, 'common', 'contract');
const BUILT = join(FOLDER, 'dist');
const STAMP = '.sources';
/** A build takes about a second, but may take far longer on a busy machine. */
const BUILD_MS = 300_000;
const VITE = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');

/** Hash of all sources and of the lock file, which lists the packages in the page. */
async function sourcesHash(): Promise<string> {
  const folders = [FOLDER, CONTRACT];
  const entries = folders.map(each => readdir(each, { recursive: true, withFileTypes: true }));
  const names = (await Promise.all(entries))
    .flat()
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(name => !name.startsWith(BUILT))
    .sort();
  const hash = createHash('sha256');
  for (const name of [...names, join(ROOT, 'package-lock.json')])
    hash.update(name.slice(ROOT.length)).update(await readFile(name));
  return hash.digest('hex');
}

/** Does nothing when the build is current. Throws an Error with a message for the terminal. */
export async function buildDashboard(notify: Notify): Promise<void> {
  const hash = await sourcesHash();
  if ((await readFile(join(BUILT, STAMP), 'utf8').catch(() => '')) === hash) return;
  if (!existsSync(VITE))
    throw new Error(
      'Cannot build the dashboard because Vite is not installed. Run `npm ci` without `--omit=dev`.',
    );
  notify('Building the dashboard.');
  // Concurrent builds use separate folders; each then replaces the old one.
  const draft = `${BUILT}.${process.pid}`;
  try {
    const { ok, why } = await runCommand(
      process.execPath,
      [VITE, 'build', FOLDER, '--outDir', draft, '--logLevel', 'error'],
      {
        timeoutMs: BUILD_MS,
      },
    );
    if (!ok) throw new Error(`Cannot build the dashboard: ${why}`);
    await writeFile(join(draft, STAMP), hash);
    await rm(BUILT, { recursive: true, force: true });
    await rename(draft, BUILT).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      // Another process has just finished the same build.
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
