// The phases of a render in order. A separate file, because both the stored documents and the use
// case need them.
import { roundedMs } from '../../common/units.ts';

/** `post`: edits of the finished PDF, such as metadata and watermark. */
export const PHASES = ['admit', 'queue', 'load', 'wait', 'print', 'post', 'settle'] as const;
/** Milliseconds. */
export type PhaseTimings = Partial<Record<(typeof PHASES)[number], number>>;

/** The phases of a finished render, and the rest of its time. */
export const ALL_PHASES = [...PHASES, 'other'] as const;
export type AllPhases = Partial<Record<(typeof ALL_PHASES)[number], number>>;

/** What happens to the page and its PDF, without waiting for a slot. */
const RENDER_PHASES = [
  'load',
  'wait',
  'print',
  'post',
] as const satisfies readonly (keyof AllPhases)[];

/** Milliseconds; undefined for a render that did not reach a slot. */
export const renderMsOf = (phases: AllPhases): number | undefined =>
  phases.load === undefined
    ? undefined
    : roundedMs(RENDER_PHASES.reduce((sum, phase) => sum + (phases[phase] ?? 0), 0));

/** Rounded; they add up to the total. Undefined for a request that was rejected before rendering. */
export function allPhases(timings: PhaseTimings, totalMs: number): AllPhases | undefined {
  const known = PHASES.flatMap(phase => {
    const ms = timings[phase];
    return ms === undefined ? [] : [[phase, roundedMs(ms)] as const];
  });
  if (known.length === 0) return undefined;
  const sum = known.reduce((all, [, ms]) => all + ms, 0);
  const other = Math.max(0, roundedMs(roundedMs(totalMs) - sum));
  return { ...Object.fromEntries(known), other };
}
