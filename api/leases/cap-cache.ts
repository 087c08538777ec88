// Caches the cap of accounts of which this process itself holds as many leases as their plan
// allows. More of their calls are rejected without MongoDB, which would reject them too: a caller
// that floods the service would ask it more than all others together. Pure: the caller passes
// `nowMs`, of a monotonic clock.

/**
 * How long a cap from MongoDB is valid. After that a call asks again: the plan may allow more by
 * now.
 */
const VALID_MS = 1_000;

export class CapCache {
  readonly #held = new Map<string, number>();
  /**
   * By account and by key or member, of accounts that hold leases here. An account has at most 200
   * keys and 100 members.
   */
  readonly #caps = new Map<string, Map<string, { cap: number; atMs: number }>>();

  admitted(accountId: string): void {
    this.#held.set(accountId, (this.#held.get(accountId) ?? 0) + 1);
  }

  /** The lease is settled or released, or about to be. */
  ended(accountId: string): void {
    const left = (this.#held.get(accountId) ?? 0) - 1;
    if (left > 0) return void this.#held.set(accountId, left);
    this.#held.delete(accountId);
    this.#caps.delete(accountId);
  }

  /** MongoDB rejected this key, by its hash, or this member for the cap alone. */
  refused(accountId: string, by: string, cap: number, nowMs: number): void {
    if (!this.#held.has(accountId)) return;
    const each = this.#caps.get(accountId) ?? new Map();
    this.#caps.set(accountId, each.set(by, { cap, atMs: nowMs }));
  }

  /**
   * The cap, when the process holds so many leases of this account, and MongoDB rejected the same
   * key or member for it within VALID_MS.
   */
  capOf(accountId: string, by: string, nowMs: number): number | undefined {
    const known = this.#caps.get(accountId)?.get(by);
    if (!known || nowMs - known.atMs >= VALID_MS) return undefined;
    return (this.#held.get(accountId) ?? 0) >= known.cap ? known.cap : undefined;
  }
}
