// The targets of the benchmark, and whether a run meets them. Pure.
import type { SideSummary, Summary } from './report.ts';

export interface Verdict {
  what: string;
  wanted: string;
  /** Undefined if the run did not measure it. */
  found: string | undefined;
  met: boolean | undefined;
}

/**
 * For the plain invoice. Ratios are to bare Chrome with a fresh context per render, as the median
 * of the rounds.
 */
export const WANTED = {
  callers: [2, 4, 8],
  throughputAtLeast: 0.95,
  aheadAtLeast: 1.15,
  p50AtMost: 0.75,
  /** CPU per render without that of Chrome and the load client. */
  restCpuMsAtMost: 5,
  apiCpuMsAtMost: 2,
  apiMbBelow: 150,
  workerMbBelow: 120,
} as const;

const two = (value: number) => value.toFixed(2);

function pressroomAt(summaries: readonly Summary[], callers: number): SideSummary | undefined {
  const plain = summaries.find(
    ({ cell }) =>
      cell.document === 'invoice' &&
      cell.by === 'html' &&
      !cell.stamped &&
      cell.callers === callers,
  );
  return plain?.sides.find(({ side }) => side === 'pressroom');
}

const atLeast = (what: string, wanted: number, found: number | undefined): Verdict => ({
  what,
  wanted: `at least ${wanted}`,
  found: found === undefined ? undefined : two(found),
  met: found === undefined ? undefined : found >= wanted,
});

const atMost = (what: string, wanted: number, found: number | undefined, unit = ''): Verdict => ({
  what,
  wanted: `at most ${wanted}${unit}`,
  found: found === undefined ? undefined : `${two(found)}${unit}`,
  met: found === undefined ? undefined : found <= wanted,
});

const below = (what: string, wanted: number, found: number | undefined): Verdict => ({
  what,
  wanted: `below ${wanted} MB`,
  found: found === undefined ? undefined : `${found.toFixed(0)} MB`,
  met: found === undefined ? undefined : found < wanted,
});

export function judge(summaries: readonly Summary[]): Verdict[] {
  const at = (callers: number) => pressroomAt(summaries, callers);
  const rest = (side: SideSummary | undefined) =>
    side && side.cpuMs.worker + side.cpuMs.api + side.cpuMs.mongod;
  /** From all cells, to include memory that large documents leave behind. */
  const workers = summaries.flatMap(({ sides }) =>
    sides.flatMap(({ memory }) => memory.residentMb.worker ?? []),
  );
  return [
    ...WANTED.callers.map(callers =>
      atLeast(
        `throughput at ${callers} callers, relative to bare Chrome`,
        WANTED.throughputAtLeast,
        at(callers)?.ratio?.throughput.median,
      ),
    ),
    ...WANTED.callers.map(callers =>
      atLeast(
        `throughput at ${callers} callers, lead over bare Chrome`,
        WANTED.aheadAtLeast,
        at(callers)?.ratio?.throughput.median,
      ),
    ),
    atMost('p50 at 1 caller, relative to bare Chrome', WANTED.p50AtMost, at(1)?.ratio?.p50.median),
    ...WANTED.callers.map(callers =>
      atMost(
        `CPU without Chrome at ${callers} callers`,
        WANTED.restCpuMsAtMost,
        rest(at(callers)),
        ' ms per render',
      ),
    ),
    ...WANTED.callers.map(callers =>
      atMost(
        `CPU of the API at ${callers} callers`,
        WANTED.apiCpuMsAtMost,
        at(callers)?.cpuMs.api,
        ' ms per render',
      ),
    ),
    below(
      'resident memory of the API at 32 callers',
      WANTED.apiMbBelow,
      at(32)?.memory.residentMb.api,
    ),
    below(
      'resident memory of the worker process, whole run',
      WANTED.workerMbBelow,
      workers.length > 0 ? Math.max(...workers) : undefined,
    ),
  ];
}
