// Resident memory of the service's processes, looked at after every so many renders.
import { memoryOfProcess } from '../test/support/processes.ts';
import { memoryOf } from './memory.ts';

export interface Sample {
  /** That were done by then. */
  renders: number;
  apiMb: number;
  workerMb: number;
  /** Of all its processes. */
  chromeMb: number;
}

export interface MemoryLog {
  /**
   * From now on: how many renders lie between two samples, and how many between two that `say`
   * hears of.
   */
  every(sample: number, said: number, say: (sample: Sample) => void): void;
  /** One more render is done. */
  rendered(): void;
  samples(): readonly Sample[];
}

/** Chrome is what runs below `worker`. */
export function createMemoryLog({ api, worker }: { api: number; worker: number }): MemoryLog {
  const samples: Sample[] = [];
  let renders = 0;
  let between = Number.POSITIVE_INFINITY;
  let betweenSaid = Number.POSITIVE_INFINITY;
  let hears = (_sample: Sample) => {};
  return {
    every(sample, said, say) {
      [between, betweenSaid, hears] = [sample, said, say];
    },
    rendered() {
      renders += 1;
      if (renders % between !== 0) return;
      const residentMb = (pid: number) => memoryOfProcess(pid).residentMb;
      const sample = {
        renders,
        apiMb: residentMb(api),
        workerMb: residentMb(worker),
        chromeMb: memoryOf({ worker }).chromeMb,
      };
      samples.push(sample);
      if (renders % betweenSaid < between) hears(sample);
    },
    samples: () => samples,
  };
}
