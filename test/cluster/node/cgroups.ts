// The cgroups of a node's pods, below one root per hierarchy named after the test process. They may
// outlive a killed run, so the next run removes them.
import { existsSync } from 'node:fs';
import { mkdir, readdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';

const MOUNTED = '/sys/fs/cgroup';
const PREFIX = 'pressroom-test-node-';
/** A cgroup is busy until the kernel has released its last process. */
const FORGET_MS = 30_000;

/**
 * CPU weight as of two processes. The kernel may count all other tests as one process (autogroup), so
 * that a larger weight leaves them too little: an API took a minute to start beside heavy pages.
 */
const SHARE = { 'cpu.shares': '2048', 'cpu.weight': '200' };

const foldersIn = async (folder: string) =>
  (await readdir(folder, { withFileTypes: true }).catch(() => []))
    .filter(entry => entry.isDirectory())
    .map(entry => join(folder, entry.name));

/** The roots of all hierarchies: one per controller with version 1, a single one with version 2. */
const hierarchies = async () =>
  existsSync(join(MOUNTED, 'cgroup.controllers')) ? [MOUNTED] : foldersIn(MOUNTED);

async function removeTree(folder: string): Promise<void> {
  for (const child of await foldersIn(folder)) await removeTree(child);
  await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** Removes cgroups of processes that no longer exist. */
async function sweep(): Promise<void> {
  for (const hierarchy of await hierarchies()) {
    for (const folder of await foldersIn(hierarchy)) {
      const [, pid] = new RegExp(`/${PREFIX}(\\d+)$`).exec(folder) ?? [];
      if (pid && !existsSync(`/proc/${pid}`)) await removeTree(folder);
    }
  }
}

export interface Cgroups {
  /** The path below the root of every hierarchy, as configured in kubelet. */
  readonly root: string;
  /** Removes the cgroups. Call it after their last process has ended. */
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

/** Why cgroups cannot be created, for example in a container, if so. */
export const whyNoCgroups = (): Promise<string | undefined> =>
  createCgroups()
    .then(cgroups => cgroups.remove())
    .then(() => undefined)
    .catch((error: Error) => `cannot create cgroups: ${error.message}`);
