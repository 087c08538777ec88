// When a new key ends: after a choice of days, on a date, or never.

export const EXPIRIES = [
  { value: 'never', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'date', label: 'On a date' },
];

/** `YYYY-MM-DD` of the reader's day, `days` from now. */
export function dayFromNow(days: number, now = new Date()): string {
  const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
  return [day.getFullYear(), String(day.getMonth() + 1).padStart(2, '0'), String(day.getDate()).padStart(2, '0')].join('-');
}

/** ISO 8601; undefined for never. A date ends with its day, in the reader's time zone. */
export function expiryTime(choice: string, date: string, now = Date.now()): string | undefined {
  if (choice === 'never') return undefined;
  if (choice !== 'date') return new Date(now + Number(choice) * 86400e3).toISOString();
  const end = new Date(`${date}T23:59:59`);
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString();
}
