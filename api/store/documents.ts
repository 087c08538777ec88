// The shapes of the documents in MongoDB. Migrations only add to them, so that two releases can
// work on one database.

export const ACCOUNT_STATES = [
  'active',
  'trialing',
  'past_due',
  'unpaid',
  'canceled',
  'paused',
] as const;
export type AccountState = (typeof ACCOUNT_STATES)[number];

/** The name of the index of `keys.hash`, by which keys are looked up. */
export const KEY_HASH_INDEX = 'key hash';

export interface KeyDocument {
  id: string;
  /** HMAC-SHA-256 of the key's text with the pepper; the text itself is stored nowhere. */
  hash: string;
  name: string;
  last4: string;
  createdAt: Date;
  expiresAt?: Date;
  /** Networks in CIDR notation. Absent: the key works from anywhere. */
  allowedIps?: string[];
  /** Id of the key that takes its place: it was rotated, and only runs out. */
  replacedBy?: string;
}

export interface LeaseDocument {
  /** Names the running render; what makes admitting, settling and releasing safe to repeat. */
  id: string;
  /** Id of the key that it was admitted with, or `user:` and the member's id. */
  key: string;
  expires: Date;
}

/** What Stripe says of an account, as it was last asked. */
interface BillingDocument {
  /** The customer at Stripe; made once for each account. */
  customer: string;
  /**
   * Grows with each write, which must find the one that was read before Stripe was asked: so an
   * older answer never replaces a newer one.
   */
  revision: number;
  /** When Stripe was last asked, or the customer made. */
  syncedAt: Date;
  /** Until when one process has taken it upon itself to ask again. */
  claimedUntil?: Date;
  /** Since when a person is on the way to paying; gone with the subscription's arrival. */
  checkoutAt?: Date;
  subscription?: string;
  /**
   * The state that the subscription gave the account; another one in the account is the operator's.
   */
  state?: AccountState;
  /** The billing period; absent for a subscription that has ended. */
  periodStart?: Date;
  periodEnd?: Date;
  cancelAtPeriodEnd?: boolean;
}

/**
 * One customer: everything that a render has to read or write is in this one document, so that one
 * operation decides.
 */
export interface AccountDocument {
  /** The ten characters that stand in each of its keys. */
  _id: string;
  name: string;
  plan: string;
  state: AccountState;
  /** When the state became past_due; absent in any other state. */
  pastDueSince?: Date;
  /** Its pages may reach the operator's allow-list of internal addresses. */
  intranet: boolean;
  keys: KeyDocument[];
  leases: LeaseDocument[];
  /**
   * Renders counted in `period`: `2026-11`, a month in UTC, or `2026-11-15`, the first day of a
   * period of Stripe's. An older period counts as zero.
   */
  usage: { period: string; count: number };
  /** Absent until somebody of the account went to pay. */
  billing?: BillingDocument;
  createdAt: Date;
}

/**
 * What holds trial callers back. One document a visitor, and one for the places of the whole
 * installation.
 */
export interface TrialLimitDocument {
  /** `places`, or an HMAC with the pepper: the address of a visitor is stored nowhere. */
  _id: string;
  /** A visitor's calls of the last minute, oldest first; `id` is the request's. */
  calls?: { id: string; at: Date }[];
  /** When the last call is a minute old: then the document goes. */
  expires?: Date;
  /** The trial renders that run now. */
  leases?: { id: string; expires: Date }[];
}

/**
 * `schema`: how far the migrations are. `migration`: who works on them, and until when nobody else
 * may. `setup`: the links by which the first person can sign in, one of each API process. `oauth`:
 * the keys of the OAuth server.
 */
export interface MetaDocument {
  _id: string;
  version?: number;
  owner?: string;
  until?: Date;
  /** SHA-256 of each link's token. */
  tokens?: { hash: string; expires: Date }[];
  /** Sealed JSON. */
  sealed?: string;
}
