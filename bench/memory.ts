// Memory of the processes by role. Linux only.
import { everyProcess, memoryOfProcess, readProc, treeOf } from '../test/support/processes.ts';
import type { Role, Roots } from './cpu.ts';

export interface Memory {
  /** Resident memory of Node processes and mongod, including file pages. */
  residentMb: Partial<Record<Role, number>>;
  /** Anonymous and shared memory, which is close to what a container limit counts. */
  ownMb: Partial<Record<Role, number>>;
  /** Anonymous and shared memory of all Chrome processes; shared memory is counted in each. */
  chromeMb: number;
  renderers: number;
  renderersMb: number;
}

export function memoryOf(roots: Roots): Memory {
  const memory: Memory = { residentMb: {}, ownMb: {}, chromeMb: 0, renderers: 0, renderersMb: 0 };
  const all = everyProcess();
  for (const [role, root] of Object.entries(roots) as [Role, number][])
    for (const { pid, program } of treeOf(root, all)) {
      const { residentMb, ownMb } = memoryOfProcess(pid);
      if (program !== 'chrome') {
        memory.residentMb[role] = (memory.residentMb[role] ?? 0) + residentMb;
        memory.ownMb[role] = (memory.ownMb[role] ?? 0) + ownMb;
        continue;
      }
      memory.chromeMb += ownMb;
      if (!readProc(`${pid}/cmdline`).includes('--type=renderer')) continue;
      memory.renderers += 1;
      memory.renderersMb += ownMb;
    }
  return memory;
}

/** The peak of each role. */
export function most(samples: readonly Memory[]): Memory {
  const highest = (of: (memory: Memory) => number | undefined) =>
    Math.max(0, ...samples.map(memory => of(memory) ?? 0));
  const byRole = (of: (memory: Memory) => Memory['ownMb']) =>
    Object.fromEntries(
      [...new Set(samples.flatMap(memory => Object.keys(of(memory)) as Role[]))].map(role => [
        role,
        highest(memory => of(memory)[role]),
      ]),
    );
  const fullest = samples.toSorted((a, b) => b.chromeMb - a.chromeMb)[0];
  return {
    residentMb: byRole(memory => memory.residentMb),
    ownMb: byRole(memory => memory.ownMb),
    chromeMb: fullest?.chromeMb ?? 0,
    renderers: fullest?.renderers ?? 0,
    renderersMb: fullest?.renderersMb ?? 0,
  };
}

const SAMPLE_EVERY_MS = 500;

/** Samples now and every half second until it is stopped. */
export function watchMemory(roots: Roots): { stop(): Memory } {
  const samples: Memory[] = [];
  const look = () => samples.push(memoryOf(roots));
  const timer = setInterval(look, SAMPLE_EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      return most(samples);
    },
  };
}
