// CPU time of processes and of all that descends from them, told apart by program or by the part
// that they have in the bench.
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
 * Adds up a process's time. What a Node process here starts and waits for is a Chrome, however long
 * that lived.
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

/** Milliseconds of CPU since each process began. */
export function cpuOf(root: number): Cpu {
  const cpu: Cpu = { chrome: 0, node: 0, mongod: 0, other: 0 };
  for (const process of treeOf(root)) add(cpu, process, process.program, 'chrome');
  return cpu;
}

export const cpuBetween = (before: Cpu, after: Cpu, renders: number): Cpu => {
  const per = (program: keyof Cpu) => Math.max(0, after[program] - before[program]) / renders;
  return { chrome: per('chrome'), node: per('node'), mongod: per('mongod'), other: per('other') };
};

/**
 * The parts that a process can have in the bench. `client`: the bench's own process, which calls
 * the service and serves the pages.
 */
export const ROLES = ['chrome', 'worker', 'api', 'mongod', 'driver', 'client'] as const;
export type Role = (typeof ROLES)[number];

/** Where the trees of processes begin. Chrome is found below. */
export type Roots = Partial<Record<Exclude<Role, 'chrome' | 'client'>, number>>;

export interface Spent {
  byRole: Record<Role, number>;
  /**
   * All that ran on the machine, whoever it was: more than the sum when something else was running,
   * or when processes died unseen.
   */
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

/** Milliseconds of CPU until now; only differences mean something. */
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
