// The date range of the usage screen, kept in the URL. All days are in UTC, as the usage data is.
import { useSearchParams } from 'wouter';

export const PRESETS = ['7', '30', '90'] as const;
export type Choice = (typeof PRESETS)[number] | 'custom';

const DAY = /^\d{4}-\d\d-\d\d$/;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const isDay = (text: string | null): text is string =>
  text !== null && DAY.test(text) && !Number.isNaN(Date.parse(text));

/** The last `count` days, today included. */
export const lastDays = (count: number, now = Date.now()) => ({
  from: dayOf(now - (count - 1) * 86400e3),
  to: dayOf(now),
});

export function useRange() {
  const [params, setParams] = useSearchParams();
  const given = { from: params.get('from'), to: params.get('to') };
  const custom = isDay(given.from) && isDay(given.to);
  const days = PRESETS.find(preset => preset === params.get('days')) ?? '30';
  const range = custom ? (given as { from: string; to: string }) : lastDays(Number(days));
  const choice: Choice = custom ? 'custom' : days;
  return {
    choice,
    range,
    choose: (next: Choice) => setParams(next === 'custom' ? range : { days: next }),
    /** Ignores incomplete dates: a date input is empty while the user types. */
    setRange: (next: { from: string; to: string }) => {
      if (isDay(next.from) && isDay(next.to)) setParams(next, { replace: true });
    },
  };
}
