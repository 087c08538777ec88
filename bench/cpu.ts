// CPU time of process trees, by program or by role in the benchmark.
import {
  everyProcess,
  type LivingProcess,
  MS_PER_TICK,
  type Program,
  readProc,
  treeOf,
} from '../test/support/processes.ts';

export type Cpu = Record<Program, number>;

/**
 * Adds the CPU time of a process. Child processes of a Node process are counted as Chrome,
 * including ended ones.
 */
function add<K extends string>(
  sums: Record<K, number>,
  { ownMs, reapedMs, program }: LivingProcess,
  own: K,
  chrome: K,
): void {
  sums[own] += ownMs;
  sums[program === 'node' ? chrome : own] += reapedMs;
}

/** CPU milliseconds since the start of each process. */
export function cpuOf(root: number): Cpu {
  const cpu: Cpu = { chrome: 0, node: 0, mongod: 0, other: 0 };
  for (const process of treeOf(root)) add(cpu, process, process.program, 'chrome');
  return cpu;
}

export const cpuBetween = (before: Cpu, after: Cpu): Cpu => {
  const of = (program: Program) => Math.max(0, after[program] - before[program]);
  return { chrome: of('chrome'), node: of('node'), mongod: of('mongod'), other: of('other') };
};

/**
 * The roles of processes. `client` is the benchmark process, which sends requests and serves pages.
 */
export const ROLES = ['chrome', 'worker', 'api', 'mongod', 'driver', 'client'] as const;
export type Role = (typeof ROLES)[number];

/** The root processes. Chrome is found below them. */
export type Roots = Partial<Record<Exclude<Role, 'chrome' | 'client'>, number>>;

export interface Spent {
  byRole: Record<Role, number>;
  /** CPU time of the whole machine, including other programs and processes that ended unnoticed. */
  machine: number;
}

/** Busy time of all cores since the machine started: user, nice, system, irq, softirq. */
function machineMs(): number {
  const [user, nice, system, , , irq, softirq] = readProc('stat')
    .split('\n')[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user! + nice! + system! + irq! + softirq!) * MS_PER_TICK;
}

/** CPU milliseconds until now; only differences are meaningful. */
export function spentBy(roots: Roots): Spent {
  const byRole: Record<Role, number> = {
    chrome: 0,
    worker: 0,
    api: 0,
    mongod: 0,
    driver: 0,
    client: 0,
  };
  const all = everyProcess();
  for (const [role, pid] of Object.entries(roots) as [Role, number][])
    for (const process of treeOf(pid, all))
      add(byRole, process, process.program === 'chrome' ? 'chrome' : role, 'chrome');
  const { user, system } = process.cpuUsage();
  byRole.client = (user + system) / 1_000;
  return { byRole, machine: machineMs() };
}

export const spentBetween = (before: Spent, after: Spent): Spent => ({
  byRole: Object.fromEntries(
    ROLES.map(role => [role, Math.max(0, after.byRole[role] - before.byRole[role])]),
  ) as Record<Role, number>,
  machine: after.machine - before.machine,
});
