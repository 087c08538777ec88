// The targets of the benchmark, and whether a run meets them. Pure.
import type { SideSummary, Summary } from './report.ts';

export interface Verdict {
  what: string;
  target: string;
  /** Undefined if the run did not measure it. */
  found: string | undefined;
  met: boolean | undefined;
}

/**
 * For the plain invoice. Ratios are to bare Chrome with a fresh context per render, as the median
 * of the rounds.
 */
export const TARGETS = {
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

const atLeast = (what: string, target: number, found: number | undefined): Verdict => ({
  what,
  target: `at least ${target}`,
  found: found === undefined ? undefined : two(found),
  met: found === undefined ? undefined : found >= target,
});

const atMost = (what: string, target: number, found: number | undefined, unit = ''): Verdict => ({
  what,
  target: `at most ${target}${unit}`,
  found: found === undefined ? undefined : `${two(found)}${unit}`,
  met: found === undefined ? undefined : found <= target,
});

const below = (what: string, target: number, found: number | undefined): Verdict => ({
  what,
  target: `below ${target} MB`,
  found: found === undefined ? undefined : `${found.toFixed(0)} MB`,
  met: found === undefined ? undefined : found < target,
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
    ...TARGETS.callers.map(callers =>
      atLeast(
        `throughput at ${callers} callers, relative to bare Chrome`,
        TARGETS.throughputAtLeast,
        at(callers)?.ratio?.throughput.median,
      ),
    ),
    ...TARGETS.callers.map(callers =>
      atLeast(
        `throughput at ${callers} callers, lead over bare Chrome`,
        TARGETS.aheadAtLeast,
        at(callers)?.ratio?.throughput.median,
      ),
    ),
    atMost('p50 at 1 caller, relative to bare Chrome', TARGETS.p50AtMost, at(1)?.ratio?.p50.median),
    ...TARGETS.callers.map(callers =>
      atMost(
        `CPU without Chrome at ${callers} callers`,
        TARGETS.restCpuMsAtMost,
        rest(at(callers)),
        ' ms per render',
      ),
    ),
    ...TARGETS.callers.map(callers =>
      atMost(
        `CPU of the API at ${callers} callers`,
        TARGETS.apiCpuMsAtMost,
        at(callers)?.cpuMs.api,
        ' ms per render',
      ),
    ),
    below(
      'resident memory of the API at 32 callers',
      TARGETS.apiMbBelow,
      at(32)?.memory.residentMb.api,
    ),
    below(
      'resident memory of the worker process, whole run',
      TARGETS.workerMbBelow,
      workers.length > 0 ? Math.max(...workers) : undefined,
    ),
  ];
}
