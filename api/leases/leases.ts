// The port of the leases: who may render now, for how long, and what is counted. The contract that
// every adapter keeps.
import type { Caller } from '../accounts/accepted-keys.ts';

/**
 * Who renders in the dashboard: no key, but a place of the plan like any other. Its session and
 * role are checked before.
 */
export interface Member {
  accountId: string;
  user: string;
  requestId: string;
}

/** The right to run one render, for as long as `lost` has not aborted. */
export interface Lease {
  id: string;
  accountId: string;
  /**
   * Of a trial: a hash of the caller's network. No Chrome renders for two of them when Chromes are
   * kept apart.
   */
  clientHash?: string;
  /** The account's pages may reach the operator's allow-list of internal addresses. */
  intranet: boolean;
  /**
   * Aborts when the lease could not be renewed in time: the place may be somebody else's by now, so
   * the render must end.
   */
  lost: AbortSignal;
}

/** `C`: what a caller shows to be let in. */
export interface Leases<C = Caller> {
  /**
   * Takes a place. Over all replicas an account never has more unexpired leases than its plan
   * allows. A refused call changes nothing. Throws ApiError `unauthorized` (key unknown, expired,
   * revoked, or used from an address it does not allow), `not_found` (a member of an account that
   * is not there), `subscription_inactive`, `concurrency_limit` (with Retry-After and
   * X-Concurrency-Limit), or `render_failed`/`database` when nothing is known: whatever may then
   * have been taken is given back in the background.
   */
  admit(caller: C): Promise<Lease>;
  /**
   * Counts the render and gives the place back, once: the lease is the token, also when it has
   * expired. Returns the account's count in the billing period, or undefined when it will be
   * counted in the background. Never throws.
   */
  settle(lease: Lease): Promise<number | undefined>;
  /**
   * Gives the place back without counting; nothing to do when it was settled. Resolves when the
   * place is free, or after a second when it is freed in the background. Never rejects.
   */
  release(lease: Lease): Promise<void>;
}
