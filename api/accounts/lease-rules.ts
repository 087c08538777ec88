// When a lease expires and how long an expired one is kept, as MongoDB expressions on an account
// document, with the server's clock. Pure.
import type { Document } from '../store/store.ts';

const leasesWhere = (...conditions: Document[]): Document => ({
  $filter: { input: '$leases', as: 'lease', cond: { $and: conditions } },
});

const endsAfter = (ms: number): Document => ({
  $gt: ['$$lease.expires', ms === 0 ? '$$NOW' : { $subtract: ['$$NOW', ms] }],
});

export const unexpiredLeases: Document = leasesWhere(endsAfter(0));

export const runningLeases: Document = { $size: unexpiredLeases };

/** How many of the running leases are of asynchronous renders. */
export const runningAsyncLeases: Document = {
  $size: leasesWhere(endsAfter(0), { $eq: ['$$lease.async', true] }),
};

/**
 * Every write of an account rewrites all of its leases, so expired ones are bounded: 1,280 of them
 * cut the throughput of a plan of 32 to a fifteenth. An outage leaves at most one per concurrent
 * render, so this covers several outages.
 */
export const EXPIRED_KEPT = { perConcurrentRender: 4, atLeast: 64 } as const;

/** The newest of the leases that expired within `ms`, in order of expiry, then the unexpired ones. */
export const leasesKept = (ms: number, cap: Document): Document => {
  const expired = leasesWhere(endsAfter(ms), { $not: [endsAfter(0)] });
  const { atLeast, perConcurrentRender } = EXPIRED_KEPT;
  const most = { $max: [atLeast, { $multiply: [perConcurrentRender, cap] }] };
  return { $concatArrays: [{ $slice: [expired, { $multiply: [-1, most] }] }, unexpiredLeases] };
};
