// The daily figures of an account, summed by day and by key. Best effort: the billed count is in
// the account's document.
import { MAX_USAGE_DAYS } from '../../common/contract/account.ts';
import { invalid } from '../../common/contract/errors.ts';
import type { Document, Store, UsageDayDocument } from '../store/store.ts';
import type { KeyNames, NamedKey } from './key-names.ts';
import { addedUp, percentileMs } from './usage-buckets.ts';

const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;

/** The key in documents of renders without an API key. */
const NO_KEY = '';
/** The same in a query. */
const NO_KEY_QUERY = 'none';

export interface UsageRange {
  /** Days in UTC; the range includes both. */
  from: string;
  to: string;
}

type Day = Omit<UsageDayDocument, 'flushes'>;

export interface UsageFigures {
  /** Counted renders. */
  ok: number;
  sandbox: number;
  failed: number;
  rejected: number;
  pages: number;
  bytes: number;
  /** Milliseconds. */
  p50Ms: number | null;
  p95Ms: number | null;
}

export interface UsageReport extends UsageRange {
  days: ({ day: string } & UsageFigures)[];
  /** Most renders first. The ID is null for renders without an API key. */
  keys: ((NamedKey | { id: null; name: null; last4: null }) & UsageFigures)[];
  total: UsageFigures;
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Pure. Throws ApiError `validation_error` when the range is negative or too long. */
export function rangeOf(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  nowMs: number,
): UsageRange {
  const last = Date.parse(to ?? dayOf(nowMs));
  const first = from === undefined ? last - (DEFAULT_DAYS - 1) * DAY_MS : Date.parse(from);
  if (first > last) throw invalid('`from` must not be after `to`.');
  if (first < 0) throw invalid('`from` and `to` must not be before 1970-01-31.');
  if (last - first >= MAX_USAGE_DAYS * DAY_MS)
    throw invalid(`The range from \`from\` to \`to\` must be at most ${MAX_USAGE_DAYS} days.`);
  return { from: dayOf(first), to: dayOf(last) };
}

function* daysIn({ from, to }: UsageRange): Generator<string> {
  for (let ms = Date.parse(from); ms <= Date.parse(to); ms += DAY_MS) yield dayOf(ms);
}

const storedKey = (key: string) => (key === NO_KEY_QUERY ? NO_KEY : key);

/** Ordered by day and key. At most 366 days, with up to 200 current keys and revoked ones. */
export async function readDays(
  store: Store,
  account: string,
  { from, to }: UsageRange,
  key?: string,
): Promise<Day[]> {
  const filter: Document = {
    '_id.account': account,
    '_id.day': { $gte: from, $lte: to },
    ...(key !== undefined && { '_id.key': storedKey(key) }),
  };
  const found = store.console.usageDays.find(filter, {
    projection: { flushes: 0 },
    sort: { '_id.day': 1, '_id.key': 1 },
    ...store.limits,
  });
  return store.limited(found.toArray());
}

const sumOf = (
  days: readonly Day[],
  field: 'ok' | 'sandbox' | 'failed' | 'rejected' | 'pages' | 'bytes',
) => days.reduce((sum, day) => sum + (day[field] ?? 0), 0);

/** The sums of several documents. */
export function figuresOf(days: readonly Day[]): UsageFigures {
  const durations = addedUp(days.map(({ durations = {} }) => durations));
  return {
    ok: sumOf(days, 'ok'),
    sandbox: sumOf(days, 'sandbox'),
    failed: sumOf(days, 'failed'),
    rejected: sumOf(days, 'rejected'),
    pages: sumOf(days, 'pages'),
    bytes: sumOf(days, 'bytes'),
    p50Ms: percentileMs(durations, 0.5),
    p95Ms: percentileMs(durations, 0.95),
  };
}

/** `key` selects the days of one key; `keys` always lists all. Pure. */
export function usageOf(
  range: UsageRange,
  all: readonly Day[],
  nameOf: KeyNames,
  key?: string,
): UsageReport {
  const forDays = key === undefined ? all : all.filter(({ _id }) => _id.key === storedKey(key));
  const byDay = Map.groupBy(forDays, each => each._id.day);
  const byKey = Map.groupBy(all, each => each._id.key);
  return {
    ...range,
    days: [...daysIn(range)].map(day => ({ day, ...figuresOf(byDay.get(day) ?? []) })),
    keys: [...byKey]
      .map(([key, days]) => ({
        ...(key === NO_KEY ? { id: null, name: null, last4: null } : nameOf(key)),
        ...figuresOf(days),
      }))
      .sort(
        (one, other) =>
          other.ok + other.sandbox + other.failed - (one.ok + one.sandbox + one.failed) ||
          other.rejected - one.rejected,
      ),
    total: figuresOf(forDays),
  };
}
