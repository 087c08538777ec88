// The operations on leases, each one atomic and safe to repeat, by the server's clock alone. Keeps no state and no retries.
import type { AccountDocument, AccountState, AnyBulkWriteOperation, Document, Store } from '../store/store.ts';
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
} from './account-rules.ts';
import type { Plan } from './plans.ts';

export interface LeaseRules extends ServedRules {
  plans: readonly Plan[];
  /** How long a lease lasts from its admission or last renewal. */
  leaseMs: number;
  /** How long an expired lease is kept for a late settlement, unless too many newer ones expired since (EXPIRED_KEPT). */
  keepExpiredMs: number;
}

/** What an admission found. All but `admitted` left the document as it was. */
export interface Admission {
  admitted: boolean;
  /** Absent when the account has no such key, or an expired one. */
  key?: { allowedIps: string[] };
  served: boolean;
  state: AccountState;
  intranet: boolean;
  limit: number;
}

export interface LeaseOperations {
  /** Takes a place for `leaseId` when key, subscription and cap allow it and the key's networks are `networks`. Null: no such account. */
  admit(accountId: string, leaseId: string, keyHash: readonly string[], networks: readonly string[]): Promise<Admission | null>;
  /** The same for a member, who needs no key. */
  admitMember(accountId: string, leaseId: string, user: string): Promise<Admission | null>;
  /** Gives the ids of those that could not be renewed: expired, or gone. Rejects when nothing is known. */
  renew(leases: readonly { id: string; accountId: string }[]): Promise<Set<string>>;
  /** Removes the lease and counts the render; the new count, or undefined when the lease was not there. */
  settle(accountId: string, leaseId: string): Promise<number | undefined>;
  release(accountId: string, leaseId: string): Promise<void>;
}

/** What stands in a lease in place of a key's id. Ids of keys have no colon. */
export const leaseKeyOf = (user: string): string => `user:${user}`;

/**
 * When the driver had to ask twice because an answer was lost, the server repeats what it had written with the whole document instead of the
 * projection (seen on 6.0). A refusal writes nothing and is decided anew, so a whole document always means that the lease was taken.
 */
function answerOf(found: Document, leaseId: string, networks: readonly string[]): Admission {
  if (!('leases' in found)) return found as Admission;
  const { leases, state, intranet } = found as AccountDocument;
  if (!leases.some(lease => lease.id === leaseId)) throw new Error('a repeated admission does not hold its lease');
  return { admitted: true, key: { allowedIps: [...networks] }, served: true, state, intranet, limit: leases.length };
}

export function leaseOperations(store: Store, { plans, leaseMs, keepExpiredMs, ...rules }: LeaseRules): LeaseOperations {
  const { accounts, limits } = store;
  const cap = capOf(plans);
  const served = isServed(rules);
  const expires: Document = { $add: ['$$NOW', leaseMs] };

  /** The leases with one more, where `allowed` holds, the account is served and a place is free. */
  const oneMore = (leaseId: string, key: unknown, ...allowed: Document[]): Document => {
    const mayRun = { $and: [...allowed, served, { $lt: [runningLeases, cap] }, { $not: [{ $in: [leaseId, '$leases.id'] }] }] };
    return { $cond: [mayRun, { $concatArrays: [leasesKept(keepExpiredMs, cap), [{ id: leaseId, key, expires }]] }, '$leases'] };
  };

  async function take(accountId: string, leaseId: string, leases: Document, key: Document = {}, networks: readonly string[] = []) {
    const found = await accounts.findOneAndUpdate({ _id: accountId }, [{ $set: { leases } }], {
      returnDocument: 'after',
      projection: {
        _id: 0,
        admitted: { $in: [leaseId, '$leases.id'] },
        ...key,
        served,
        state: 1,
        intranet: 1,
        limit: cap,
      },
      ...limits,
    });
    return found === null ? null : answerOf(found, leaseId, networks);
  }

  function admit(accountId: string, leaseId: string, keyHash: readonly string[], networks: readonly string[]) {
    const leases = oneMore(leaseId, '$$good.id', keyIsGood, { $eq: [allowedIps, { $literal: networks }] });
    const key = withKey(keyHash, { $cond: [keyIsGood, { allowedIps }, '$$REMOVE'] });
    return take(accountId, leaseId, withKey(keyHash, leases), { key }, networks);
  }

  const admitMember = (accountId: string, leaseId: string, user: string) =>
    take(accountId, leaseId, oneMore(leaseId, { $literal: leaseKeyOf(user) }));

  /** One update a lease, which changes nothing when the lease has expired, so that the number of changed documents tells if all live. */
  const renewal = ({ id, accountId }: { id: string; accountId: string }): AnyBulkWriteOperation<AccountDocument> => {
    const mine = { $and: [{ $eq: ['$$lease.id', id] }, { $gt: ['$$lease.expires', '$$NOW'] }] };
    const renewed = { $mergeObjects: ['$$lease', { expires }] };
    const leases = { $map: { input: '$leases', as: 'lease', in: { $cond: [mine, renewed, '$$lease'] } } };
    return { updateOne: { filter: { _id: accountId, 'leases.id': id }, update: [{ $set: { leases } }] } };
  };

  async function renew(leases: readonly { id: string; accountId: string }[]): Promise<Set<string>> {
    const { modifiedCount } = await accounts.bulkWrite(leases.map(renewal), { ordered: false, ...limits });
    if (modifiedCount === leases.length) return new Set();
    const living = await accounts
      .find({ _id: { $in: [...new Set(leases.map(lease => lease.accountId))] } }, { projection: { leases: unexpiredLeases }, ...limits })
      .toArray();
    const alive = new Set(living.flatMap(account => account.leases.map(lease => lease.id)));
    return new Set(leases.map(lease => lease.id).filter(id => !alive.has(id)));
  }

  async function settle(accountId: string, leaseId: string): Promise<number | undefined> {
    const others = { $filter: { input: '$leases', as: 'lease', cond: { $ne: ['$$lease.id', leaseId] } } };
    const settled = await accounts.findOneAndUpdate(
      { _id: accountId, 'leases.id': leaseId },
      [{ $set: { leases: others, usage: usagePlusOne } }],
      { returnDocument: 'after', projection: { _id: 0, usage: 1 }, ...limits },
    );
    return settled?.usage.count;
  }

  async function release(accountId: string, leaseId: string): Promise<void> {
    await accounts.updateOne({ _id: accountId, 'leases.id': leaseId }, { $pull: { leases: { id: leaseId } } }, limits);
  }

  return { admit, admitMember, renew, settle, release };
}
