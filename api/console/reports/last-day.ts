// Outcomes and durations of an account's renders in the last 24 hours, from the render log. Reads a
// bounded number of renders, and caches the result, since pages poll it.
import { isRejection } from '../../../common/contract/errors.ts';
import { createRecentReads } from '../../accounts/recent-reads.ts';
import { percentileMs, USAGE_BUCKETS_MS } from '../../history/usage-buckets.ts';
import type { Store } from '../../store/store.ts';
import type { Overview } from '../contract/accounts.ts';

export type LastDay = Pick<Overview, 'lastDay' | 'errors'>;

const DAY_MS = 86_400_000;
/** Takes MongoDB 0.3 s. */
const MAX_RENDERS = 100_000;
const CACHE_MS = 5_000;
const MAX_CACHED = 1_000;
const MAX_ERRORS = 20;

interface Group {
  _id: { outcome: 'ok' | 'error'; code: string | null; reason: string | null; bucket: number };
  records: number;
  count: number;
  firstAt: Date;
  lastAt: Date;
}

/** The index of the first bucket that is not shorter; the last one holds all longer renders. */
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
    { $limit: MAX_RENDERS },
    { $match: { outcome: { $in: ['ok', 'error'] } } },
    {
      $group: {
        _id: {
          outcome: '$outcome',
          code: { $ifNull: ['$code', null] },
          reason: { $ifNull: ['$reason', null] },
          bucket: { $cond: [{ $eq: ['$outcome', 'ok'] }, bucket, -1] },
        },
        records: { $sum: 1 },
        count: { $sum: { $ifNull: ['$times', 1] } },
        firstAt: { $min: '$at' },
        lastAt: { $max: '$at' },
      },
    },
  ];
  return store.limited(store.console.renders.aggregate<Group>(pipeline, store.limits).toArray());
}

async function readLastDay(store: Store, account: string): Promise<LastDay> {
  const dayAgo = new Date(Date.now() - DAY_MS);
  const groups = await groupsOf(store, account, dayAgo);
  const good = groups.filter(({ _id }) => _id.outcome === 'ok');
  const bad = groups.filter(({ _id }) => _id.outcome === 'error');
  const sum = (of: Group[]) => of.reduce((total, { count }) => total + count, 0);
  const records = groups.reduce((total, group) => total + group.records, 0);
  const complete = records < MAX_RENDERS * 0.9;
  const first = Math.min(...groups.map(({ firstAt }) => firstAt.getTime()));
  const durations = Object.fromEntries(good.map(({ _id, count }) => [_id.bucket, count]));
  return {
    lastDay: {
      since: (complete ? dayAgo : new Date(first)).toISOString(),
      ok: sum(good),
      failed: sum(bad.filter(({ _id }) => !isRejection(_id.code))),
      rejected: sum(bad.filter(({ _id }) => isRejection(_id.code))),
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

/** Reads an account's last day through a cache of 5 s. Rejects when the database fails. */
export function createLastDays(store: Store): (account: string) => Promise<LastDay> {
  const reads = createRecentReads<LastDay>({ most: MAX_CACHED, forMs: CACHE_MS }, () =>
    performance.now(),
  );
  return account => reads.of(account, () => readLastDay(store, account));
}
