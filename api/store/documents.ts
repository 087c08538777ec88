// The documents of renders and accounts in MongoDB. Migrations only add to them, so that two
// releases can use one database.

import type { AccountState } from '../../common/contract/account.ts';

export { ACCOUNT_STATES, type AccountState } from '../../common/contract/account.ts';

/** The names of the indexes on `keys.hash` and `restrictedKeys.hash`, used to look up keys. */
export const KEY_HASH_INDEX = 'key hash';
export const RESTRICTED_KEY_HASH_INDEX = 'restricted key hash';

/** What an API key may do: make renders, or read the account and its usage. */
export const KEY_SCOPES = ['render', 'read'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

export interface KeyDocument {
  id: string;
  /** HMAC-SHA-256 of the key's text with the pepper. The text itself is not stored. */
  hash: string;
  name: string;
  last4: string;
  createdAt: Date;
  expiresAt?: Date;
  /** Networks in CIDR notation. Absent: the key works from anywhere. */
  allowedIps?: string[];
  /** ID of the replacement: the key was rotated and is about to expire. */
  replacedBy?: string;
  /** Absent: `render`, for keys of earlier versions. */
  scopes?: readonly KeyScope[];
  /** A test key: all its renders are sandbox renders. */
  test?: true;
}

export interface LeaseDocument {
  /** Idempotency token of admission, settlement and release. */
  id: string;
  /** ID of the key that was used, `user:` and the member's ID, or `async`. */
  key: string;
  expires: Date;
  /** The key was a test key: the render is not counted. */
  sandbox?: true;
  /** The render is asynchronous. */
  async?: true;
}

/** The account's billing status as last read from Stripe. */
interface BillingDocument {
  /** The Stripe customer, created once per account. */
  customer: string;
  /**
   * Grows with each write. A write succeeds only if it is unchanged since before Stripe was called,
   * so an older answer never replaces a newer one.
   */
  revision: number;
  /** When Stripe was last read, or the customer created. */
  syncedAt: Date;
  /** Until when one process is in charge of the next read. */
  claimedUntil?: Date;
  /** Start of a pending checkout; removed when the subscription arrives. */
  checkoutAt?: Date;
  subscription?: string;
  /** The subscription's state. The account's state differs when an administrator has set it. */
  state?: AccountState;
  /** The billing period. Absent after the subscription has ended. */
  periodStart?: Date;
  periodEnd?: Date;
  cancelAtPeriodEnd?: boolean;
}

/** One account. Everything that an admission reads or writes is in this document. */
export interface AccountDocument {
  /** Ten characters that are part of each of its keys. */
  _id: string;
  name: string;
  plan: string;
  state: AccountState;
  /** When the state became past_due; absent in any other state. */
  pastDueSince?: Date;
  /** Its renders may reach the allowlist of internal addresses. */
  intranet: boolean;
  /** False: each of its renders has a renderer process of its own. Absent: true. */
  rendererReuse?: boolean;
  keys: KeyDocument[];
  /**
   * Test keys and keys without the scope `render`. Separate from `keys`, where an earlier version
   * finds keys and lets each of them make counted renders.
   */
  restrictedKeys?: KeyDocument[];
  leases: LeaseDocument[];
  /**
   * Renders counted in `period`: a month in UTC (`2026-11`) or the first day of a Stripe period
   * (`2026-11-15`). The usage of an older period is shown as zero.
   */
  usage: { period: string; count: number };
  /** Absent until a member opened the checkout. */
  billing?: BillingDocument;
  createdAt: Date;
}

/** An account that is being deleted, or was a short time ago. */
export interface DeletedAccountDocument {
  /** The account's ID. */
  _id: string;
  name: string;
  at: Date;
  /**
   * When this document expires. Before that, what calls in progress have stored is deleted too.
   * Absent until the account's data has been deleted once.
   */
  keptUntil?: Date;
}

/** Limits of trial renders: one document per client, and one for the slots of the installation. */
export interface TrialLimitDocument {
  /** `places`, or an HMAC of the client's address with the pepper. The address is not stored. */
  _id: string;
  /** The client's calls of the last minute, oldest first, by request ID. */
  calls?: { id: string; at: Date }[];
  /** When the last call is a minute old; the TTL of the document. */
  expires?: Date;
  /** Leases of the running trial renders. */
  leases?: { id: string; expires: Date }[];
}

/**
 * `schema`: the version of the schema. `migration`: the lock of the process that migrates. `setup`:
 * setup links for the first administrator, one per API process. `oauth`: keys of the OAuth server.
 */
export interface MetaDocument {
  _id: string;
  version?: number;
  owner?: string;
  until?: Date;
  /** SHA-256 of each link's token. */
  tokens?: { hash: string; expires: Date }[];
  /** Encrypted JSON. */
  sealed?: string;
}
