// The fields `wait_delay` and `timeout`: durations in Go's syntax (common/units.ts) within limits.
import { parseDurationMs } from '../units.ts';
import { quoted } from './problems.ts';

export const MAX_WAIT_DELAY_MS = 30_000;
export const MIN_TIMEOUT_MS = 1_000;

/** The pattern in the OpenAPI document. Both micro signs are allowed, as in Go. */
export const DURATION_PATTERN =
  '^[-+]?(?:0|(?:(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$';

function parseWithinMs(text: string, minMs: number, maxMs: number): number | undefined {
  const ms = parseDurationMs(text);
  if (ms === undefined) return undefined;
  // Rounded to nanoseconds as in Go; otherwise `1.1s28.9s` would be slightly over 30 s. Adding 0
  // turns -0 into 0.
  const rounded = Math.round(ms * 1e6) / 1e6 + 0;
  return rounded >= minMs && rounded <= maxMs ? rounded : undefined;
}

/**
 * Parses `300ms`, `1.5s`, `1s500ms` or `0` to milliseconds. Undefined for an invalid duration or
 * one outside 0 to 30 s.
 */
export const parseWaitDelayMs = (text: string): number | undefined =>
  parseWithinMs(text, 0, MAX_WAIT_DELAY_MS);

/** The same for `timeout`, from 1 s to `maxMs`, the limit of the installation. */
export const parseTimeoutMs = (text: string, maxMs = Number.MAX_VALUE): number | undefined =>
  parseWithinMs(text, MIN_TIMEOUT_MS, maxMs);

/** The error text that follows the field's name, or undefined for a valid `wait_delay`. */
export const waitDelayProblem = (text: string): string | undefined =>
  parseWaitDelayMs(text) === undefined
    ? `must be a duration from 0 to 30s such as \`500ms\`, \`1.5s\` or \`1s500ms\`, not ${quoted(text)}`
    : undefined;

/** The same for `timeout`. Without `maxMs`, the limit of the installation is not checked. */
export const timeoutProblem = (text: string, maxMs?: number): string | undefined =>
  parseTimeoutMs(text, maxMs) === undefined
    ? `must be a duration from 1s to ${maxMs === undefined ? 'the limit of this installation' : `${maxMs / 1_000}s, the limit of this installation`}, such as \`1.5s\`, not ${quoted(text)}`
    : undefined;
