// The container runtime of a node: containerd, runc and CNI plugins from Debian packages. They are
// unpacked into the cache folder, because an installed containerd would start a service.
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { aptInstall, hasApt } from '../../../standalone/apt.ts';
import { cacheFolder, findOnPath, installOnce } from '../../../standalone/cache.ts';
import { type Notify, runCommand } from '../../../standalone/run-command.ts';
import { whyNoCgroups } from './cgroups.ts';

const FOLDER = `node-debian-${process.arch}`;
const PACKAGES = ['containerd', 'runc', 'containernetworking-plugins'];
/** Programs of the machine that kube-proxy, kubelet and the node tests call. */
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
  /** PATH for containerd, which contains its shim. */
  path: string;
}

/** apt downloads to the working directory. */
async function fetchPackages(folder: string): Promise<void> {
  const run = async (command: string, args: string[]) => {
    const { ok, why } = await runCommand(command, args, { timeoutMs: DOWNLOAD_MS, cwd: folder });
    if (!ok) throw new Error(`${command} ${args.join(' ')}: ${why}`);
  };
  const download = () => run('apt-get', ['download', '-q', ...PACKAGES]);
  // With a missing or outdated index, the version may not exist on the mirrors.
  await download().catch(async () => {
    await run('apt-get', ['update', '-q']);
    await download();
  });
  for (const file of (await readdir(folder)).filter(name => name.endsWith('.deb'))) {
    await run('dpkg-deb', ['--extract', file, '.']);
    await rm(join(folder, file));
  }
}

/** Whether the programs are cached. */
const nodeProgramsAreCached = (): boolean => existsSync(join(cacheFolder(process.env), FOLDER));

/** Why a node cannot run on this machine, if known. Installs missing packages if possible. */
export async function whyNoNode(notify: Notify): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'a node needs Linux and root';
  const { ok, why } = await runCommand('unshare', ['--mount', '--net', '--pid', '--fork', 'true'], {
    timeoutMs: 10_000,
  });
  if (!ok) return `cannot create namespaces: ${why}`;
  const noCgroups = await whyNoCgroups();
  if (noCgroups !== undefined) return noCgroups;
  const missing = MACHINE.filter(([program]) => !findOnPath([program], process.env)).map(
    ([, name]) => name,
  );
  if (missing.length > 0 && !(await aptInstall(missing, notify)))
    return `${missing.join(', ')} could not be installed`;
  return nodeProgramsAreCached() || hasApt()
    ? undefined
    : `${PACKAGES.join(', ')} are not cached, and apt is not available`;
}

/** Returns the programs, and downloads them if they are not cached. */
export async function nodePrograms(notify: Notify): Promise<NodePrograms> {
  const cache = cacheFolder(process.env);
  if (!nodeProgramsAreCached()) {
    notify(`Downloading ${PACKAGES.join(', ')} from Debian.`);
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
