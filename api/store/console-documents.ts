// The documents of the dashboard in MongoDB: users, sessions, teams, audit log, render log, usage
// and OAuth.
import type { RenderFailedReason } from '../../common/contract/errors.ts';
import type { ResourceError } from '../../common/contract/resource-errors.ts';
import type { RenderWarning } from '../../common/contract/warnings.ts';
import type { PhaseTimings } from './phases.ts';

export const ROLES = ['owner', 'admin', 'developer', 'billing', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/**
 * A user. Passwords are Argon2id hashes in PHC notation. Secrets that must be read again (for
 * one-time codes) are encrypted.
 */
export interface UserDocument {
  /** `usr_` and random characters. */
  _id: string;
  /** Lower case; unique. */
  email: string;
  name: string;
  /** An administrator: may see all accounts, workers and health checks. */
  operator: boolean;
  disabled?: boolean;
  /** Absent for a user who signs in only with SSO. */
  password?: string;
  twoFactor?: {
    /** Encrypted base32. */
    secret: string;
    /** SHA-256 of each unused recovery code. */
    recoveryCodes: string[];
    /** The last accepted time step, so that a code works once. */
    lastStep: number;
    confirmedAt: Date;
  };
  /** A secret that was shown but not confirmed; encrypted. */
  twoFactorPending?: { secret: string; at: Date };
  /** The user's identities at identity providers. Unique. */
  identities: { issuer: string; subject: string }[];
  createdAt: Date;
  lastSignInAt?: Date;
}

export interface SessionDocument {
  /** SHA-256 of the cookie's token. The token itself is not stored. */
  _id: string;
  /** The session's ID in the dashboard. The hash is never returned. */
  publicId: string;
  user: string;
  method: 'password' | 'company' | 'setup' | 'invitation';
  createdAt: Date;
  lastSeenAt: Date;
  /** The earlier of the idle and the absolute timeout; the TTL of the document. */
  expiresAt: Date;
  /** The absolute timeout. */
  endsAt: Date;
  ip: string;
  userAgent: string;
}

/**
 * The members of an account. One document per account, so that two concurrent changes cannot remove
 * the last owner.
 */
export interface TeamDocument {
  /** The account ID. */
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

/** An entry of the audit log. Never changed, except that those of programs count. */
export interface AuditDocument {
  _id: string;
  /** Of the first action that it counts. */
  at: Date;
  /** Absent for actions on the installation. */
  account?: string;
  /** Absent for actions without a signed-in user: API keys, the command line, the payment provider. */
  user?: string;
  /** The user's email address at that time, or the program that acted. */
  actor: string;
  /** `key.created`, `member.role_changed`… */
  action: string;
  /** The object of the action by a permanent name, such as a key's name or an email address. */
  target?: string;
  /** What changed; small and without secrets. */
  details?: Record<string, string | number | boolean | null>;
  ip?: string;
}

/** An entry of the render log. Never contains HTML or secrets. */
export interface RenderDocument {
  /** The request ID. */
  _id: string;
  account: string;
  at: Date;
  /** The key ID. Absent for a render from the dashboard or the MCP tool. */
  key?: string;
  /** The user who rendered without a key. */
  user?: string;
  /** The name of the MCP client. */
  app?: string;
  via: 'api' | 'playground' | 'mcp' | 'async';
  outcome: 'ok' | 'error' | 'client_closed';
  /** The error's code, reason and message. */
  code?: string;
  reason?: RenderFailedReason;
  message?: string;
  /** How many renders without a slot this record stands for. Absent for one. */
  times?: number;
  sandbox: boolean;
  counted: boolean;
  /** Absent when the request was rejected before it was read, or has neither. */
  source?: 'html' | 'url';
  /** Without user, query and fragment. */
  url?: string;
  /** The caller's identifier. */
  reference?: string;
  /** Of the PDF, at most 128 characters. */
  title?: string;
  /** The other fields of the request: harmless values as they are, others as their size. */
  options: Record<string, string | number | boolean>;
  /** Milliseconds. */
  timings: PhaseTimings;
  totalMs: number;
  pages?: number;
  bytes?: number;
  console?: { level: string; text: string }[];
  /** How many requests of the page failed. Absent when none did. */
  resourceErrors?: number;
  /** The first 100 of them. */
  resources?: ResourceError[];
  /** Absent when there are none. */
  warnings?: RenderWarning[];
}

/**
 * An account's renders of one day with one key, or without a key. Best effort: the counter in the
 * account is authoritative.
 */
export interface UsageDayDocument {
  _id: { account: string; day: string; key: string };
  ok: number;
  sandbox: number;
  failed: number;
  /** Absent on days before it was counted; `failed` includes it there. */
  rejected?: number;
  bytes: number;
  pages: number;
  /**
   * Histogram of the durations of successful renders, by index of USAGE_BUCKETS_MS. Absent when
   * there are none.
   */
  durations?: Record<string, number>;
  lastAt: Date;
  /** Names of the last writes, so that a retried write counts once. */
  flushes: string[];
}

/** All renders of the installation in one minute. */
export interface RenderMinuteDocument {
  /** Start of the minute. */
  _id: Date;
  ok: number;
  failed: number;
  rejected?: number;
  flushes: string[];
  expires: Date;
}

/** A handled event of the payment provider. */
export interface BillingEventDocument {
  _id: string;
  at: Date;
}

/** Counts sign-in attempts. The ID is an HMAC, so no email or IP address is stored. */
export interface SignInLimitDocument {
  _id: string;
  count: number;
  /** Attempts are rejected until then. */
  until?: Date;
  expires: Date;
}

/** Heartbeat of one API process, for the live page of administrators. */
export interface ProcessDocument {
  _id: string;
  at: Date;
  expires: Date;
  pool: string;
  startedAt: Date;
  queue: { waiting: number; oldestMs: number; byAccount: Record<string, number> };
  workers: { address: string; state: string; capacity: number; busy: number }[];
}

/** State of the OAuth server: a client, a code, a token or a pending consent. */
export interface OAuthDocument {
  /** Its kind and the SHA-256 of its identifier. Tokens are not stored in plain text. */
  _id: string;
  /** Encrypted JSON. */
  payload: string;
  /** The consent that it belongs to. */
  grantId?: string;
  /** SHA-256 of a session's `uid`. */
  uid?: string;
  /** When a single-use item was used. */
  consumedAt?: Date;
  expiresAt: Date;
}

/** A user's consent for an app. Without it, no token of the consent is valid. */
export interface OAuthGrantDocument {
  _id: string;
  user: string;
  /** The account for which the app renders. */
  account: string;
  clientId: string;
  /** The app's name, as reported by the app. */
  clientName: string;
  /** Redirect target: a host, or the URI scheme of a local app. */
  redirect: string;
  scope: string;
  createdAt: Date;
  lastUsedAt?: Date;
  /** When the last token of the consent expires. */
  expiresAt: Date;
}

/**
 * MCP tool calls that an app has cancelled, read by the process that runs them. One document per
 * consent.
 */
export interface CancelledCallsDocument {
  /** The consent's ID. */
  _id: string;
  /** The latest calls. `name`: SHA-256 of the client's session and the message ID. */
  calls: { name: string; at: Date }[];
  expiresAt: Date;
}
