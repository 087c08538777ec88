// The resource usage of a worker's renders, sampled from outside the process.
import { readdirSync } from 'node:fs';
import type { Footprint } from '../../support/pages/hostile-page.ts';
import {
  everyProcess,
  memoryOfProcess,
  processOf,
  readProc,
  treeOf,
} from '../../support/processes.ts';
import { type ChromeProcess, chromeProcesses } from './chrome-processes.ts';

type Taken = Omit<Footprint, 'requests'>;
const SAMPLE_MS = 400;
const MIB = 2 ** 20;
const MB = 1e6;

const threadsOf = (pid: number): number => {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
};

function look(pid: number): Taken {
  const tree = treeOf(pid, everyProcess()).filter(each => each.pid !== pid && !each.isZombie);
  const sum = (of: (id: number) => number) => tree.reduce((total, each) => total + of(each.pid), 0);
  const renderers = tree.filter(each =>
    readProc(`${each.pid}/cmdline`).includes('--type=renderer'),
  );
  return {
    cpuS: Math.max(0, ...renderers.map(each => each.ownMs)) / 1_000,
    memoryMib: (sum(id => memoryOfProcess(id).ownMb) * MB) / MIB,
    processes: tree.length,
    threads: sum(threadsOf),
  };
}

export interface FootprintWatch {
  end(): void;
  /** The maximum of each above its initial value. */
  taken(): Taken;
  /** All of Chrome's processes that lived. */
  seen(): ChromeProcess[];
}

/** Samples the descendants of the worker `pid` until it ends. */
export function watchFootprint(pid: number): FootprintWatch {
  const start = look(pid);
  const taken: Taken = { cpuS: 0, memoryMib: 0, processes: 0, threads: 0 };
  const seen = new Map<number, ChromeProcess>();
  const sample = () => {
    const now = look(pid);
    taken.cpuS = Math.max(taken.cpuS, now.cpuS);
    for (const key of ['memoryMib', 'processes', 'threads'] as const)
      taken[key] = Math.max(taken[key], now[key] - start[key]);
    for (const each of chromeProcesses(pid)) seen.set(each.pid, each);
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return { end: () => clearInterval(timer), taken: () => taken, seen: () => [...seen.values()] };
}

/** Those of the processes that live, and no longer below the worker. */
export const orphans = (seen: readonly ChromeProcess[], pid: number): ChromeProcess[] => {
  const below = new Set(chromeProcesses(pid).map(each => each.pid));
  return seen.filter(each => {
    const now = processOf(each.pid);
    return (
      now && !now.isZombie && !below.has(each.pid) && readProc(`${each.pid}/cmdline`).includes('--')
    );
  });
};
