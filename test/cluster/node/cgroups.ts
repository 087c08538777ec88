// The cgroups of a node's pods: one tree below the root of each hierarchy of this machine, named
// after the process of the tests. Nothing else of a node outlives it, so those of a run that was
// killed are removed by the next one.
import { existsSync } from 'node:fs';
import { mkdir, readdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';

const MOUNTED = '/sys/fs/cgroup';
const PREFIX = 'pressroom-test-node-';
/** A cgroup is busy until the kernel has forgotten its last process. */
const FORGET_MS = 30_000;

/**
 * Of the processors: that of eight processes, where all that runs in the pods would count as one
 * beside whatever else the machine does.
 */
const SHARE = { 'cpu.shares': '8192', 'cpu.weight': '800' };

const foldersIn = async (folder: string) =>
  (await readdir(folder, { withFileTypes: true }).catch(() => []))
    .filter(entry => entry.isDirectory())
    .map(entry => join(folder, entry.name));

/**
 * The roots of all hierarchies: with version 1 one for each controller, with version 2 just one.
 */
const hierarchies = async () =>
  existsSync(join(MOUNTED, 'cgroup.controllers')) ? [MOUNTED] : foldersIn(MOUNTED);

async function removeTree(folder: string): Promise<void> {
  for (const child of await foldersIn(folder)) await removeTree(child);
  await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** Removes those of processes that are no more. */
async function sweep(): Promise<void> {
  for (const hierarchy of await hierarchies()) {
    for (const folder of await foldersIn(hierarchy)) {
      const [, pid] = new RegExp(`/${PREFIX}(\\d+)$`).exec(folder) ?? [];
      if (pid && !existsSync(`/proc/${pid}`)) await removeTree(folder);
    }
  }
}

export interface Cgroups {
  /** As kubelet names it: a path below the root of every hierarchy. */
  readonly root: string;
  /** After the last process in them has ended. */
  remove(): Promise<void>;
}

export async function createCgroups(): Promise<Cgroups> {
  await sweep();
  const name = `${PREFIX}${process.pid}`;
  for (const hierarchy of await hierarchies()) {
    if (hierarchy === MOUNTED)
      await writeFile(join(hierarchy, 'cgroup.subtree_control'), '+cpu +cpuset +io +memory +pids');
    await mkdir(join(hierarchy, name), { recursive: true });
    for (const [file, value] of Object.entries(SHARE))
      if (existsSync(join(hierarchy, name, file)))
        await writeFile(join(hierarchy, name, file), value);
  }
  return {
    root: `/${name}`,
    remove: () =>
      eventually(async () => {
        for (const hierarchy of await hierarchies()) await removeTree(join(hierarchy, name));
      }, FORGET_MS),
  };
}

/**
 * Why a node can have no cgroups here, as in a container that may not make any; undefined when it
 * can.
 */
export const whyNoCgroups = (): Promise<string | undefined> =>
  createCgroups()
    .then(cgroups => cgroups.remove())
    .then(() => undefined)
    .catch((error: Error) => `no cgroups can be made here: ${error.message}`);
