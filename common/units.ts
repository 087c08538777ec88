// Texts with units, as people write them in requests and in environment variables. Owns parsing
// only; bounds are the caller's.

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
 * Go's `time.ParseDuration` (https://pkg.go.dev/time#ParseDuration): `300ms`, `1.5s`, `.5s`,
 * `1s500ms`, `-1m`, a bare `0`. Returns milliseconds (a fraction below one millisecond is kept), or
 * undefined when the text is no duration.
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

/**
 * `512`, `100 MiB`, `1.5GiB` to bytes; binary units only, so that nobody has to guess. Undefined
 * when it is none of these.
 */
export function parseBytes(text: string): number | undefined {
  const match = /^(\d{1,15}(?:\.\d{1,6})?) ?(B|KiB|MiB|GiB)?$/.exec(text.trim());
  if (!match) return undefined;
  const bytes = Number(match[1]) * BYTES[match[2] ?? 'B']!;
  return Number.isSafeInteger(bytes) ? bytes : Math.round(bytes);
}
