// The short ways to take a lease and to settle it, which cost MongoDB least: updates whose filters find the account only when the whole rules (account-rules.ts)
// would write the same. What they do not find, those rules decide. Nothing rests on what is known of an account: all of it is in the filter again. Pure.
import type { AccountState, Document } from '../store/store.ts';
import { ALWAYS_SERVED, noneExpired } from './account-rules.ts';

/** Who asks, as the account knows them. */
export interface Asker {
  /** The key's first hash, or what stands for a member in a lease. */
  by: string;
  /** Absent for a member, who needs no key. */
  key?: { hashes: readonly string[]; networks: readonly string[] };
}

/** What the whole rules told of an account that they admitted a render to. */
export interface Told {
  admitted: boolean;
  plan: string;
  state: AccountState;
  intranet: boolean;
  limit: number;
  /** A lease is there that has expired. */
  hasExpired: boolean;
  key?: { id: string; expiresAt?: Date };
}

export type Known = Pick<Told, 'plan' | 'state' | 'intranet' | 'limit'> & {
  keyId?: string;
  /** The short way has found the account by it the last time. */
  found?: boolean;
};

/** Undefined when the short way would not find the account the next time either. */
export function knownFrom({ admitted, hasExpired, key, plan, state, intranet, limit }: Told, everyStateServed: boolean): Known | undefined {
  if (!admitted || hasExpired || key?.expiresAt || !(everyStateServed || ALWAYS_SERVED.includes(state))) return undefined;
  return { plan, state, intranet, limit, ...(key && { keyId: key.id }) };
}

/** By `$eq`, since a condition that is undefined would be left out of the command: so it finds nothing. */
const is = (value: unknown): Document => ({ $eq: value });

/** Finds the account when the whole rules would only put the lease behind those that are there. */
export function leanAdmission(accountId: string, leaseId: string, { key }: Asker, known: Known, everyStateServed: boolean): Document {
  const { plan, state, intranet, limit, keyId } = known;
  return {
    _id: accountId,
    // Of which `limit` is the cap, by the configuration alone.
    plan: is(plan),
    ...(!everyStateServed && { state: is(state) }),
    intranet: is(intranet),
    ...(key && {
      keys: {
        $elemMatch: {
          id: is(keyId),
          hash: { $in: key.hashes },
          expiresAt: { $exists: false },
          allowedIps: key.networks.length > 0 ? is(key.networks) : { $exists: false },
        },
      },
    }),
    // Fewer leases than the cap.
    [`leases.${limit - 1}`]: { $exists: false },
    // An attempt whose answer was lost may have taken it.
    'leases.id': { $ne: leaseId },
    // Those that expired have their time, which is kept by the whole rules.
    $expr: noneExpired,
  };
}

/** What the whole rules told of the account in which they counted a render. */
export interface Counted {
  usage: { period: string; count: number };
  /** Of Stripe's period, where there is one. */
  billing?: { periodStart?: Date; periodEnd?: Date };
}

export interface KnownPeriod extends Pick<Counted, 'billing'> {
  period: string;
  /** No other one has begun before. */
  ends: Date;
}

/** Undefined when the period does not stand in the account as it is: behind the end of Stripe's, of which no word has come yet. */
export function knownPeriodFrom({ usage: { period }, billing }: Counted): KnownPeriod | undefined {
  const [, year, month] = /^(\d{4})-(\d{2})$/.exec(period) ?? [];
  if (billing?.periodEnd === undefined)
    return month === undefined ? undefined : { period, ends: new Date(Date.UTC(Number(year), Number(month))) };
  const { periodStart, periodEnd } = billing;
  return periodStart?.toISOString().startsWith(`${period}T`) ? { period, ends: periodEnd, billing } : undefined;
}

/** Finds the account when the whole rules would take the lease away and add one to the count of the period that is known. */
export const leanSettlement = (accountId: string, leaseId: string, { period, ends, billing }: KnownPeriod): Document => ({
  _id: accountId,
  'leases.id': leaseId,
  'usage.period': is(period),
  ...(billing && { 'billing.periodStart': is(billing.periodStart) }),
  'billing.periodEnd': billing ? is(billing.periodEnd) : { $exists: false },
  $expr: { $lt: ['$$NOW', ends] },
});
