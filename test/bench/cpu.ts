// CPU time of a process and all that descends from it, read from /proc, by the program's name. Linux only.
import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ, which is 100 on every Linux that Node runs on. */
const MS_PER_TICK = 10;

export type Cpu = Record<'chrome' | 'node' | 'mongod' | 'other', number>;

interface Process {
  pid: number;
  parent: number;
  program: keyof Cpu;
  ticks: number;
}

const programs: [RegExp, keyof Cpu][] = [
  [/chrom|headless/i, 'chrome'],
  [/node|MainThread/i, 'node'],
  [/mongo/i, 'mongod'],
];

/** Field numbers are those of proc(5), counted after the name, which may hold spaces. Children that ended count with the one who waited for them. */
function read(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { pid, parent: Number(fields[1]), program: programs.find(([pattern]) => pattern.test(name))?.[1] ?? 'other', ticks };
  } catch {
    return undefined;
  }
}

/** Milliseconds of CPU since each process began. */
export function cpuOf(root: number): Cpu {
  const all = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(name => read(Number(name)) ?? []);
  const members = new Set([root]);
  for (let before = 0; before < members.size; ) {
    before = members.size;
    for (const { pid, parent } of all) if (members.has(parent)) members.add(pid);
  }
  const cpu: Cpu = { chrome: 0, node: 0, mongod: 0, other: 0 };
  for (const { pid, program, ticks } of all) if (members.has(pid)) cpu[program] += ticks * MS_PER_TICK;
  return cpu;
}

export const cpuBetween = (before: Cpu, after: Cpu, renders: number): Cpu => {
  const per = (program: keyof Cpu) => Math.max(0, after[program] - before[program]) / renders;
  return { chrome: per('chrome'), node: per('node'), mongod: per('mongod'), other: per('other') };
};
