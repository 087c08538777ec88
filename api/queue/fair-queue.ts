// The queue of renders before the slots. The account that holds the fewest slots, now and recently,
// goes first; equals take turns; first in, first out within one account. Trial renders go only when
// no paid one waits. Bounded in length and bytes, with a share of both for each account. Pure: the
// caller passes the time and the capacity, and acts on the results.
import { type BoundRejection, SharedBound } from '../accounts/shared-bound.ts';
import type { Capacity } from '../workers/registry.ts';
import { FairShare } from './fair-share.ts';

/**
 * An account that has had renders in the queue for this long is under lasting load, not a burst.
 */
const STANDING_MS = 1_000;
/**
 * An account that recently held this much more than the mean of all accounts, for STANDING_MS, is
 * over its fair share.
 */
const OVER_FAIR_SHARE = 1.25;
/** With fewer slots than this, one trial render takes more than a quarter of them, */
const SMALL = 4;
/**
 * so it begins only when no other render has held a slot for this long: it then likely ends before
 * the next one arrives.
 */
const QUIET_MS = 500;

/** What the queue needs of a job; the rest of a job is the caller's. */
export interface Queued {
  readonly accountId: string;
  readonly trial: boolean;
  /** Memory that its body holds while it waits. */
  readonly bytes: number;
}

export interface QueueEntry<J extends Queued> {
  readonly job: J;
  /** Since when it waits, as `nowMs` of `add` or `reenqueue`. */
  sinceMs: number;
  /** `taken`: a slot is being opened for it; it still counts as waiting until it is removed. */
  state: 'waiting' | 'taken' | 'removed';
  /** When it was added; a retry keeps it. */
  readonly addedMs: number;
  /** From `take` to `undoTake` or `release`. */
  holdsSlot: boolean;
  /**
   * Its number in the order of `take`; 0 while it was never taken. An entry that was taken before
   * goes first when it is reenqueued.
   */
  turn: number;
}

export interface QueueBounds {
  maxLength: number;
  maxBytes: number;
}

/** The entries of one account. */
interface AccountQueue<J extends Queued> {
  entries: Set<QueueEntry<J>>;
  /** Since when it is not empty. */
  sinceMs: number;
}

/** Either all paid renders or all trial renders. */
interface Lane<J extends Queued> {
  /**
   * Taken and returned, by turn: they precede all others, which had no turn yet. At most as many as
   * there are slots.
   */
  returned: QueueEntry<J>[];
  /**
   * In the order of their turns: a served account goes to the end. Sets and maps keep their order
   * and remove in O(1).
   */
  accounts: Map<string, AccountQueue<J>>;
}

export class FairQueue<J extends Queued> {
  readonly #paid: Lane<J> = { returned: [], accounts: new Map() };
  readonly #trial: Lane<J> = { returned: [], accounts: new Map() };
  readonly #present = new Set<QueueEntry<J>>();
  readonly #shares = new FairShare();
  readonly #length: SharedBound;
  readonly #bytes: SharedBound;
  #taken = 0;
  #turns = 0;
  /** Slots that paid renders hold, and when that changed last. */
  #paidHeld = 0;
  #paidAtMs = Number.NEGATIVE_INFINITY;

  constructor(bounds: QueueBounds) {
    this.#length = new SharedBound(bounds.maxLength);
    this.#bytes = new SharedBound(bounds.maxBytes);
  }

  /**
   * An entry at the end of its account's queue, or why there is none: the length or the bytes would
   * exceed the bound, or the account's share of it.
   */
  add(job: J, nowMs: number): QueueEntry<J> | BoundRejection {
    const rejection =
      this.#length.rejection(job.accountId, 1) ?? this.#bytes.rejection(job.accountId, job.bytes);
    if (rejection) return rejection;
    const entry: QueueEntry<J> = {
      job,
      sinceMs: nowMs,
      addedMs: nowMs,
      state: 'waiting',
      holdsSlot: false,
      turn: 0,
    };
    this.#enter(entry);
    const { accounts } = this.#laneOf(entry);
    const account = accounts.get(job.accountId);
    if (account) account.entries.add(entry);
    else accounts.set(job.accountId, { entries: new Set([entry]), sinceMs: nowMs });
    return entry;
  }

  /**
   * The entry that is next. It stays in the queue until `remove`, and counts as holding a slot
   * until `undoTake` or `release`. Undefined also when those that wait are throttled: trial renders
   * while half of the slots are in use or, of few slots, any was a moment ago; and accounts over
   * their fair share from the last free slot, while other accounts are active.
   */
  take(nowMs: number, capacity: Capacity): QueueEntry<J> | undefined {
    const entry = this.#first(nowMs, capacity);
    if (!entry) return undefined;
    this.#removeFirst(entry);
    entry.state = 'taken';
    this.#taken++;
    entry.holdsSlot = true;
    this.#count(entry, 1, nowMs);
    return entry;
  }

  /**
   * The entry that `take` would return, and `held`: the slots that its account holds through this
   * queue, plus the mean of those it held recently. 0 for trial renders.
   */
  next(nowMs: number, capacity: Capacity): { entry: QueueEntry<J>; held: number } | undefined {
    const entry = this.#first(nowMs, capacity);
    return (
      entry && {
        entry,
        held: entry.job.trial ? 0 : this.#shares.weight(entry.job.accountId, nowMs),
      }
    );
  }

  /**
   * Undoes `take`. The order of the entries that were taken before it, or wait behind it, stays.
   */
  undoTake(entry: QueueEntry<J>, nowMs: number): void {
    if (entry.state !== 'taken') return;
    this.#taken--;
    this.#insertReturned(entry);
    this.release(entry, nowMs);
  }

  /**
   * Removes an entry, waiting or taken. Does nothing when it was removed before.
   */
  remove(entry: QueueEntry<J>): void {
    if (entry.state === 'removed') return;
    if (entry.state === 'waiting') this.#removeWaiting(entry);
    else this.#taken--;
    entry.state = 'removed';
    this.#present.delete(entry);
    this.#length.release(entry.job.accountId, 1);
    this.#bytes.release(entry.job.accountId, entry.job.bytes);
  }

  /** Releases the slot that `take` assigned. Does nothing when it holds none. */
  release(entry: QueueEntry<J>, nowMs: number): void {
    if (!entry.holdsSlot) return;
    entry.holdsSlot = false;
    this.#count(entry, -1, nowMs);
  }

  /**
   * Returns a job whose worker or Chrome died to its former position. Never rejected, since it was
   * admitted before. Its wait begins again.
   */
  reenqueue(entry: QueueEntry<J>, nowMs: number): void {
    if (entry.state !== 'removed') return;
    this.#enter(entry);
    entry.sinceMs = nowMs;
    this.#insertReturned(entry);
  }

  /**
   * All entries that are not removed, in no order that matters; removing some during the iteration
   * is safe.
   */
  entries(): Iterable<QueueEntry<J>> {
    return this.#present;
  }

  depth(): number {
    return this.#present.size;
  }

  /** Entries that are not taken. */
  waiting(): number {
    return this.#present.size - this.#taken;
  }

  /** Those of them that are not trial renders. Takes time in proportion to the accounts. */
  paidWaiting(): number {
    const { returned, accounts } = this.#paid;
    return accounts.values().reduce((sum, { entries }) => sum + entries.size, returned.length);
  }

  bytes(): number {
    return this.#bytes.used;
  }

  oldestWaitMs(nowMs: number): number {
    let oldest = nowMs;
    for (const entry of this.#present) oldest = Math.min(oldest, entry.sinceMs);
    return nowMs - oldest;
  }

  #laneOf(entry: QueueEntry<J>): Lane<J> {
    return entry.job.trial ? this.#trial : this.#paid;
  }

  #enter(entry: QueueEntry<J>): void {
    this.#present.add(entry);
    this.#length.hold(entry.job.accountId, 1);
    this.#bytes.hold(entry.job.accountId, entry.job.bytes);
  }

  /**
   * The accounts that must leave the last free slot to others: those over their fair share, while
   * any other account held a slot recently. What the worker has offered is used.
   */
  #throttled(
    accounts: Lane<J>['accounts'],
    nowMs: number,
    { free, slots, offered = 0 }: Capacity,
  ): ReadonlySet<string> {
    if (free > 1 || offered > 0 || slots < 2) return new Set();
    const recent = this.#shares.recent(nowMs);
    const mean = recent.values().reduce((sum, share) => sum + share, 0) / recent.size;
    const isOverFairShare = (accountId: string) => {
      const account = accounts.get(accountId);
      return (
        account !== undefined &&
        nowMs - account.sinceMs >= STANDING_MS &&
        (recent.get(accountId) ?? 0) >= mean * OVER_FAIR_SHARE
      );
    };
    return new Set(recent.keys().filter(isOverFairShare));
  }

  /** The account that holds least; the first in the order of turns among equals. */
  #nextAccount({ accounts }: Lane<J>, nowMs: number, capacity: Capacity): string | undefined {
    const throttled = this.#throttled(accounts, nowMs, capacity);
    let next: string | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const accountId of accounts.keys()) {
      const weight = this.#shares.weight(accountId, nowMs);
      if (weight >= least || throttled.has(accountId)) continue;
      next = accountId;
      least = weight;
      if (least === 0) break;
    }
    return next;
  }

  #count(entry: QueueEntry<J>, by: 1 | -1, nowMs: number): void {
    // Slots of trial renders do not count: they would throttle a single customer.
    if (entry.job.trial) return;
    this.#paidHeld += by;
    this.#paidAtMs = nowMs;
    if (by === 1) this.#shares.began(entry.job.accountId, nowMs);
    else this.#shares.ended(entry.job.accountId, nowMs);
  }

  /** Trial renders use idle capacity only; their share of slots is in leases/trial-leases.ts. */
  #trialMayBegin(nowMs: number, { free, slots }: Capacity): boolean {
    return (
      free * 2 > slots &&
      (slots >= SMALL || (this.#paidHeld === 0 && nowMs - this.#paidAtMs >= QUIET_MS))
    );
  }

  #first(nowMs: number, capacity: Capacity): QueueEntry<J> | undefined {
    const paidWaits = this.#paid.returned.length + this.#paid.accounts.size > 0;
    const lane = paidWaits
      ? this.#paid
      : this.#trialMayBegin(nowMs, capacity)
        ? this.#trial
        : undefined;
    if (!lane || lane.returned.length > 0) return lane?.returned[0];
    const accountId = this.#nextAccount(lane, nowMs, capacity);
    return accountId === undefined
      ? undefined
      : lane.accounts.get(accountId)!.entries.values().next().value;
  }

  #removeFirst(entry: QueueEntry<J>): void {
    const lane = this.#laneOf(entry);
    if (entry.turn > 0) return void lane.returned.shift();
    const { accountId } = entry.job;
    const account = lane.accounts.get(accountId)!;
    account.entries.delete(entry);
    lane.accounts.delete(accountId);
    if (account.entries.size > 0) lane.accounts.set(accountId, account);
    entry.turn = ++this.#turns;
  }

  #insertReturned(entry: QueueEntry<J>): void {
    const { returned } = this.#laneOf(entry);
    const before = returned.findLastIndex(other => other.turn < entry.turn);
    returned.splice(before + 1, 0, entry);
    entry.state = 'waiting';
  }

  #removeWaiting(entry: QueueEntry<J>): void {
    const lane = this.#laneOf(entry);
    if (entry.turn > 0) {
      lane.returned.splice(lane.returned.indexOf(entry), 1);
      return;
    }
    const account = lane.accounts.get(entry.job.accountId)!;
    account.entries.delete(entry);
    if (account.entries.size === 0) lane.accounts.delete(entry.job.accountId);
  }
}
