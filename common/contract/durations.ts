// The pause before printing, in Go's notation (common/units.ts). Owns its bounds.
import { parseDurationMs } from '../units.ts';

export const MAX_WAIT_DELAY_MS = 30_000;

/**
 * What a duration looks like, as a regular expression that the API description shows. Both signs of
 * micro are allowed, as in Go.
 */
export const DURATION_PATTERN =
  '^[-+]?(?:0|(?:(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$';

/**
 * `300ms`, `1.5s`, `1s500ms`, `0` to milliseconds, from 0 to 30 s. Undefined when the text is no
 * duration or out of these bounds.
 */
export function parseWaitDelayMs(text: string): number | undefined {
  const ms = parseDurationMs(text);
  if (ms === undefined) return undefined;
  // Go counts whole nanoseconds; without rounding to them `1.1s28.9s` would be a hair over 30 s.
  // Adding 0 turns -0 into 0.
  const rounded = Math.round(ms * 1e6) / 1e6 + 0;
  return rounded >= 0 && rounded <= MAX_WAIT_DELAY_MS ? rounded : undefined;
}
