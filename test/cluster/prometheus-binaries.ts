// Prometheus and promtool for tests: from PATH, or from the Debian package. The package is unpacked
// into the cache folder, because an installed one would start a service.
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasApt } from '../../standalone/apt.ts';
import { cacheFolder, findOnPath, installOnce } from '../../standalone/cache.ts';
import { type Notify, runCommand } from '../../standalone/run-command.ts';

export interface PrometheusBinaries {
  prometheus: string;
  promtool: string;
}

const FOLDER = 'prometheus-debian';
const DOWNLOAD_MS = 300_000;

const onPath = (): PrometheusBinaries | undefined => {
  const [prometheus, promtool] = ['prometheus', 'promtool'].map(name =>
    findOnPath([name], process.env),
  );
  return prometheus && promtool ? { prometheus, promtool } : undefined;
};

/** apt downloads to the working directory. */
async function fetchPackage(folder: string): Promise<void> {
  const run = async (command: string, args: string[]) => {
    const { ok, why } = await runCommand(command, args, { timeoutMs: DOWNLOAD_MS, cwd: folder });
    if (!ok) throw new Error(`${command} ${args.join(' ')}: ${why}`);
  };
  const download = () => run('apt-get', ['download', '-q', 'prometheus']);
  // With a missing or outdated index, the version may not exist on the mirrors.
  await download().catch(async () => {
    await run('apt-get', ['update', '-q']);
    await download();
  });
  const file = (await readdir(folder)).find(name => name.endsWith('.deb'))!;
  await run('dpkg-deb', ['--extract', file, '.']);
  await rm(join(folder, file));
}

/** The paths; undefined if they are not available. `notify` receives the reason. */
export async function prometheusBinaries(notify: Notify): Promise<PrometheusBinaries | undefined> {
  const found = onPath();
  if (found) return found;
  const cache = cacheFolder(process.env);
  const folder = join(cache, FOLDER);
  if (!existsSync(folder)) {
    if (!hasApt()) return undefined;
    notify('Downloading Prometheus from Debian (19 MB).');
    try {
      await installOnce(cache, FOLDER, fetchPackage);
    } catch (error) {
      notify(`Could not download Prometheus: ${(error as Error).message}`);
      return undefined;
    }
  }
  return {
    prometheus: join(folder, 'usr/bin/prometheus'),
    promtool: join(folder, 'usr/bin/promtool'),
  };
}
