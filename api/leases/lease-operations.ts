// The MongoDB operations on leases. Each is atomic, safe to repeat, and uses the server's clock.

import {
  allowedIps,
  asyncCapOf,
  capOf,
  isServed,
  keyMayRender,
  type ServedRules,
  testKey,
  usagePlusOne,
  withKey,
} from '../accounts/account-rules.ts';
import {
  leasesKept,
  runningAsyncLeases,
  runningLeases,
  unexpiredLeases,
} from '../accounts/lease-rules.ts';
import type { Plan } from '../accounts/plans.ts';
import {
  type AccountDocument,
  type AccountState,
  type AnyBulkWriteOperation,
  type ClientSession,
  type Document,
  repeatedOnce,
  type Store,
} from '../store/store.ts';

export interface LeaseRules extends ServedRules {
  plans: readonly Plan[];
  /** How long a lease lasts from its admission or last renewal. */
  leaseMs: number;
  /** How long an expired lease is kept for a late settlement, within EXPIRED_KEPT. */
  keepExpiredMs: number;
}

/** Why an admission was rejected. The account document is unchanged. */
interface Rejection {
  /**
   * Absent for a member, and when the account has no such key, or the key has expired or may not
   * render.
   */
  key?: { allowedIps: string[] };
  served: boolean;
  state: AccountState;
  limit: number;
}

export interface Admitted {
  admitted: true;
  intranet: boolean;
  /** Of a test key. */
  sandbox: boolean;
  rendererReuse: boolean;
}

export type Admission = Admitted | ({ admitted: false } & Rejection);

interface LeaseId {
  id: string;
  accountId: string;
}

/** The `key` of a member's lease. Key IDs have no colon. */
export const leaseKeyOf = (user: string): string => `user:${user}`;

/**
 * All writes are the driver's retryable writes. When an answer is lost, the driver sends the
 * command again, and the server returns the result of the first attempt: the whole document as
 * that attempt left it, without the projection. A rejection writes nothing, so it is decided again.
 */
export function leaseOperations(
  { accounts, limits, timed }: Pick<Store, 'accounts' | 'limits' | 'timed'>,
  rules: LeaseRules,
) {
  const cap = capOf(rules.plans);
  const served = isServed(rules);
  const hasFreeAsync = { $lt: [runningAsyncLeases, asyncCapOf(rules.plans)] };
  const withLease = leasesWithOneMore(rules);

  async function take(
    accountId: string,
    leaseId: string,
    leases: Document,
    key: Document = {},
  ): Promise<Admission | null> {
    const lease = { $elemMatch: { id: leaseId } };
    const fields = { served, state: 1, intranet: 1, rendererReuse: 1, limit: cap, ...key };
    const admission = repeatedOnce(() =>
      accounts.findOneAndUpdate({ _id: accountId }, [{ $set: { leases } }], {
        returnDocument: 'after',
        projection: { _id: 0, leases: lease, ...fields },
        ...limits,
      }),
    );
    const found = await timed('admit', admission);
    const taken = found?.leases?.find(({ id }) => id === leaseId);
    if (found && taken)
      return {
        admitted: true,
        intranet: found.intranet,
        sandbox: taken.sandbox === true,
        rendererReuse: found.rendererReuse !== false,
      };
    // The cast: the driver's types do not know the fields that a projection computes.
    return found && { ...(found as unknown as Rejection), admitted: false };
  }

  async function renew(leases: readonly LeaseId[]): Promise<Set<string>> {
    const updates = leases.map(lease => renewal(lease, rules.leaseMs));
    const { modifiedCount } = await accounts.bulkWrite(updates, { ordered: false, ...limits });
    if (modifiedCount === leases.length) return new Set();
    const living = await accounts
      .find(
        { _id: { $in: [...new Set(leases.map(lease => lease.accountId))] } },
        { projection: { leases: unexpiredLeases }, ...limits },
      )
      .toArray();
    const alive = new Set(living.flatMap(account => account.leases.map(lease => lease.id)));
    return new Set(leases.map(lease => lease.id).filter(id => !alive.has(id)));
  }

  return {
    /**
     * Creates the lease when key, subscription and concurrency limit allow it and the key's networks
     * are `networks`. Null: the account does not exist.
     */
    admit(
      accountId: string,
      leaseId: string,
      keyHash: readonly string[],
      networks: readonly string[],
    ) {
      const sameNetworks = { $eq: [allowedIps, { $literal: networks }] };
      // `sandbox` is part of the lease, since a repeated answer has no computed fields.
      const lease = { key: '$$good.id', sandbox: testKey };
      const leases = withKey(keyHash, withLease(leaseId, lease, keyMayRender, sameNetworks));
      const key = withKey(keyHash, { $cond: [keyMayRender, { allowedIps }, '$$REMOVE'] });
      return take(accountId, leaseId, leases, { key });
    },
    /** The same for a member, without a key. */
    admitMember: (accountId: string, leaseId: string, user: string) =>
      take(accountId, leaseId, withLease(leaseId, { key: { $literal: leaseKeyOf(user) } })),
    /**
     * The same for an asynchronous render, within the limit of asynchronous renders too. The key is
     * not checked, because it was when the render was submitted. Which job will hold the lease is not
     * known yet, nor its key.
     */
    admitJob: (accountId: string, leaseId: string) =>
      take(accountId, leaseId, withLease(leaseId, { key: 'async', async: true }, hasFreeAsync)),
    /**
     * Returns the IDs of the leases that could not be renewed because they expired or are gone.
     * Rejects when the result is unknown.
     */
    renew: (leases: readonly LeaseId[]) => timed('renew', renew(leases)),
    /**
     * Removes the lease and counts the render. Returns the new count of the billing period, or
     * undefined when the lease does not exist.
     */
    async settle(accountId: string, leaseId: string, session?: ClientSession) {
      const others = {
        $filter: { input: '$leases', as: 'lease', cond: { $ne: ['$$lease.id', leaseId] } },
      };
      const settlement = accounts.findOneAndUpdate(
        { _id: accountId, 'leases.id': leaseId },
        [{ $set: { leases: others, usage: usagePlusOne } }],
        {
          returnDocument: 'after',
          projection: { _id: 0, 'usage.count': 1 },
          ...limits,
          ...(session && { session }),
        },
      );
      return (await timed('settle', settlement))?.usage.count;
    },
    async release(accountId: string, leaseId: string, session?: ClientSession): Promise<void> {
      const pulled = { $pull: { leases: { id: leaseId } } };
      const options = { ...limits, ...(session && { session }) };
      const filter = { _id: accountId, 'leases.id': leaseId };
      await timed('release', accounts.updateOne(filter, pulled, options));
    },
  };
}
export type LeaseOperations = ReturnType<typeof leaseOperations>;

const expiresAfter = (leaseMs: number): Document => ({ $add: ['$$NOW', leaseMs] });

/**
 * Expression of the leases with one more, if `allowed` holds, the account is served and it runs
 * fewer renders than its concurrency limit; otherwise of the leases as they are.
 */
function leasesWithOneMore({ plans, leaseMs, keepExpiredMs, ...rules }: LeaseRules) {
  const cap = capOf(plans);
  const served = isServed(rules);
  const expires = expiresAfter(leaseMs);
  return (leaseId: string, lease: Document, ...allowed: Document[]): Document => {
    const isNew = { $not: [{ $in: [leaseId, '$leases.id'] }] };
    const mayRun = { $and: [...allowed, served, { $lt: [runningLeases, cap] }, isNew] };
    const kept = leasesKept(keepExpiredMs, cap);
    return {
      $cond: [mayRun, { $concatArrays: [kept, [{ id: leaseId, ...lease, expires }]] }, '$leases'],
    };
  };
}

/**
 * One update per lease. It does not modify an expired lease, so the number of modified documents
 * shows whether all of them are alive.
 */
function renewal(
  { id, accountId }: LeaseId,
  leaseMs: number,
): AnyBulkWriteOperation<AccountDocument> {
  const isAlive = { $and: [{ $eq: ['$$lease.id', id] }, { $gt: ['$$lease.expires', '$$NOW'] }] };
  const renewed = { $mergeObjects: ['$$lease', { expires: expiresAfter(leaseMs) }] };
  const leases = {
    $map: { input: '$leases', as: 'lease', in: { $cond: [isAlive, renewed, '$$lease'] } },
  };
  return {
    updateOne: { filter: { _id: accountId, 'leases.id': id }, update: [{ $set: { leases } }] },
  };
}
