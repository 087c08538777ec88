// How many waiting renders may run now, for the autoscaler. Every process reads it from the same
// database. The cost depends on the accounts and their plans, never on the number of waiting jobs.
import { asyncCapOf, capOf, isServed, type ServedRules } from '../accounts/account-rules.ts';
import { runningAsyncLeases, runningLeases } from '../accounts/lease-rules.ts';
import type { Plan } from '../accounts/plans.ts';
import type { Document, Store } from '../store/store.ts';

export interface Backlog {
  /** Waiting renders that may run now: for each account at most its free leases. */
  runnable: number;
  /** All waiting renders, counted up to `MAX_WAITING_COUNTED`. */
  waiting: number;
  /** Age of the oldest render that may run now; 0 without one. */
  oldestWaitMs: number;
}

export interface BacklogRules extends ServedRules {
  plans: readonly Plan[];
}

/** Bounds the count to about 10 ms of the database's time. */
export const MAX_WAITING_COUNTED = 10_000;

const NONE: Backlog = { runnable: 0, waiting: 0, oldestWaitMs: 0 };

/** Expression of how many asynchronous renders the account may start now. */
const freeLeases = ({ plans, ...rules }: BacklogRules): Document => {
  const free = [
    { $subtract: [capOf(plans), runningLeases] },
    { $subtract: [asyncCapOf(plans), runningAsyncLeases] },
  ];
  return { $cond: [isServed(rules), { $max: [0, { $min: free }] }, 0] };
};

/** Accounts with similar numbers of free leases share a query. Its limit is below twice theirs. */
const limitFor = (free: number): number => 2 ** Math.ceil(Math.log2(free));

/** `accounts`: those with waiting jobs. */
export async function readBacklog(
  store: Store,
  rules: BacklogRules,
  accounts: readonly string[],
): Promise<Backlog> {
  const { limits } = store;
  const { jobs } = store.asynchronous;
  const found = await store.limited(
    store.accounts
      .aggregate<{ _id: string; free: number; now: Date }>(
        [
          { $match: { _id: { $in: accounts } } },
          { $project: { free: freeLeases(rules), now: '$$NOW' } },
          { $match: { free: { $gt: 0 } } },
        ],
        limits,
      )
      .toArray(),
  );
  const options = { limit: MAX_WAITING_COUNTED, ...limits };
  const waiting = await store.limited(jobs.countDocuments({ status: 'queued' }, options));
  const freeOf = new Map(found.map(({ _id, free }) => [_id, free]));
  let runnable = 0;
  let oldestWaitMs = 0;
  for (const [limit, group] of Map.groupBy(found, ({ free }) => limitFor(free)))
    for (const { _id, count, createdAt } of await readHeads(store, group, limit)) {
      runnable += Math.min(count, freeOf.get(_id) ?? 0);
      oldestWaitMs = Math.max(oldestWaitMs, group[0]!.now.getTime() - createdAt.getTime());
    }
  return { runnable, waiting, oldestWaitMs };
}

/** Pipeline on accounts: of each, the first jobs in the order of their claims, at most `limit`. */
export function headsPipeline(accounts: readonly string[], limit: number): Document[] {
  const waiting = {
    from: 'jobs',
    localField: '_id',
    foreignField: 'account',
    // In the order of the index `next`. Expired jobs are included until a sweep ends them.
    pipeline: [
      { $match: { status: 'queued', $expr: { $lte: ['$availableAt', '$$NOW'] } } },
      { $sort: { availableAt: 1, _id: 1 } },
      { $limit: limit },
      { $group: { _id: null, count: { $sum: 1 }, first: { $first: '$_id' } } },
    ],
    as: 'waiting',
  };
  const first = {
    from: 'jobs',
    localField: 'waiting.first',
    foreignField: '_id',
    pipeline: [{ $project: { createdAt: 1 } }],
    as: 'first',
  };
  return [
    { $match: { _id: { $in: accounts } } },
    { $project: { _id: 1 } },
    { $lookup: waiting },
    { $unwind: '$waiting' },
    { $lookup: first },
    { $unwind: '$first' }, // the job may have been deleted meanwhile
    { $project: { count: '$waiting.count', createdAt: '$first.createdAt' } },
  ];
}

async function readHeads(
  store: Store,
  accounts: readonly { _id: string }[],
  limit: number,
): Promise<{ _id: string; count: number; createdAt: Date }[]> {
  const pipeline = headsPipeline(
    accounts.map(({ _id }) => _id),
    limit,
  );
  return store.limited(
    store.accounts
      .aggregate<{ _id: string; count: number; createdAt: Date }>(pipeline, store.limits)
      .toArray(),
  );
}

const READ_EVERY_MS = 5_000;
/** A process that drains or has no database no longer reports what it read. */
const STALE_MS = 60_000;

/** Reads the backlog after the polls that found waiting jobs, at most once in five seconds. */
export class BacklogReader {
  readonly #read: (accounts: readonly string[]) => Promise<Backlog>;
  readonly #nowMs: () => number;
  #latest = NONE;
  #readMs = Number.NEGATIVE_INFINITY;
  #begunMs = Number.NEGATIVE_INFINITY;
  #reading = false;

  constructor(
    read: (accounts: readonly string[]) => Promise<Backlog>,
    nowMs = () => performance.now(),
  ) {
    this.#read = read;
    this.#nowMs = nowMs;
  }

  latest(): Backlog {
    return this.#nowMs() - this.#readMs > STALE_MS ? NONE : this.#latest;
  }

  /** `accounts`: all that have waiting jobs. Rejects with the database's error. */
  async found(accounts: readonly string[]): Promise<void> {
    const nowMs = this.#nowMs();
    if (accounts.length === 0) this.#keep(NONE);
    if (accounts.length === 0 || this.#reading || nowMs - this.#begunMs < READ_EVERY_MS) return;
    this.#begunMs = nowMs;
    this.#reading = true;
    try {
      this.#keep(await this.#read(accounts));
    } finally {
      this.#reading = false;
    }
  }

  #keep(backlog: Backlog): void {
    this.#latest = backlog;
    this.#readMs = this.#nowMs();
  }
}
