// The shapes of what the dashboard keeps in MongoDB: people, their sessions and teams, what they
// did, and what was rendered.
import type { RenderFailedReason } from '../../common/contract/errors.ts';
import type { PhaseTimings } from './phases.ts';

export const ROLES = ['owner', 'admin', 'developer', 'billing', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/**
 * A person. Passwords are Argon2id in PHC notation; what must be read again (the secret of one-time
 * codes) is sealed.
 */
export interface UserDocument {
  /** `usr_` and random letters. */
  _id: string;
  /** Lower case; unique. */
  email: string;
  name: string;
  /** Runs the installation: sees all accounts, workers and health. */
  operator: boolean;
  disabled?: boolean;
  /** Absent for who signs in through the company alone. */
  password?: string;
  twoFactor?: {
    /** Sealed; base32 inside. */
    secret: string;
    /** SHA-256 of each recovery code that is left. */
    recoveryCodes: string[];
    /** The last time step that was accepted: a code works once. */
    lastStep: number;
    confirmedAt: Date;
  };
  /** A secret that was shown and not confirmed yet; sealed. */
  twoFactorPending?: { secret: string; at: Date };
  /** Who the person is at the company's sign-in. Unique. */
  identities: { issuer: string; subject: string }[];
  createdAt: Date;
  lastSignInAt?: Date;
}

export interface SessionDocument {
  /** SHA-256 of the cookie's token, which is stored nowhere. */
  _id: string;
  /** What the person names it by when ending it: the hash itself never leaves. */
  publicId: string;
  user: string;
  method: 'password' | 'company' | 'setup' | 'invitation';
  createdAt: Date;
  lastSeenAt: Date;
  /** The earlier of the idle and the absolute limit; the document goes then. */
  expiresAt: Date;
  /** The absolute limit. */
  endsAt: Date;
  ip: string;
  userAgent: string;
}

/**
 * Who works in an account. One document an account, so that the last owner cannot be lost to two
 * changes at once.
 */
export interface TeamDocument {
  /** The account's id. */
  _id: string;
  members: { user: string; role: Role; since: Date }[];
  invitations: InvitationDocument[];
}

export interface InvitationDocument {
  id: string;
  /** SHA-256 of the link's token. */
  hash: string;
  email: string;
  role: Role;
  /** The user who invited. */
  by: string;
  createdAt: Date;
  expiresAt: Date;
}

/** Something that somebody did. Never changed. */
export interface AuditDocument {
  _id: string;
  at: Date;
  /** Absent for what concerns the installation. */
  account?: string;
  /** Absent for what nobody signed in did: the command line, the payment provider. */
  user?: string;
  /** The person's address at that time, or what else acted. */
  actor: string;
  /** `key.created`, `member.role_changed`… */
  action: string;
  /** What it was done to, in words that stay true: a name, an address. */
  target?: string;
  /** What changed, small and free of secrets. */
  details?: Record<string, string | number | boolean | null>;
  ip?: string;
}

/** One render, as its account sees it. Never the html, never a secret. */
export interface RenderDocument {
  /** The request id. */
  _id: string;
  account: string;
  at: Date;
  /** The key's id; absent for a render of the dashboard or the MCP tool. */
  key?: string;
  /** The person who rendered without a key. */
  user?: string;
  /** What the app calls itself that asked for it by the MCP tool. */
  app?: string;
  via: 'api' | 'playground' | 'mcp';
  outcome: 'ok' | 'error' | 'client_closed';
  /** The error's code, its reason and its sentence. */
  code?: string;
  reason?: RenderFailedReason;
  message?: string;
  sandbox: boolean;
  counted: boolean;
  /** Absent when the request was refused before it was read as one. */
  source?: 'html' | 'url';
  /** Without user, query and fragment. */
  url?: string;
  /** What was asked for besides the page: harmless values as they are, others as their size. */
  options: Record<string, string | number | boolean>;
  /** Milliseconds. */
  timings: PhaseTimings;
  totalMs: number;
  pages?: number;
  bytes?: number;
  console?: { level: string; text: string }[];
}

/**
 * An account's renders of one day by one key (or by no key). Best effort: the account's counter is
 * the truth.
 */
export interface UsageDayDocument {
  _id: { account: string; day: string; key: string };
  ok: number;
  sandbox: number;
  failed: number;
  bytes: number;
  pages: number;
  /**
   * How many successful renders took how long: buckets of USAGE_BUCKETS_MS by index. Absent while
   * there is none.
   */
  durations?: Record<string, number>;
  lastAt: Date;
  /** The last writes, by a name of their own: one that is tried again counts once. */
  flushes: string[];
}

/** All renders of the installation in one minute. */
export interface RenderMinuteDocument {
  /** When it began. */
  _id: Date;
  ok: number;
  failed: number;
  flushes: string[];
  expires: Date;
}

/** Something that the payment provider told and that was acted upon. */
export interface BillingEventDocument {
  _id: string;
  at: Date;
}

/** Counts attempts to sign in. By an HMAC: no address of a person or a machine is stored. */
export interface SignInLimitDocument {
  _id: string;
  count: number;
  /** The next try is refused before this. */
  until?: Date;
  expires: Date;
}

/** What one API process sees at the moment, for the operator's live page. */
export interface ProcessDocument {
  _id: string;
  at: Date;
  expires: Date;
  pool: string;
  startedAt: Date;
  queue: { waiting: number; oldestMs: number; byAccount: Record<string, number> };
  workers: { address: string; state: string; capacity: number; busy: number }[];
}

/**
 * Something that the OAuth server must find again: a client, a code, a token, a consent on its way.
 */
export interface OAuthDocument {
  /** Its kind and the SHA-256 of what names it: the token itself is stored nowhere in the open. */
  _id: string;
  /** Sealed JSON. */
  payload: string;
  /** The consent that it came of. */
  grantId?: string;
  /** SHA-256 of the second name of a session. */
  uid?: string;
  /** When it was used, of what works once. */
  consumedAt?: Date;
  expiresAt: Date;
}

/**
 * What a person allowed an app: one document a consent. Without it every token that came of the
 * consent is worth nothing.
 */
export interface OAuthGrantDocument {
  _id: string;
  user: string;
  /** In whose name the app renders. */
  account: string;
  clientId: string;
  /** What the app calls itself. */
  clientName: string;
  /** Where the answer went: a host, or the scheme of a program. */
  redirect: string;
  scope: string;
  createdAt: Date;
  lastUsedAt?: Date;
  /** When the last token that came of it is over. */
  expiresAt: Date;
}

/**
 * Calls of the MCP tool that an app has cancelled, for the process that runs them: one document a
 * consent.
 */
export interface CancelledCallsDocument {
  /** Of the consent. */
  _id: string;
  /** The last ones; `name`: SHA-256 of the client's session and the message's id. */
  calls: { name: string; at: Date }[];
  expiresAt: Date;
}
