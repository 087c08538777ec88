// The phases of a render in order. A separate file, because both the stored documents and the use
// case need them.
import { roundedMs } from '../../common/units.ts';

/** `post`: edits of the finished PDF, such as metadata and watermark. */
export const PHASES = ['admit', 'queue', 'load', 'wait', 'print', 'post', 'settle'] as const;
/** Milliseconds. */
export type PhaseTimings = Partial<Record<(typeof PHASES)[number], number>>;

/** The part of the total that belongs to no phase. All figures are rounded. */
export function otherMs(timings: PhaseTimings, totalMs: number): number {
  const known = Object.values(timings).reduce((sum, ms) => sum + roundedMs(ms), 0);
  return Math.max(0, roundedMs(roundedMs(totalMs) - known));
}
