// The Python packages of the tests, in the versions of a file such as python-requirements.txt
// (schemathesis, requests). Installed once into the cache folder.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder, installOnce } from '../../standalone/cache.ts';
import { pythonWithPip } from '../../standalone/python.ts';
import { runCommand } from '../../standalone/run-command.ts';

const REQUIREMENTS = fileURLToPath(new URL('python-requirements.txt', import.meta.url));
const INSTALL_MS = 300_000;

export interface PythonTools {
  python: string;
  /** The environment in which Python finds the packages. */
  env: NodeJS.ProcessEnv;
}

/**
 * `requirements`: the path of a file with the packages. Throws an Error with the reason when they
 * cannot be installed.
 */
export async function pythonTools(requirements = REQUIREMENTS): Promise<PythonTools> {
  const python = await pythonWithPip(process.env, () => {});
  const cache = cacheFolder(process.env);
  const { stdout: version } = await runCommand(
    python,
    ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'],
    { timeoutMs: 20_000 },
  );
  const hash = createHash('sha256')
    .update(await readFile(requirements))
    .update(version)
    .digest('hex');
  const name = `python-tests-${hash.slice(0, 16)}`;
  if (!existsSync(join(cache, name)))
    await installOnce(cache, name, async folder => {
      const pip = [
        '-m',
        'pip',
        'install',
        '--quiet',
        '--disable-pip-version-check',
        '--target',
        folder,
        '--requirement',
        requirements,
      ];
      const got = await runCommand(python, pip, {
        timeoutMs: INSTALL_MS,
        idle: { folder, ms: 60_000 },
      });
      if (!got.ok) throw new Error(`pip could not install the tests' packages: ${got.why}`);
    });
  return { python, env: { ...process.env, PYTHONPATH: join(cache, name) } };
}
