// The line of renders before the slots: round-robin over accounts, first in first out within one, trial renders only when no paid one waits.
// Bounded in length and bytes. Knows no time of its own, no worker and no promise: who calls it says `nowMs` and acts.

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
  /** Its place among all that were ever taken; 0 while it never was. What was taken before goes first when it comes back. */
  turn: number;
}

export interface QueueBounds {
  maxLength: number;
  maxBytes: number;
}

export interface Queue<J extends Queued> {
  /** A place at the end of its account's line, or undefined when the length or the bytes would go over the bound. */
  add(job: J, nowMs: number): Place<J> | undefined;
  /** The job whose turn it is. It keeps its place until `leave`. */
  take(): Place<J> | undefined;
  /** Undoes `take`: whatever was taken before it, or is still waiting behind it, keeps its order. */
  putBack(place: Place<J>): void;
  /** For good, served or not, waiting or taken. Nothing to do when it left before. */
  leave(place: Place<J>): void;
  /** A job that was served and failed through no fault of its own takes its old place; never refused, since it was let in before. Its wait begins anew. */
  rejoin(place: Place<J>, nowMs: number): void;
  /** All who have not left, in no order that matters; safe to let some leave meanwhile. */
  places(): Iterable<Place<J>>;
  depth(): number;
  bytes(): number;
  oldestWaitMs(nowMs: number): number;
}

interface Lane<J extends Queued> {
  /** Taken and put back, by turn: they precede all others, whose turn had not come when theirs had. At most as many as there are slots. */
  returned: Place<J>[];
  /** One line an account; the first key's turn is next, and a served account goes to the end. Sets and maps keep their order and remove in O(1). */
  lines: Map<string, Set<Place<J>>>;
}

export function createQueue<J extends Queued>(bounds: QueueBounds): Queue<J> {
  const paid: Lane<J> = { returned: [], lines: new Map() };
  const trial: Lane<J> = { returned: [], lines: new Map() };
  const present = new Set<Place<J>>();
  let bytes = 0;
  let turns = 0;

  const laneOf = (place: Place<J>) => (place.job.trial ? trial : paid);

  function enter(place: Place<J>): void {
    present.add(place);
    bytes += place.job.bytes;
  }

  function takeFrom(lane: Lane<J>): Place<J> | undefined {
    const returned = lane.returned.shift();
    if (returned) return returned;
    for (const [accountId, line] of lane.lines) {
      const [first] = line;
      line.delete(first!);
      lane.lines.delete(accountId);
      if (line.size > 0) lane.lines.set(accountId, line);
      first!.turn = ++turns;
      return first;
    }
    return undefined;
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
    line.delete(place);
    if (line.size === 0) lane.lines.delete(place.job.accountId);
  }

  return {
    add(job, nowMs) {
      if (present.size >= bounds.maxLength || bytes + job.bytes > bounds.maxBytes) return undefined;
      const place: Place<J> = { job, sinceMs: nowMs, state: 'waiting', turn: 0 };
      enter(place);
      const { lines } = laneOf(place);
      const line = lines.get(job.accountId);
      if (line) line.add(place);
      else lines.set(job.accountId, new Set([place]));
      return place;
    },
    take() {
      const place = takeFrom(paid) ?? takeFrom(trial);
      if (place) place.state = 'taken';
      return place;
    },
    putBack(place) {
      if (place.state === 'taken') giveBack(place);
    },
    leave(place) {
      if (place.state === 'left') return;
      if (place.state === 'waiting') dropFrom(laneOf(place), place);
      place.state = 'left';
      present.delete(place);
      bytes -= place.job.bytes;
    },
    rejoin(place, nowMs) {
      if (place.state !== 'left') return;
      enter(place);
      place.sinceMs = nowMs;
      giveBack(place);
    },
    places: () => present,
    depth: () => present.size,
    bytes: () => bytes,
    oldestWaitMs(nowMs) {
      let oldest = nowMs;
      for (const place of present) oldest = Math.min(oldest, place.sinceMs);
      return nowMs - oldest;
    },
  };
}
