// How an account's renders of the last 24 hours went, from the log. Looks at a bounded number of
// them, and remembers for a moment what it found: pages ask again and again.
import { createRecentReads } from '../../accounts/recent-reads.ts';
import { percentileMs, USAGE_BUCKETS_MS } from '../../history/usage-buckets.ts';
import type { Store } from '../../store/store.ts';
import type { Overview } from '../contract/accounts.ts';

export type LastDay = Pick<Overview, 'lastDay' | 'errors'>;

const DAY_MS = 86_400_000;
/** A third of a second of MongoDB's work. */
const MAX_LOOKED_AT = 100_000;
const REMEMBER_MS = 5_000;
const MAX_REMEMBERED = 1_000;
const MAX_ERRORS = 20;

interface Group {
  _id: { outcome: 'ok' | 'error'; code: string | null; reason: string | null; bucket: number };
  count: number;
  firstAt: Date;
  lastAt: Date;
}

/** The index of the first bucket that is not shorter: the last one is for whatever is longer. */
const bucket = {
  $min: [
    USAGE_BUCKETS_MS.length - 1,
    {
      $size: {
        $filter: {
          input: { $literal: USAGE_BUCKETS_MS },
          as: 'bound',
          cond: { $lt: ['$$bound', '$totalMs'] },
        },
      },
    },
  ],
};

async function groupsOf(store: Store, account: string, since: Date): Promise<Group[]> {
  const pipeline = [
    { $match: { account, at: { $gte: since } } },
    { $sort: { account: 1, at: -1, _id: -1 } },
    { $limit: MAX_LOOKED_AT },
    { $match: { outcome: { $in: ['ok', 'error'] } } },
    {
      $group: {
        _id: {
          outcome: '$outcome',
          code: { $ifNull: ['$code', null] },
          reason: { $ifNull: ['$reason', null] },
          bucket: { $cond: [{ $eq: ['$outcome', 'ok'] }, bucket, -1] },
        },
        count: { $sum: 1 },
        firstAt: { $min: '$at' },
        lastAt: { $max: '$at' },
      },
    },
  ];
  return store.limited(store.console.renders.aggregate<Group>(pipeline, store.limits).toArray());
}

async function look(store: Store, account: string): Promise<LastDay> {
  const dayAgo = new Date(Date.now() - DAY_MS);
  const groups = await groupsOf(store, account, dayAgo);
  const good = groups.filter(({ _id }) => _id.outcome === 'ok');
  const bad = groups.filter(({ _id }) => _id.outcome === 'error');
  const sum = (of: Group[]) => of.reduce((total, { count }) => total + count, 0);
  const whole = sum(groups) < MAX_LOOKED_AT * 0.9;
  const first = Math.min(...groups.map(({ firstAt }) => firstAt.getTime()));
  const durations = Object.fromEntries(good.map(({ _id, count }) => [_id.bucket, count]));
  return {
    lastDay: {
      since: (whole ? dayAgo : new Date(first)).toISOString(),
      ok: sum(good),
      failed: sum(bad),
      p50Ms: percentileMs(durations, 0.5),
      p95Ms: percentileMs(durations, 0.95),
    },
    errors: bad
      .sort((one, other) => other.count - one.count)
      .slice(0, MAX_ERRORS)
      .map(({ _id, count, lastAt }) => ({
        code: _id.code ?? 'internal',
        reason: _id.reason,
        count,
        lastAt: lastAt.toISOString(),
      })),
  };
}

/** Returns what is known of an account, a few seconds old at most. Rejects as the database does. */
export function createLastDays(
  store: Store,
  nowMs = () => performance.now(),
): (account: string) => Promise<LastDay> {
  const reads = createRecentReads<LastDay>({ most: MAX_REMEMBERED, forMs: REMEMBER_MS }, nowMs);
  return account => reads.of(account, () => look(store, account));
}
