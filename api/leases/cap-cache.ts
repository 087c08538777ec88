// Caches the concurrency limit of accounts whose leases are all held by this process. Further calls
// are rejected without MongoDB, so that one flooding caller cannot overload it. Pure: the caller
// passes `nowMs` of a monotonic clock.
import { OpenCounts } from '../accounts/open-counts.ts';

/** How long a limit read from MongoDB is valid; the plan may have changed since. */
const VALID_MS = 1_000;

export class CapCache {
  readonly #held = new OpenCounts();
  /**
   * By account, then by key or member, for accounts that hold leases here. Bounded: an account has
   * at most 200 keys and 100 members.
   */
  readonly #caps = new Map<string, Map<string, { cap: number; atMs: number }>>();

  admitted(accountId: string): void {
    this.#held.add(accountId, 1);
  }

  /** Called when a lease is about to be settled or released. */
  ended(accountId: string): void {
    if (this.#held.add(accountId, -1) <= 0) this.#caps.delete(accountId);
  }

  /** MongoDB rejected this key (by its hash) or this member only because of the limit. */
  rejected(accountId: string, by: string, cap: number, nowMs: number): void {
    if (this.#held.of(accountId) === 0) return;
    const each = this.#caps.get(accountId) ?? new Map();
    this.#caps.set(accountId, each.set(by, { cap, atMs: nowMs }));
  }

  /**
   * The limit, when this process holds that many leases of the account and MongoDB rejected the
   * same key or member for it within VALID_MS.
   */
  capOf(accountId: string, by: string, nowMs: number): number | undefined {
    const known = this.#caps.get(accountId)?.get(by);
    if (!known || nowMs - known.atMs >= VALID_MS) return undefined;
    return this.#held.of(accountId) >= known.cap ? known.cap : undefined;
  }
}
