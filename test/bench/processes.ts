// A process and all that descends from it, as /proc tells of them now. Linux only.
import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ, which is 100 on every Linux that Node runs on. */
export const MS_PER_TICK = 10;

export type Program = 'chrome' | 'node' | 'mongod' | 'other';

export interface LivingProcess {
  pid: number;
  parent: number;
  program: Program;
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

/** Field numbers are those of proc(5), counted after the name, which may hold spaces. */
function read(pid: number): LivingProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return {
      pid,
      parent: fields[1]!,
      program: programs.find(([pattern]) => pattern.test(name))?.[1] ?? 'other',
      ownMs: (fields[11]! + fields[12]!) * MS_PER_TICK,
      reapedMs: (fields[13]! + fields[14]!) * MS_PER_TICK,
    };
  } catch {
    return undefined;
  }
}

export function everyProcess(): LivingProcess[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(name => read(Number(name)) ?? []);
}

/** Those of `all` that are `root` or descend from it. */
export function treeOf(root: number, all: readonly LivingProcess[] = everyProcess()): LivingProcess[] {
  const members = new Set([root]);
  for (let before = 0; before < members.size; ) {
    before = members.size;
    for (const { pid, parent } of all) if (members.has(parent)) members.add(pid);
  }
  return all.filter(({ pid }) => members.has(pid));
}
