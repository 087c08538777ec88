// Formats numbers and times in English, whatever the locale of the browser is.

const COUNT = new Intl.NumberFormat('en');
const EXACT = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const RELATIVE = new Intl.RelativeTimeFormat('en');
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 86400e3],
  ['month', 30 * 86400e3],
  ['week', 7 * 86400e3],
  ['day', 86400e3],
  ['hour', 3600e3],
  ['minute', 60e3],
];

/** `12,345`. */
export const formatCount = (count: number) => COUNT.format(count);

/** `1 render`, `2 renders`. */
export const formatCountOf = (count: number, one: string, many = `${one}s`) =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

/** `growth` -> `Growth`. */
export const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** `pressroom_live_…x7Qp` or `pressroom_test_…x7Qp`. The middle part of the prefix is the same for all keys of an account. */
export const formatKey = ({ prefix, last4 }: { prefix: string; last4: string }) =>
  `${prefix.replace(/[^_]*$/, '')}…${last4}`;

/** `512 B`, `1.5 KiB`, `20 MiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : Number(value.toFixed(1))} ${units[unit]}`;
}

/** `84 ms`, `1.23 s`, `2 min 5 s`. */
export function formatMs(ms: number): string {
  if (ms < 999.5) return `${ms > 0 && ms < 9.95 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`;
  if (ms < 59_995) return `${Number((ms / 1000).toFixed(2))} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** The exact time in the time zone of the browser: `Nov 22, 2026, 11:18:22 AM`. */
export const formatTime = (at: string | Date) => EXACT.format(new Date(at));

/** `Nov 22, 2026`. A date without a time (`2026-11-22`) is the same day in every time zone. */
export const formatDay = (at: string | Date) =>
  DAY.format(
    typeof at === 'string' && /^\d{4}-\d\d-\d\d$/.test(at)
      ? new Date(`${at}T00:00:00`)
      : new Date(at),
  );

/** `just now`, `3 minutes ago`, `in 2 days`. */
export function formatRelative(at: string | Date, now = Date.now()): string {
  const ms = Math.round((new Date(at).getTime() - now) / 1000) * 1000;
  for (const [index, [unit, size]] of STEPS.entries()) {
    // `in 1 hour` instead of `in 60 minutes`.
    const rounding = (STEPS[index + 1]?.[1] ?? 0) / 2;
    if (Math.abs(ms) >= size - rounding) return RELATIVE.format(Math.round(ms / size), unit);
  }
  return Math.abs(ms) < 10e3 ? 'just now' : RELATIVE.format(ms / 1000, 'second');
}
