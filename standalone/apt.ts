// Debian and Ubuntu packages, installed without a question when this is root; elsewhere it says no
// at once.
import { createWriteStream } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder, findOnPath } from './cache.ts';
import { type Notify, runCommand } from './run-command.ts';

/** True when packages can be installed here. */
export const hasApt = (env: NodeJS.ProcessEnv = process.env): boolean =>
  process.getuid?.() === 0 && findOnPath(['apt-get'], env) !== undefined;

const indexIsThere = async () =>
  (await readdir('/var/lib/apt/lists').catch(() => [])).some(name => name.includes('Packages'));

/**
 * Installs `packages`; what apt says goes to a log file. False when this is no place for apt, or
 * apt failed (then one line says why).
 */
export async function aptInstall(
  packages: string[],
  notify: Notify,
  env: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  if (!hasApt(env)) return false;
  const folder = cacheFolder(env);
  await mkdir(folder, { recursive: true });
  const logFile = join(folder, 'apt.log');
  const log = createWriteStream(logFile);
  const options = {
    timeoutMs: 600_000,
    env: { ...env, DEBIAN_FRONTEND: 'noninteractive', NEEDRESTART_MODE: 'a' },
    onOutput: (chunk: Buffer) => log.write(chunk),
  };
  const lock = [
    '-o',
    'DPkg::Lock::Timeout=120',
    '-o',
    'Acquire::Retries=1',
    '-o',
    'Acquire::http::Timeout=15',
    '-o',
    'Acquire::https::Timeout=15',
  ];
  const install = () =>
    runCommand(
      'apt-get',
      [...lock, 'install', '-y', '-q', '--no-install-recommends', ...packages],
      options,
    );
  const update = () => runCommand('apt-get', [...lock, 'update', '-q'], options);
  notify(`Installing ${packages.join(', ')} with apt (what it says: ${logFile}).`);
  try {
    const fresh = !(await indexIsThere());
    if (fresh) await update();
    let result = await install();
    if (!result.ok && !fresh) {
      // An index that is weeks old names versions which the mirrors no longer have.
      await update();
      result = await install();
    }
    if (!result.ok) notify(`apt could not install them: ${result.why}.`);
    return result.ok;
  } finally {
    await new Promise(resolve => log.end(resolve));
  }
}
