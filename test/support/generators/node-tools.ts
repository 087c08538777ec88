// The client generators from npm, in the versions of package-lock.json beside this file. Installed
// once into the cache folder: they need another TypeScript than this repository.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder, installOnce } from '../../../standalone/cache.ts';
import { runCommand } from '../../../standalone/run-command.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));
const FILES = ['package.json', 'package-lock.json'];
const INSTALL_MS = 300_000;

/** Returns a `node_modules` folder. Throws an Error with the reason when npm cannot install it. */
export async function nodeTools(): Promise<string> {
  const lock = await readFile(join(FOLDER, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex');
  const [cache, name] = [cacheFolder(process.env), `npm-generators-${hash.slice(0, 16)}`];
  if (!existsSync(join(cache, name)))
    await installOnce(cache, name, async folder => {
      for (const file of FILES) await copyFile(join(FOLDER, file), join(folder, file));
      const quiet = ['--ignore-scripts', '--no-audit', '--no-fund'];
      const got = await runCommand('npm', ['ci', ...quiet], {
        timeoutMs: INSTALL_MS,
        idle: { folder, ms: 60_000 },
        cwd: folder,
      });
      if (!got.ok) throw new Error(`npm could not install the client generators: ${got.why}`);
    });
  return join(cache, name, 'node_modules');
}
