// The operations on leases, each one atomic, safe to repeat, and decided by the server's clock.

import {
  allowedIps,
  capOf,
  isServed,
  keyIsGood,
  leasesKept,
  runningLeases,
  type ServedRules,
  unexpiredLeases,
  usagePlusOne,
  withKey,
} from '../accounts/account-rules.ts';
import type { Plan } from '../accounts/plans.ts';
import {
  type AccountDocument,
  type AccountState,
  type AnyBulkWriteOperation,
  type Document,
  repeatedOnce,
  type Store,
} from '../store/store.ts';

export interface LeaseRules extends ServedRules {
  plans: readonly Plan[];
  /** How long a lease lasts from its admission or last renewal. */
  leaseMs: number;
  /**
   * How long an expired lease is kept for a late settlement, unless too many newer ones expired
   * since (EXPIRED_KEPT).
   */
  keepExpiredMs: number;
}

/** Why an admission was refused. It left the document as it was. */
interface Refusal {
  /** Absent for a member, and when the account has no such key, or an expired one. */
  key?: { allowedIps: string[] };
  served: boolean;
  state: AccountState;
  limit: number;
}

export type Admission = { admitted: true; intranet: boolean } | ({ admitted: false } & Refusal);

export interface LeaseOperations {
  /**
   * Takes a place for `leaseId` when key, subscription and cap allow it and the key's networks
   * are `networks`. Null: no such account.
   */
  admit(
    accountId: string,
    leaseId: string,
    keyHash: readonly string[],
    networks: readonly string[],
  ): Promise<Admission | null>;
  /** The same for a member, who needs no key. */
  admitMember(accountId: string, leaseId: string, user: string): Promise<Admission | null>;
  /**
   * Returns the ids of those that could not be renewed: expired, or gone. Rejects when the result
   * is unknown.
   */
  renew(leases: readonly { id: string; accountId: string }[]): Promise<Set<string>>;
  /**
   * Removes the lease and counts the render; returns the new count of the billing period.
   * Undefined: the lease was not there.
   */
  settle(accountId: string, leaseId: string): Promise<number | undefined>;
  release(accountId: string, leaseId: string): Promise<void>;
}

/** What stands in a lease in place of a key's id. Ids of keys have no colon. */
export const leaseKeyOf = (user: string): string => `user:${user}`;

/**
 * All writes are the driver's retryable writes. When an answer is lost, the driver sends the
 * command again, and the server returns the result of the first attempt: the whole document as
 * that attempt left it, without the projection. A refusal writes nothing, so it is decided again.
 */
export function leaseOperations(
  { accounts, limits }: Pick<Store, 'accounts' | 'limits'>,
  { plans, leaseMs, keepExpiredMs, ...rules }: LeaseRules,
): LeaseOperations {
  const cap = capOf(plans);
  const served = isServed(rules);
  const expires: Document = { $add: ['$$NOW', leaseMs] };

  async function take(
    accountId: string,
    leaseId: string,
    leases: Document,
    key: Document = {},
  ): Promise<Admission | null> {
    const lease = { $elemMatch: { id: leaseId } };
    const fields = { served, state: 1, intranet: 1, limit: cap, ...key };
    const found = await repeatedOnce(() =>
      accounts.findOneAndUpdate({ _id: accountId }, [{ $set: { leases } }], {
        returnDocument: 'after',
        projection: { _id: 0, leases: lease, ...fields },
        ...limits,
      }),
    );
    if (found?.leases?.some(({ id }) => id === leaseId)) {
      return { admitted: true, intranet: found.intranet };
    }
    return found && { ...(found as unknown as Refusal), admitted: false };
  }

  /** The leases with one more, where `allowed` holds, the account is served and a place is free. */
  const oneMore = (leaseId: string, key: unknown, ...allowed: Document[]): Document => {
    const isNew = { $not: [{ $in: [leaseId, '$leases.id'] }] };
    const mayRun = { $and: [...allowed, served, { $lt: [runningLeases, cap] }, isNew] };
    const kept = leasesKept(keepExpiredMs, cap);
    return {
      $cond: [mayRun, { $concatArrays: [kept, [{ id: leaseId, key, expires }]] }, '$leases'],
    };
  };

  function admit(
    accountId: string,
    leaseId: string,
    keyHash: readonly string[],
    networks: readonly string[],
  ) {
    const sameNetworks = { $eq: [allowedIps, { $literal: networks }] };
    const leases = withKey(keyHash, oneMore(leaseId, '$$good.id', keyIsGood, sameNetworks));
    const key = withKey(keyHash, { $cond: [keyIsGood, { allowedIps }, '$$REMOVE'] });
    return take(accountId, leaseId, leases, { key });
  }

  const admitMember = (accountId: string, leaseId: string, user: string) =>
    take(accountId, leaseId, oneMore(leaseId, { $literal: leaseKeyOf(user) }));

  /**
   * One update a lease, which changes nothing when the lease has expired, so that the number of
   * changed documents tells if all live.
   */
  const renewal = ({
    id,
    accountId,
  }: {
    id: string;
    accountId: string;
  }): AnyBulkWriteOperation<AccountDocument> => {
    const mine = { $and: [{ $eq: ['$$lease.id', id] }, { $gt: ['$$lease.expires', '$$NOW'] }] };
    const renewed = { $mergeObjects: ['$$lease', { expires }] };
    const leases = {
      $map: { input: '$leases', as: 'lease', in: { $cond: [mine, renewed, '$$lease'] } },
    };
    return {
      updateOne: { filter: { _id: accountId, 'leases.id': id }, update: [{ $set: { leases } }] },
    };
  };

  async function renew(leases: readonly { id: string; accountId: string }[]): Promise<Set<string>> {
    const { modifiedCount } = await accounts.bulkWrite(leases.map(renewal), {
      ordered: false,
      ...limits,
    });
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

  async function settle(accountId: string, leaseId: string): Promise<number | undefined> {
    const others = {
      $filter: { input: '$leases', as: 'lease', cond: { $ne: ['$$lease.id', leaseId] } },
    };
    const found = await accounts.findOneAndUpdate(
      { _id: accountId, 'leases.id': leaseId },
      [{ $set: { leases: others, usage: usagePlusOne } }],
      { returnDocument: 'after', projection: { _id: 0, 'usage.count': 1 }, ...limits },
    );
    return found?.usage.count;
  }

  async function release(accountId: string, leaseId: string): Promise<void> {
    const pulled = { $pull: { leases: { id: leaseId } } };
    await accounts.updateOne({ _id: accountId, 'leases.id': leaseId }, pulled, limits);
  }

  return { admit, admitMember, renew, settle, release };
}
