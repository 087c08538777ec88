// The field `wait_delay`: a duration in Go's syntax (common/units.ts) within limits.
import { parseDurationMs } from '../units.ts';

export const MAX_WAIT_DELAY_MS = 30_000;

/** The pattern in the OpenAPI document. Both micro signs are allowed, as in Go. */
export const DURATION_PATTERN =
  '^[-+]?(?:0|(?:(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$';

/**
 * Parses `300ms`, `1.5s`, `1s500ms` or `0` to milliseconds. Undefined for an invalid duration or
 * one outside 0 to 30 s.
 */
export function parseWaitDelayMs(text: string): number | undefined {
  const ms = parseDurationMs(text);
  if (ms === undefined) return undefined;
  // Rounded to nanoseconds as in Go; otherwise `1.1s28.9s` would be slightly over 30 s. Adding 0
  // turns -0 into 0.
  const rounded = Math.round(ms * 1e6) / 1e6 + 0;
  return rounded >= 0 && rounded <= MAX_WAIT_DELAY_MS ? rounded : undefined;
}
