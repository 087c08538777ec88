// Parses durations and sizes from requests and environment variables, and rounds durations. Limits
// are up to the caller.

const NANOSECONDS: Record<string, number> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};
const BYTES: Record<string, number> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/**
 * The syntax of an amount with a unit, for parsers outside this process. The patterns are valid in
 * JavaScript and in Go; `part` matches one number with its unit. The amount is the sum of the parts.
 */
export interface AmountSyntax {
  pattern: string;
  part: string;
  units: Record<string, number>;
}

const DURATION_PART = `(\\d+\\.?\\d*|\\.\\d+)(${Object.keys(NANOSECONDS).join('|')})`;
/** What `parseDurationMs` accepts, in milliseconds. */
export const DURATION_SYNTAX: AmountSyntax = {
  pattern: `^[-+]?(0|(${DURATION_PART})+)$`,
  part: DURATION_PART,
  units: Object.fromEntries(Object.entries(NANOSECONDS).map(([unit, ns]) => [unit, ns / 1e6])),
};

const BYTES_PART = `(\\d{1,15}(?:\\.\\d{1,6})?) ?(${Object.keys(BYTES).join('|')})?`;
/** What `parseBytes` accepts, in bytes. */
export const BYTES_SYNTAX: AmountSyntax = {
  pattern: `^${BYTES_PART}$`,
  part: BYTES_PART,
  units: { '': 1, ...BYTES },
};
const BYTES_PATTERN = new RegExp(BYTES_SYNTAX.pattern);

/**
 * Like Go's `time.ParseDuration` (https://pkg.go.dev/time#ParseDuration): `300ms`, `1.5s`, `.5s`,
 * `1s500ms`, `-1m` or `0`. Returns milliseconds with fractions, or undefined for an invalid
 * duration.
 */
export function parseDurationMs(text: string): number | undefined {
  const sign = text.startsWith('-') ? -1 : 1;
  const body = /^[-+]/.test(text) ? text.slice(1) : text;
  if (body === '0') return 0;
  if (body === '' || body.length > 64) return undefined;
  const part = new RegExp(DURATION_PART, 'y');
  let nanoseconds = 0;
  while (part.lastIndex < body.length) {
    const match = part.exec(body);
    if (!match) return undefined;
    nanoseconds += Number(match[1]) * NANOSECONDS[match[2]!]!;
  }
  return (sign * nanoseconds) / 1e6;
}

/** Parses `512`, `100 MiB` or `1.5GiB` to bytes. Binary units only, to avoid ambiguity. */
export function parseBytes(text: string): number | undefined {
  const match = BYTES_PATTERN.exec(text.trim());
  if (!match) return undefined;
  const bytes = Number(match[1]) * BYTES[match[2] ?? 'B']!;
  return Number.isSafeInteger(bytes) ? bytes : Math.round(bytes);
}

/** To a tenth of a millisecond: in logs, headers and the dashboard alike. */
export const roundedMs = (ms: number): number => Math.round(ms * 10) / 10;
