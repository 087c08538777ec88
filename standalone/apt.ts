// Installs Debian and Ubuntu packages without prompts. Does nothing unless this process is root.
import { createWriteStream } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder, findOnPath } from './cache.ts';
import { type Notify, runCommand } from './run-command.ts';

/** True when this process can install packages. */
export const hasApt = (env: NodeJS.ProcessEnv = process.env): boolean =>
  process.getuid?.() === 0 && findOnPath(['apt-get'], env) !== undefined;

const hasPackageIndex = async () =>
  (await readdir('/var/lib/apt/lists').catch(() => [])).some(name => name.includes('Packages'));

/**
 * Installs `packages` and writes the output of apt to a log file. Returns false when apt is not
 * available or fails; a failure is reported to `notify`.
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
  notify(`Installing ${packages.join(', ')} with apt (log: ${logFile}).`);
  try {
    const fresh = !(await hasPackageIndex());
    if (fresh) await update();
    let result = await install();
    if (!result.ok && !fresh) {
      // An old index may name versions that the mirrors no longer have.
      await update();
      result = await install();
    }
    if (!result.ok) notify(`apt failed: ${result.why}.`);
    return result.ok;
  } finally {
    await new Promise(resolve => log.end(resolve));
  }
}
