// Accounts of which this process itself holds as many leases as their plan allows. What more of their calls are refused here: MongoDB would refuse them too,
// and a caller who floods the service asks for more than it does for all others together. Knows no time of its own, `nowMs` is monotonic.

/** How long the cap that MongoDB told is believed. After that a call asks again: the plan may allow more by now. */
const BELIEVED_MS = 1_000;

export interface FullAccounts {
  admitted(accountId: string): void;
  /** The lease is settled or released, or about to be. */
  ended(accountId: string): void;
  /** MongoDB refused this key, by its hash, or this member for the cap alone. */
  refused(accountId: string, by: string, cap: number, nowMs: number): void;
  /** The cap, when the process holds so many leases of this account, and MongoDB refused the same key or member for it just now. */
  capOf(accountId: string, by: string, nowMs: number): number | undefined;
}

export function createFullAccounts(): FullAccounts {
  const held = new Map<string, number>();
  /** By account and by key or member, of accounts that hold leases here. An account has at most 200 keys and 100 members. */
  const caps = new Map<string, Map<string, { cap: number; atMs: number }>>();

  return {
    admitted: accountId => void held.set(accountId, (held.get(accountId) ?? 0) + 1),
    ended(accountId) {
      const left = (held.get(accountId) ?? 0) - 1;
      if (left > 0) return void held.set(accountId, left);
      held.delete(accountId);
      caps.delete(accountId);
    },
    refused(accountId, by, cap, nowMs) {
      if (!held.has(accountId)) return;
      const each = caps.get(accountId) ?? new Map();
      caps.set(accountId, each.set(by, { cap, atMs: nowMs }));
    },
    capOf(accountId, by, nowMs) {
      const known = caps.get(accountId)?.get(by);
      if (!known || nowMs - known.atMs >= BELIEVED_MS) return undefined;
      return (held.get(accountId) ?? 0) >= known.cap ? known.cap : undefined;
    },
  };
}
