// What a node runs its containers with: Debian's containerd, runc and CNI plugins, unpacked into
// the cache folder. Unpacked and not installed, since an installed containerd is started as a
// service of the machine.
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { aptInstall, hasApt } from '../../../standalone/apt.ts';
import { cacheFolder, findOnPath, installOnce } from '../../../standalone/cache.ts';
import { type Notify, runCommand } from '../../../standalone/run-command.ts';
import { whyNoCgroups } from './cgroups.ts';

const FOLDER = `node-debian-${process.arch}`;
const PACKAGES = ['containerd', 'runc', 'containernetworking-plugins'];
/** What kube-proxy and kubelet call, and what this folder's own files call. */
const MACHINE = [
  ['iptables', 'iptables'],
  ['ip', 'iproute2'],
  ['nsenter', 'util-linux'],
] as const;
const DOWNLOAD_MS = 300_000;

export interface NodePrograms {
  containerd: string;
  ctr: string;
  runc: string;
  /** The folder of the CNI plugins. */
  plugins: string;
  /** Where containerd finds its shim. */
  path: string;
}

/** apt downloads into the folder in which it is run. */
async function fetchPackages(folder: string): Promise<void> {
  const run = async (command: string, args: string[]) => {
    const { ok, why } = await runCommand(command, args, { timeoutMs: DOWNLOAD_MS, cwd: folder });
    if (!ok) throw new Error(`${command} ${args.join(' ')}: ${why}`);
  };
  const download = () => run('apt-get', ['download', '-q', ...PACKAGES]);
  // An index that is missing, or weeks old, names no version that the mirrors have.
  await download().catch(async () => {
    await run('apt-get', ['update', '-q']);
    await download();
  });
  for (const file of (await readdir(folder)).filter(name => name.endsWith('.deb'))) {
    await run('dpkg-deb', ['--extract', file, '.']);
    await rm(join(folder, file));
  }
}

/** Whether `nodePrograms` has nothing to fetch. */
const nodeProgramsAreCached = (): boolean => existsSync(join(cacheFolder(process.env), FOLDER));

/**
 * Why no node can run on this machine; undefined when one can, as far as that is seen beforehand.
 * Installs what is missing where that can be done.
 */
export async function whyNoNode(notify: Notify): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'a node needs Linux and root';
  const { ok, why } = await runCommand('unshare', ['--mount', '--net', '--pid', '--fork', 'true'], {
    timeoutMs: 10_000,
  });
  if (!ok) return `no namespaces can be made here: ${why}`;
  const noCgroups = await whyNoCgroups();
  if (noCgroups !== undefined) return noCgroups;
  const missing = MACHINE.filter(([program]) => !findOnPath([program], process.env)).map(
    ([, name]) => name,
  );
  if (missing.length > 0 && !(await aptInstall(missing, notify)))
    return `${missing.join(', ')} cannot be installed here`;
  return nodeProgramsAreCached() || hasApt()
    ? undefined
    : `${PACKAGES.join(', ')} are not in the cache folder, and there is no apt`;
}

/** Fetches them when they are not in the cache folder. Throws an Error that says what apt said. */
export async function nodePrograms(notify: Notify): Promise<NodePrograms> {
  const cache = cacheFolder(process.env);
  if (!nodeProgramsAreCached()) {
    notify(`Fetching ${PACKAGES.join(', ')} from Debian.`);
    await installOnce(cache, FOLDER, fetchPackages);
  }
  const at = (...names: string[]) => join(cache, FOLDER, 'usr', ...names);
  return {
    containerd: at('bin/containerd'),
    ctr: at('bin/ctr'),
    runc: at('sbin/runc'),
    plugins: at('lib/cni'),
    path: [at('bin'), at('sbin'), process.env.PATH].join(':'),
  };
}
