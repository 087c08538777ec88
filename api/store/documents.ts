// The shapes of the documents in MongoDB. Migrations only add to them, so that two releases can work on one database.

export const ACCOUNT_STATES = ['active', 'trialing', 'past_due', 'unpaid', 'canceled', 'paused'] as const;
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
}

export interface LeaseDocument {
  /** Names the running render; what makes admitting, settling and releasing safe to repeat. */
  id: string;
  /** Id of the key that it was admitted with. */
  key: string;
  expires: Date;
}

/** One customer: everything that a render has to read or write is in this one document, so that one operation decides. */
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
  /** Renders counted in `period` (`2026-11`, UTC). An older period counts as zero. */
  usage: { period: string; count: number };
  createdAt: Date;
}

/** What holds trial callers back. One document a visitor, and one for the places of the whole installation. */
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

/** `schema`: how far the migrations are. `migration`: who works on them, and until when nobody else may. */
export interface MetaDocument {
  _id: string;
  version?: number;
  owner?: string;
  until?: Date;
}
