// Processes, what descends from them and what they hold, as /proc tells of them now. Linux only.
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
  /** It has ended, and nobody has asked how. */
  isZombie: boolean;
  /** How the kernel schedules it: 0 as any program, or SCHED_BATCH. */
  policy: number;
  /** CPU since it began. */
  ownMs: number;
  /** CPU of its children that have ended and that it has waited for. */
  reapedMs: number;
}

const programs: [RegExp, Program][] = [
  [/chrom|headless/i, 'chrome'],
  [/node|MainThread/i, 'node'],
  [/mongo/i, 'mongod'],
];

/** A file of /proc, empty when what it tells of is gone. */
export function readProc(file: string): string {
  try {
    return readFileSync(`/proc/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/**
 * Undefined when it is gone. Field numbers are those of proc(5), counted after the name, which may
 * hold spaces.
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

/** Those of `all` that are `root` or descend from it. */
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
  /** Resident memory, files included. */
  residentMb: number;
  /** Anonymous and shared memory: without files. What a container's limit counts is near to it. */
  ownMb: number;
}

/** In MB of 10^6 bytes; zeroes when the process is gone. */
export function memoryOfProcess(pid: number): ProcessMemory {
  const status = readProc(`${pid}/status`);
  const mb = (field: string) =>
    (Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1_024) / MB;
  return { residentMb: mb('VmRSS'), ownMb: mb('RssAnon') + mb('RssShmem') };
}
