// The port for leases: admits renders, settles them into usage, and releases them. Its comments are
// the contract of every adapter.
import type { Caller } from '../accounts/accepted-keys.ts';

/**
 * A member who renders in the dashboard, without a key. The render counts toward the concurrency
 * limit. The caller has checked session and role.
 */
export interface Member {
  accountId: string;
  user: string;
  requestId: string;
}

/** An asynchronous render. Its key was checked when it was submitted. */
export interface SubmittedRender {
  accountId: string;
  /** Of this attempt. */
  requestId: string;
}

/** The right to run one render until `lost` aborts. */
export interface Lease {
  id: string;
  accountId: string;
  /**
   * Trial only: a hash of the client's network, which counts as an account when each account has
   * its own Chrome.
   */
  clientHash?: string;
  /** The render may reach the allowlist of internal addresses. */
  intranet: boolean;
  /** Static documents may use a page that served the account before. Absent: no, as for trials. */
  rendererReuse?: boolean;
  /** The key is a test key: the render has a watermark and is not counted. */
  sandbox?: boolean;
  /**
   * Aborts when the lease could not be renewed in time. Another render may be admitted in its
   * place, so this one must end.
   */
  lost: AbortSignal;
}

/** `C`: the caller's credentials. */
export interface Leases<C = Caller> {
  /**
   * Creates a lease. Across all replicas an account never has more unexpired leases than its plan
   * allows. A rejected call changes nothing. Throws ApiError `unauthorized` (key unknown, expired,
   * revoked, without the scope `render`, or not allowed from this address), `not_found` (a member's
   * account does not exist), `subscription_inactive`, `concurrency_limit` (with Retry-After and
   * X-Concurrency-Limit), or `render_failed`/`database` when the result is unknown; a lease that may
   * have been created is then released in the background.
   */
  admit(caller: C): Promise<Lease>;
  /**
   * Counts the render and removes the lease, once: the lease is the idempotency token, even after
   * it has expired. Returns the account's count in the billing period, or undefined when the render
   * will be counted in the background. Never throws.
   */
  settle(lease: Lease): Promise<number | undefined>;
  /**
   * Removes the lease without counting; does nothing after `settle`. Resolves when the lease is
   * removed, or after a second when it will be removed in the background. Never rejects.
   */
  release(lease: Lease): Promise<void>;
}
