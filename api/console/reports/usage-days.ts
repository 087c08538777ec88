// The daily figures of an account, read and added up by day and by key. Best effort: what is billed
// stands in the account.
import { invalid } from '../../../common/contract/errors.ts';
import { addedUp, percentileMs } from '../../history/usage-buckets.ts';
import type { Document, Store, UsageDayDocument } from '../../store/store.ts';
import type { Usage } from '../contract/accounts.ts';
import type { KeyNames } from './key-names.ts';

export const MAX_USAGE_DAYS = 366;
const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;

/** Of the key in the documents of renders without one, and what a query calls it. */
const NO_KEY = '';
const NO_KEY_ASKED = 'none';

export interface UsageRange {
  /** Days in UTC, both in the range. */
  from: string;
  to: string;
}

type Day = Omit<UsageDayDocument, 'flushes'>;

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/**
 * Pure. Throws ApiError `validation_error` for a range that ends before it begins or is too long.
 */
export function rangeOf(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  nowMs: number,
): UsageRange {
  const last = Date.parse(to ?? dayOf(nowMs));
  const first = from === undefined ? last - (DEFAULT_DAYS - 1) * DAY_MS : Date.parse(from);
  if (first > last) throw invalid('`from` must not be after `to`.');
  if (last - first >= MAX_USAGE_DAYS * DAY_MS)
    throw invalid(
      `\`from\` and \`to\` must be at most ${MAX_USAGE_DAYS} days apart, both counted.`,
    );
  return { from: dayOf(first), to: dayOf(last) };
}

function* daysIn({ from, to }: UsageRange): Generator<string> {
  for (let ms = Date.parse(from); ms <= Date.parse(to); ms += DAY_MS) yield dayOf(ms);
}

const keyAsked = (key: string) => (key === NO_KEY_ASKED ? NO_KEY : key);

/** At most 366 days of 200 keys that are there and those that were; ordered by day and key. */
export async function readDays(
  store: Store,
  account: string,
  { from, to }: UsageRange,
  key?: string,
): Promise<Day[]> {
  const filter: Document = {
    '_id.account': account,
    '_id.day': { $gte: from, $lte: to },
    ...(key !== undefined && { '_id.key': keyAsked(key) }),
  };
  const found = store.console.usageDays.find(filter, {
    projection: { flushes: 0 },
    sort: { '_id.day': 1, '_id.key': 1 },
    ...store.limits,
  });
  return store.limited(found.toArray());
}

const sumOf = (days: readonly Day[], field: 'ok' | 'sandbox' | 'failed' | 'pages' | 'bytes') =>
  days.reduce((sum, day) => sum + day[field], 0);

const counts = (days: readonly Day[]) => ({
  ok: sumOf(days, 'ok'),
  sandbox: sumOf(days, 'sandbox'),
  failed: sumOf(days, 'failed'),
});

/** The figures of some documents together, as the management API names them. */
export function figuresOf(days: readonly Day[]): Omit<Usage['days'][number], 'day'> {
  const durations = addedUp(days.map(({ durations = {} }) => durations));
  return {
    ...counts(days),
    pages: sumOf(days, 'pages'),
    bytes: sumOf(days, 'bytes'),
    p50Ms: percentileMs(durations, 0.5),
    p95Ms: percentileMs(durations, 0.95),
  };
}

/** `key`: the one that the days are of; the keys are always all. Pure. */
export function usageOf(
  range: UsageRange,
  all: readonly Day[],
  nameOf: KeyNames,
  key?: string,
): Usage {
  const forDays = key === undefined ? all : all.filter(({ _id }) => _id.key === keyAsked(key));
  const byDay = Map.groupBy(forDays, each => each._id.day);
  const byKey = Map.groupBy(all, each => each._id.key);
  return {
    ...range,
    days: [...daysIn(range)].map(day => ({ day, ...figuresOf(byDay.get(day) ?? []) })),
    keys: [...byKey]
      .map(([key, days]) => ({
        ...(key === NO_KEY ? { id: null, name: null, last4: null } : nameOf(key)),
        ...counts(days),
      }))
      .sort(
        (one, other) =>
          other.ok + other.sandbox + other.failed - (one.ok + one.sandbox + one.failed),
      ),
  };
}
