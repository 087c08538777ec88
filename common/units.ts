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
 * Like Go's `time.ParseDuration` (https://pkg.go.dev/time#ParseDuration): `300ms`, `1.5s`, `.5s`,
 * `1s500ms`, `-1m` or `0`. Returns milliseconds with fractions, or undefined for an invalid
 * duration.
 */
export function parseDurationMs(text: string): number | undefined {
  const sign = text.startsWith('-') ? -1 : 1;
  const body = /^[-+]/.test(text) ? text.slice(1) : text;
  if (body === '0') return 0;
  if (body === '' || body.length > 64) return undefined;
  const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;
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
  const match = /^(\d{1,15}(?:\.\d{1,6})?) ?(B|KiB|MiB|GiB)?$/.exec(text.trim());
  if (!match) return undefined;
  const bytes = Number(match[1]) * BYTES[match[2] ?? 'B']!;
  return Number.isSafeInteger(bytes) ? bytes : Math.round(bytes);
}

/** To a tenth of a millisecond: in logs, headers and the dashboard alike. */
export const roundedMs = (ms: number): number => Math.round(ms * 10) / 10;
