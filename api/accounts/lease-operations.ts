// The operations on leases, each one atomic and safe to repeat, by the server's clock alone. Keeps nothing that a decision rests on.
import {
  type AccountDocument,
  type AccountState,
  type AnyBulkWriteOperation,
  type Document,
  repeatedOnce,
  type Store,
  type Update,
} from '../store/store.ts';
import {
  allowedIps,
  capOf,
  isServed,
  keyIsGood,
  leasesKept,
  noneExpired,
  runningLeases,
  type ServedRules,
  unexpiredLeases,
  usagePlusOne,
  withKey,
} from './account-rules.ts';
import { type GatherLimits, gathered } from './gathered.ts';
import {
  type Asker,
  type Counted,
  type Known,
  type KnownPeriod,
  knownFrom,
  knownPeriodFrom,
  leanAdmission,
  leanSettlement,
  type Told,
} from './lean-leases.ts';
import type { Plan } from './plans.ts';
import { createRemembered } from './remembered.ts';

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
  /** Absent when the account has no such key, or an expired one, and where nobody has to ask: of an admission the short way. */
  key?: { allowedIps: string[] };
  served: boolean;
  state: AccountState;
  intranet: boolean;
  limit: number;
  /** An attempt before had no answer, and may still arrive: of a refused one as well. */
  repeated: boolean;
}

export type Count = number | 'unheard';

export interface LeaseOperations {
  /** Takes a place for `leaseId` when key, subscription and cap allow it and the key's networks are `networks`. Null: no such account. */
  admit(accountId: string, leaseId: string, keyHash: readonly string[], networks: readonly string[]): Promise<Admission | null>;
  /** The same for a member, who needs no key. */
  admitMember(accountId: string, leaseId: string, user: string): Promise<Admission | null>;
  /** Gives the ids of those that could not be renewed: expired, or gone. Rejects when nothing is known. */
  renew(leases: readonly { id: string; accountId: string }[]): Promise<Set<string>>;
  /**
   * Removes the lease and counts the render; gives the count then. `unheard`: an attempt that had no answer has counted it, so that nobody knows
   * the count. Undefined: the lease was not there.
   */
  settle(accountId: string, leaseId: string): Promise<Count | undefined>;
  release(accountId: string, leaseId: string): Promise<void>;
}

/** What stands in a lease in place of a key's id. Ids of keys have no colon. */
export const leaseKeyOf = (user: string): string => `user:${user}`;

/** Accounts, and who asks of them: about 300 bytes each. */
const MAX_REMEMBERED = 10_000;

/**
 * A message costs MongoDB about as much as the update in it. Of one, two, three, four and eight under way three and four let the most through with 32 callers; and the fewer
 * admissions one holds, the fewer does one that cannot be made send to the whole rules. The wait matters when MongoDB is far away, or a connection is dead.
 */
const TOGETHER: GatherLimits = { atOnce: 4, most: 32, waitMs: 5 };

const nameOf = (accountId: string, { by }: Asker): string => `${accountId} ${by}`;

export function leaseOperations(store: Store, { plans, leaseMs, keepExpiredMs, ...rules }: LeaseRules): LeaseOperations {
  const { accounts, leaseWrites, limits } = store;
  const cap = capOf(plans);
  const served = isServed(rules);
  const { everyStateServed = false } = rules;
  const known = createRemembered<Known>(MAX_REMEMBERED);
  const periods = createRemembered<KnownPeriod>(MAX_REMEMBERED);
  const expires: Document = { $add: ['$$NOW', leaseMs] };

  /** The leases with one more, where `allowed` holds, the account is served and a place is free. */
  const oneMore = (leaseId: string, key: unknown, ...allowed: Document[]): Document => {
    const mayRun = { $and: [...allowed, served, { $lt: [runningLeases, cap] }, { $not: [{ $in: [leaseId, '$leases.id'] }] }] };
    return { $cond: [mayRun, { $concatArrays: [leasesKept(keepExpiredMs, cap), [{ id: leaseId, key, expires }]] }, '$leases'] };
  };

  /**
   * Whether all of them changed their accounts. When one did not, nobody knows which: the whole rules decide on each, and find the leases that were made. So an account that
   * has become full costs those beside it something, but only in the commands that are under way: it comes back here when it was admitted by those rules, and then found alone.
   */
  const changeAll = gathered(async (each: readonly Update[]) => (await leaseWrites.updates(each)) === each.length, TOGETHER);

  /** Undefined when nothing is known of who asks, or when an update may not have found it unchanged. */
  async function takeLean(accountId: string, leaseId: string, asker: Asker): Promise<Admission | undefined> {
    const name = nameOf(accountId, asker);
    const told = known.of(name);
    if (!told) return undefined;
    const lease = { id: leaseId, key: { $literal: told.keyId ?? asker.by }, expires };
    const filter = leanAdmission(accountId, leaseId, asker, told, everyStateServed);
    const update: Update = { filter, change: [{ $set: { leases: { $concatArrays: ['$leases', [lease]] } } }] };
    let found = false;
    try {
      found = told.found ? await changeAll(update) : (await leaseWrites.updates([update])) === 1;
    } finally {
      // Also after an error: one account whose document is held up, or which nobody can decide on, would make those beside it fail each time.
      if (found !== !!told.found && known.of(name) === told) known.learn(name, { ...told, found });
    }
    if (!found) return undefined;
    return { admitted: true, served: true, ...told, repeated: false };
  }

  /**
   * A first attempt whose answer was lost has its lease there when the second comes, which then changes nothing and finds it admitted. Should the first come last, it
   * finds the second's lease, or one place fewer for as long as a lease lasts when that has ended.
   */
  const take = (accountId: string, leaseId: string, asker: Asker, leases: Document, key: Document = {}) =>
    repeatedOnce(async again => {
      const lean = again ? undefined : await takeLean(accountId, leaseId, asker);
      if (lean) return lean;
      const found = (await leaseWrites.findAndModify({ _id: accountId }, [{ $set: { leases } }], {
        _id: 0,
        admitted: { $in: [leaseId, '$leases.id'] },
        ...key,
        served,
        plan: 1,
        state: 1,
        intranet: 1,
        limit: cap,
        hasExpired: { $not: [noneExpired] },
      })) as (Admission & Told) | null;
      known.learn(nameOf(accountId, asker), found ? knownFrom(found, everyStateServed) : undefined);
      return found && { ...found, repeated: again };
    });

  function admit(accountId: string, leaseId: string, keyHash: readonly string[], networks: readonly string[]) {
    const leases = oneMore(leaseId, '$$good.id', keyIsGood, { $eq: [allowedIps, { $literal: networks }] });
    const key = withKey(keyHash, { $cond: [keyIsGood, { id: '$$good.id', expiresAt: '$$good.expiresAt', allowedIps }, '$$REMOVE'] });
    return take(accountId, leaseId, { by: keyHash[0]!, key: { hashes: keyHash, networks } }, withKey(keyHash, leases), { key });
  }

  const admitMember = (accountId: string, leaseId: string, user: string) =>
    take(accountId, leaseId, { by: leaseKeyOf(user) }, oneMore(leaseId, { $literal: leaseKeyOf(user) }));

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

  async function settleLean(accountId: string, leaseId: string): Promise<number | undefined> {
    const told = periods.of(accountId);
    if (!told) return undefined;
    const change = { $pull: { leases: { id: leaseId } }, $inc: { 'usage.count': 1 } };
    const found = await leaseWrites.findAndModify(leanSettlement(accountId, leaseId, told), change, { _id: 0, 'usage.count': 1 });
    return found?.['usage'].count;
  }

  async function settleByAllRules(accountId: string, leaseId: string): Promise<number | undefined> {
    const others = { $filter: { input: '$leases', as: 'lease', cond: { $ne: ['$$lease.id', leaseId] } } };
    const fields = { _id: 0, usage: 1, 'billing.periodStart': 1, 'billing.periodEnd': 1 };
    const change = [{ $set: { leases: others, usage: usagePlusOne } }];
    const found = (await leaseWrites.findAndModify({ _id: accountId, 'leases.id': leaseId }, change, fields)) as Counted | null;
    if (found) periods.learn(accountId, knownPeriodFrom(found));
    return found?.usage.count;
  }

  /**
   * When it is asked again and finds nothing, the attempt before has counted it and taken the lease away, and a majority has that: the server waits for it also when there
   * is nothing to change. The count of now would be told to whoever made it so as well.
   */
  const settle = (accountId: string, leaseId: string): Promise<Count | undefined> =>
    repeatedOnce(async again => {
      const count = (await settleLean(accountId, leaseId)) ?? (await settleByAllRules(accountId, leaseId));
      return count ?? (again ? 'unheard' : undefined);
    });

  const release = (accountId: string, leaseId: string): Promise<void> =>
    repeatedOnce(async () => {
      await leaseWrites.update({ _id: accountId, 'leases.id': leaseId }, { $pull: { leases: { id: leaseId } } });
    });

  return { admit, admitMember, renew, settle, release };
}
