// The daily figures of an account, summed by day and by key. Best effort: the billed count is in
// the account's document.
import { MAX_USAGE_DAYS, MAX_USAGE_KEYS } from '../../common/contract/account.ts';
import { invalid } from '../../common/contract/errors.ts';
import type { Document, Store, UsageDayDocument } from '../store/store.ts';
import { keyNames, type NamedKey } from './key-names.ts';
import { addCounts, percentileMs } from './usage-buckets.ts';

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

interface ExportedDay extends UsageFigures {
  day: string;
  /** Empty for renders without an API key. */
  key: string;
  name: string | null;
}

/** `ok`: counted renders. */
const COUNTS = ['ok', 'sandbox', 'failed', 'rejected', 'pages', 'bytes'] as const;
export type UsageCounts = Record<(typeof COUNTS)[number], number>;
type KeyDocument = { _id: string } & UsageCounts;

export interface UsageFigures extends UsageCounts {
  /** Milliseconds. */
  p50Ms: number | null;
  p95Ms: number | null;
}

export interface UsageReport extends UsageRange {
  days: ({ day: string } & UsageFigures)[];
  /** Most renders first, at most MAX_USAGE_KEYS. The ID is null for renders without an API key. */
  keys: ((NamedKey | { id: null; name: null; last4: null }) & UsageCounts)[];
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

/** Documents of about 1 KB that are in memory at once. */
const BATCH = 500;

const daysOf = (account: string, { from, to }: UsageRange): Document => ({
  '_id.account': account,
  '_id.day': { $gte: from, $lte: to },
});

/** The keys with the most renders, in this order. */
async function busiestKeys(
  store: Store,
  account: string,
  range: UsageRange,
): Promise<KeyDocument[]> {
  const sums = COUNTS.map(name => [name, { $sum: `$${name}` }]);
  const found = store.console.usageDays.aggregate<KeyDocument>(
    [
      { $match: daysOf(account, range) },
      {
        $group: {
          _id: '$_id.key',
          ...Object.fromEntries(sums),
          renders: { $sum: { $add: ['$ok', '$sandbox', '$failed'] } },
        },
      },
      { $sort: { renders: -1, rejected: -1, _id: 1 } },
      { $limit: MAX_USAGE_KEYS },
      { $unset: 'renders' },
    ],
    store.limits,
  );
  return store.limited(found.toArray());
}

/**
 * Calls `onDay` for each key of each day, by day: the order of the index, so that MongoDB does not
 * collect them. `onDay` may throw to end the reading.
 */
async function readDays(
  store: Store,
  account: string,
  range: UsageRange,
  key: string | undefined,
  onDay: (day: Day) => void,
): Promise<void> {
  const filter = {
    ...daysOf(account, range),
    ...(key !== undefined && { '_id.key': storedKey(key) }),
  };
  const found = store.console.usageDays.find(filter, {
    projection: { flushes: 0 },
    sort: { '_id.day': 1 },
    batchSize: BATCH,
    ...store.limits,
  });
  const readAll = async () => {
    for await (const day of found) onDay(day);
  };
  await store.limited(readAll());
}

class Sums {
  readonly #counts = { ok: 0, sandbox: 0, failed: 0, rejected: 0, pages: 0, bytes: 0 };
  readonly #durations: Record<string, number> = {};

  add({ ok, sandbox, failed, rejected = 0, pages, bytes, durations = {} }: Day): void {
    addCounts(this.#counts, { ok, sandbox, failed, rejected, pages, bytes });
    addCounts(this.#durations, durations);
  }

  figures(): UsageFigures {
    return {
      ...this.#counts,
      p50Ms: percentileMs(this.#durations, 0.5),
      p95Ms: percentileMs(this.#durations, 0.95),
    };
  }
}

/** Sums the documents of a range by day. Pure. */
export class UsageSums {
  readonly #byDay: Map<string, Sums>;
  readonly #total = new Sums();

  constructor(range: UsageRange) {
    this.#byDay = new Map([...daysIn(range)].map(day => [day, new Sums()]));
  }

  add(day: Day): void {
    this.#byDay.get(day._id.day)?.add(day);
    this.#total.add(day);
  }

  figures(): Pick<UsageReport, 'days' | 'total'> {
    const days = [...this.#byDay].map(([day, sums]) => ({ day, ...sums.figures() }));
    return { days, total: this.#total.figures() };
  }
}

/** `key` selects the days of one key; the list of keys does not depend on it. */
export async function readUsage(
  store: Store,
  account: string,
  range: UsageRange,
  key?: string,
): Promise<UsageReport> {
  const sums = new UsageSums(range);
  const [keys, nameOf] = await Promise.all([
    busiestKeys(store, account, range),
    keyNames(store, account),
    readDays(store, account, range, key, day => sums.add(day)),
  ]);
  return {
    ...range,
    ...sums.figures(),
    keys: keys.map(({ _id, ...counts }) => ({
      ...(_id === NO_KEY ? { id: null, name: null, last4: null } : nameOf(_id)),
      ...counts,
    })),
  };
}

/** Rows of an export, with about 100 bytes each. */
export const MAX_EXPORTED_ROWS = 100_000;

/**
 * A row for each day and key, in this order. Throws ApiError `validation_error` when there are more
 * than `maxRows`.
 */
export async function exportedUsage(
  store: Store,
  account: string,
  range: UsageRange,
  key?: string,
  maxRows = MAX_EXPORTED_ROWS,
): Promise<ExportedDay[]> {
  const nameOf = await keyNames(store, account);
  const rows: ExportedDay[] = [];
  await readDays(store, account, range, key, day => {
    if (rows.length === maxRows)
      throw invalid(
        `The export has more than ${maxRows} rows. Choose a shorter range or one API key.`,
      );
    const sums = new Sums();
    sums.add(day);
    const { day: date, key: id } = day._id;
    rows.push({ day: date, key: id, name: nameOf(id).name, ...sums.figures() });
  });
  const order = ({ day, key }: ExportedDay) => `${day} ${key}`;
  return rows.sort((one, other) => (order(one) < order(other) ? -1 : 1));
}
