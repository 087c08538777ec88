// Samples the memory of the service's processes after every N renders.
import { memoryOfProcess } from '../test/support/processes.ts';
import { memoryOf } from './memory.ts';

export interface Sample {
  /** Renders completed so far. */
  renders: number;
  apiMb: number;
  workerMb: number;
  /** Sum of all Chrome processes. */
  chromeMb: number;
}

export interface MemoryLog {
  /** Sets the number of renders between samples, and between calls of `report`. */
  every(sample: number, reported: number, report: (sample: Sample) => void): void;
  /** Records one completed render. */
  rendered(): void;
  samples(): readonly Sample[];
}

/** Chrome is all processes below `worker`. */
export function createMemoryLog({ api, worker }: { api: number; worker: number }): MemoryLog {
  const samples: Sample[] = [];
  let renders = 0;
  let between = Number.POSITIVE_INFINITY;
  let betweenReports = Number.POSITIVE_INFINITY;
  let onReport = (_sample: Sample) => {};
  return {
    every(sample, reported, report) {
      [between, betweenReports, onReport] = [sample, reported, report];
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
      if (renders % betweenReports < between) onReport(sample);
    },
    samples: () => samples,
  };
}
