// Reads processes, their descendants, CPU time and memory from /proc. Linux only.
import { readdirSync, readFileSync } from 'node:fs';

const MB = 1e6;
/** USER_HZ, which is 100 on every Linux that Node runs on. */
export const MS_PER_TICK = 10;

/** How Linux schedules batches (sched(7)). */
export const SCHED_BATCH = 3;

export type Program = 'chrome' | 'node' | 'mongod' | 'other';

export interface LivingProcess {
  pid: number;
  parent: number;
  program: Program;
  /** The process has ended and its parent has not waited for it. */
  isZombie: boolean;
  /** The scheduling policy: 0 (normal) or SCHED_BATCH. */
  policy: number;
  /** CPU time since the start of the process. */
  ownMs: number;
  /** CPU time of ended children for which the process has waited. */
  reapedMs: number;
}

const programs: [RegExp, Program][] = [
  [/chrom|headless/i, 'chrome'],
  [/node|MainThread/i, 'node'],
  [/mongo/i, 'mongod'],
];

/** The content of a file in /proc. Empty when the process is gone. */
export function readProc(file: string): string {
  try {
    return readFileSync(`/proc/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/**
 * Returns undefined when the process is gone. Fields are numbered as in proc(5), starting after
 * the name, which may contain spaces.
 */
export function processOf(pid: number): LivingProcess | undefined {
  const stat = readProc(`${pid}/stat`);
  if (stat === '') return undefined;
  const nameEnd = stat.lastIndexOf(')');
  const name = stat.slice(stat.indexOf('(') + 1, nameEnd);
  const [state, ...fields] = stat.slice(nameEnd + 2).split(' ');
  const field = (nth: number) => Number(fields[nth - 1]);
  return {
    pid,
    parent: field(1),
    program: programs.find(([pattern]) => pattern.test(name))?.[1] ?? 'other',
    isZombie: state === 'Z',
    policy: field(38),
    ownMs: (field(11) + field(12)) * MS_PER_TICK,
    reapedMs: (field(13) + field(14)) * MS_PER_TICK,
  };
}

export function everyProcess(): LivingProcess[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(name => processOf(Number(name)) ?? []);
}

/** The process `root` and its descendants. */
export function treeOf(
  root: number,
  all: readonly LivingProcess[] = everyProcess(),
): LivingProcess[] {
  const members = new Set([root]);
  for (let before = 0; before < members.size; ) {
    before = members.size;
    for (const { pid, parent } of all) if (members.has(parent)) members.add(pid);
  }
  return all.filter(({ pid }) => members.has(pid));
}

export interface ProcessMemory {
  /** Resident memory including mapped files. */
  residentMb: number;
  /** Anonymous and shared memory, close to what a container's memory limit counts. */
  ownMb: number;
}

/** Memory in MB (10^6 bytes). Zero when the process is gone. */
export function memoryOfProcess(pid: number): ProcessMemory {
  const status = readProc(`${pid}/status`);
  const mb = (field: string) =>
    (Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1_024) / MB;
  return { residentMb: mb('VmRSS'), ownMb: mb('RssAnon') + mb('RssShmem') };
}
