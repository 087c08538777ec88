// The line of renders before the slots: the account that holds least, now and lately, goes first; those that hold as much take turns; first in first
// out within one. Trial renders only when no paid one waits. Bounded in length and bytes, with a share of both for each account.
// Knows no time of its own, no worker and no promise: who calls it says `nowMs`, which slots there are, and acts.
import { type BoundRefusal, SharedBound } from '../accounts/shared-bound.ts';
import type { Room } from '../workers/registry.ts';
import { createShares } from './fair-share.ts';

/** An account's line that has stood for this long is no burst: more comes than is served. */
const STANDING_MS = 1_000;
/** Whoever held this much more than the mean of all accounts lately, and has a standing line, floods. */
const FLOOD = 1.25;
/** With fewer slots than this a single trial render takes more than a quarter of them, */
const SMALL = 4;
/** so it begins only when no other render has held one for so long: the next is then likely to find it over. */
const QUIET_MS = 500;

/** What the line needs to know of a job; the rest of a job is the caller's. */
export interface Queued {
  readonly accountId: string;
  readonly trial: boolean;
  /** What its body holds in memory while it waits. */
  readonly bytes: number;
}

export interface Place<J extends Queued> {
  readonly job: J;
  /** Since when it waits, as `nowMs` of `add` or `rejoin`. */
  sinceMs: number;
  /** `taken`: someone tries to serve it; it still counts as waiting until it leaves. */
  state: 'waiting' | 'taken' | 'left';
  /** When it came; a retry keeps it. */
  readonly cameMs: number;
  /** From `take` to `putBack` or `release`. */
  holdsSlot: boolean;
  /** Its place among all that were ever taken; 0 while it never was. What was taken before goes first when it comes back. */
  turn: number;
}

export interface QueueBounds {
  maxLength: number;
  maxBytes: number;
}

export interface Queue<J extends Queued> {
  /** A place at the end of its account's line, or why there is none: the length or the bytes would go over the bound, or over the account's share of it. */
  add(job: J, nowMs: number): Place<J> | BoundRefusal;
  /**
   * The job whose turn it is. It keeps its place until `leave`, and counts as holding a slot until `putBack` or `release`. Undefined also when those that
   * wait are held back: trial renders while half of the slots are in use or, of few slots, any was a moment ago, and accounts that flood, from the last free slot, while others are about.
   */
  take(nowMs: number, room: Room): Place<J> | undefined;
  /**
   * The job that `take` would return, and `held`: the slots that its account holds through this queue, plus the mean
   * of those it held lately. 0 for trial renders.
   */
  next(nowMs: number, room: Room): { place: Place<J>; held: number } | undefined;
  /** Undoes `take`: whatever was taken before it, or is still waiting behind it, keeps its order. */
  putBack(place: Place<J>, nowMs: number): void;
  /** For good, served or not, waiting or taken. Nothing to do when it left before. */
  leave(place: Place<J>): void;
  /** The slot that it got by `take` is free again. Nothing to do when it holds none. */
  release(place: Place<J>, nowMs: number): void;
  /** A job that was served and failed through no fault of its own takes its old place; never refused, since it was let in before. Its wait begins anew. */
  rejoin(place: Place<J>, nowMs: number): void;
  /** All who have not left, in no order that matters; safe to let some leave meanwhile. */
  places(): Iterable<Place<J>>;
  depth(): number;
  /** Of these: not taken. */
  waiting(): number;
  bytes(): number;
  oldestWaitMs(nowMs: number): number;
}

/** The jobs of one account. */
interface AccountLine<J extends Queued> {
  places: Set<Place<J>>;
  /** Since when it is not empty. */
  sinceMs: number;
}

interface Lane<J extends Queued> {
  /** Taken and put back, by turn: they precede all others, whose turn had not come when theirs had. At most as many as there are slots. */
  returned: Place<J>[];
  /** In the order of their turns: a served account goes to the end. Sets and maps keep their order and remove in O(1). */
  lines: Map<string, AccountLine<J>>;
}

export function createQueue<J extends Queued>(bounds: QueueBounds): Queue<J> {
  const paid: Lane<J> = { returned: [], lines: new Map() };
  const trial: Lane<J> = { returned: [], lines: new Map() };
  const present = new Set<Place<J>>();
  const shares = createShares();
  const length = new SharedBound(bounds.maxLength);
  const bytes = new SharedBound(bounds.maxBytes);
  let taken = 0;
  let turns = 0;
  /** Slots that customers hold, and when that changed last. */
  let paidHeld = 0;
  let paidAtMs = Number.NEGATIVE_INFINITY;

  const laneOf = (place: Place<J>) => (place.job.trial ? trial : paid);

  function enter(place: Place<J>): void {
    present.add(place);
    length.hold(place.job.accountId, 1);
    bytes.hold(place.job.accountId, place.job.bytes);
  }

  /** The accounts that must leave the last free slot to others: those that flood, while any other account held a slot lately. What the worker has offered is used. */
  function heldBack(lines: Lane<J>['lines'], nowMs: number, { free, slots, offered = 0 }: Room): ReadonlySet<string> {
    if (free > 1 || offered > 0 || slots < 2) return new Set();
    const lately = shares.lately(nowMs);
    const floods = (accountId: string) => {
      const line = lines.get(accountId);
      return line !== undefined && nowMs - line.sinceMs >= STANDING_MS && (lately.get(accountId) ?? 0) >= mean * FLOOD;
    };
    const mean = lately.values().reduce((sum, share) => sum + share, 0) / lately.size;
    return new Set(lately.keys().filter(floods));
  }

  /** Who holds least; the first in the order of turns among equals. */
  function nextOf({ lines }: Lane<J>, nowMs: number, room: Room): string | undefined {
    const back = heldBack(lines, nowMs, room);
    let next: string | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const accountId of lines.keys()) {
      const weight = shares.weight(accountId, nowMs);
      if (weight >= least || back.has(accountId)) continue;
      next = accountId;
      least = weight;
      if (least === 0) break;
    }
    return next;
  }

  function count(place: Place<J>, by: 1 | -1, nowMs: number): void {
    // What trial callers hold is no measure for customers: one alone would be held back for their sake.
    if (place.job.trial) return;
    paidHeld += by;
    paidAtMs = nowMs;
    if (by === 1) shares.began(place.job.accountId, nowMs);
    else shares.ended(place.job.accountId, nowMs);
  }

  const trialMayBegin = (nowMs: number, { free, slots }: Room) =>
    free * 2 > slots && (slots >= SMALL || (paidHeld === 0 && nowMs - paidAtMs >= QUIET_MS));

  function first(nowMs: number, room: Room): Place<J> | undefined {
    const paidWaits = paid.returned.length + paid.lines.size > 0;
    const lane = paidWaits ? paid : trialMayBegin(nowMs, room) ? trial : undefined;
    if (!lane || lane.returned.length > 0) return lane?.returned[0];
    const accountId = nextOf(lane, nowMs, room);
    return accountId === undefined ? undefined : lane.lines.get(accountId)!.places.values().next().value;
  }

  function removeFirst(place: Place<J>): void {
    const lane = laneOf(place);
    if (place.turn > 0) return void lane.returned.shift();
    const { accountId } = place.job;
    const line = lane.lines.get(accountId)!;
    line.places.delete(place);
    lane.lines.delete(accountId);
    if (line.places.size > 0) lane.lines.set(accountId, line);
    place.turn = ++turns;
  }

  function giveBack(place: Place<J>): void {
    const { returned } = laneOf(place);
    const before = returned.findLastIndex(other => other.turn < place.turn);
    returned.splice(before + 1, 0, place);
    place.state = 'waiting';
  }

  function dropFrom(lane: Lane<J>, place: Place<J>): void {
    if (place.turn > 0) {
      lane.returned.splice(lane.returned.indexOf(place), 1);
      return;
    }
    const line = lane.lines.get(place.job.accountId)!;
    line.places.delete(place);
    if (line.places.size === 0) lane.lines.delete(place.job.accountId);
  }

  function release(place: Place<J>, nowMs: number): void {
    if (!place.holdsSlot) return;
    place.holdsSlot = false;
    count(place, -1, nowMs);
  }

  return {
    add(job, nowMs) {
      const refused = length.refusal(job.accountId, 1) ?? bytes.refusal(job.accountId, job.bytes);
      if (refused) return refused;
      const place: Place<J> = { job, sinceMs: nowMs, cameMs: nowMs, state: 'waiting', holdsSlot: false, turn: 0 };
      enter(place);
      const { lines } = laneOf(place);
      const line = lines.get(job.accountId);
      if (line) line.places.add(place);
      else lines.set(job.accountId, { places: new Set([place]), sinceMs: nowMs });
      return place;
    },
    take(nowMs, room) {
      const place = first(nowMs, room);
      if (!place) return undefined;
      removeFirst(place);
      place.state = 'taken';
      taken++;
      place.holdsSlot = true;
      count(place, 1, nowMs);
      return place;
    },
    next(nowMs, room) {
      const place = first(nowMs, room);
      return place && { place, held: place.job.trial ? 0 : shares.weight(place.job.accountId, nowMs) };
    },
    putBack(place, nowMs) {
      if (place.state !== 'taken') return;
      taken--;
      giveBack(place);
      release(place, nowMs);
    },
    leave(place) {
      if (place.state === 'left') return;
      if (place.state === 'waiting') dropFrom(laneOf(place), place);
      else taken--;
      place.state = 'left';
      present.delete(place);
      length.give(place.job.accountId, 1);
      bytes.give(place.job.accountId, place.job.bytes);
    },
    release,
    rejoin(place, nowMs) {
      if (place.state !== 'left') return;
      enter(place);
      place.sinceMs = nowMs;
      giveBack(place);
    },
    places: () => present,
    depth: () => present.size,
    waiting: () => present.size - taken,
    bytes: () => bytes.used,
    oldestWaitMs(nowMs) {
      let oldest = nowMs;
      for (const place of present) oldest = Math.min(oldest, place.sinceMs);
      return nowMs - oldest;
    },
  };
}
