// Who is there and what each has free: the workers' last words, less what this process has claimed since. Owns no socket; links report to it.
import { randomUUID } from 'node:crypto';
import type { Waiting, WorkerStatus } from '../../common/protocol.ts';

/** After a refusal the worker is left alone until it speaks, or for a random time up to this: several API processes must not come back in step. */
const REFUSED_MS = 20;
/** After a failed handshake. Its status does not lift this: it may well go on talking while no slot can be opened. */
const UNREACHABLE_MS = 1_000;

/** An attempt to open a slot; exactly one of its ends must be told. */
export interface Claim {
  opened(): void;
  /** The worker answered that it is full. */
  refused(): void;
  unreachable(): void;
  /** It ended for a reason that says nothing of the worker. */
  cancelled(): void;
}

/** The slots of the workers, as far as one knows. */
export interface Room {
  /** Not held by anyone. */
  free: number;
  slots: number;
  /** Of `free`: offered to this process alone. */
  offered?: number;
}

export interface Totals {
  workers: number;
  /** Of these: with a Chrome that is up. */
  serving: number;
  /** Slots that a claim would get at once, by the workers' own word. */
  ready: number;
  busy: number;
  /** Capacity in all of those that serve. */
  slots: number;
}

export interface Roster {
  /** A random name of this process, for its tickets. */
  readonly api: string;
  /** True while at least one worker is connected that does not drain, busy or not. */
  known(): boolean;
  /** The worker with most free slots, one of them by chance when several have as many. Those of `avoid` count only when no other worker can be reached. */
  pick(avoid?: ReadonlySet<string>): string | undefined;
  /** Books one of the slots that `pick` saw. */
  claim(address: string): Claim;
  /** What all workers have free that `pick` would see, and their slots, free or not. */
  room(): Room;
  /**
   * Sends what waits to the workers, without those of `avoid` as in `pick`; undefined: nothing waits. A worker with a claim
   * under way is left out, since the two could overtake each other. True while one has to be notified when nothing waits.
   */
  announce(waiting: Waiting | undefined, avoid?: ReadonlySet<string>): boolean;
  totals(): Totals;
  /** Each worker by its address, as it described itself last. */
  list(): { address: string; status: WorkerStatus }[];
  /** `listener` is called when something may have become free or known, or is known no more. */
  onChange(listener: () => void): void;
  /** `undefined`: it is gone, or may not be used. */
  report(address: string, status: WorkerStatus | undefined): void;
  close(): void;
}

interface Entry {
  status: WorkerStatus;
  /** Counts the words of this worker, to know if one came since a claim began. */
  words: number;
  /** Slots claimed that no status has told of yet. */
  booked: number;
  /** Of `booked`: open by now, so that the next status surely tells. */
  told: number;
  /** The last announcement said that renders wait. */
  announced: boolean;
}

export interface RosterOptions {
  random?: () => number;
  /** Sends an announcement to a worker. */
  send?: (address: string, waiting: Waiting | undefined) => void;
}

interface Block {
  liftedByStatus: boolean;
  timer: NodeJS.Timeout;
}

export function createRoster({ random = Math.random, send = () => {} }: RosterOptions = {}): Roster {
  const entries = new Map<string, Entry>();
  const blocks = new Map<string, Block>();
  const listeners: (() => void)[] = [];

  const changed = () => {
    for (const listener of listeners) listener();
  };

  const usable = ({ status }: Entry) => !status.draining;

  function freeOf(address: string, { status, booked }: Entry): number {
    if (blocks.has(address)) return 0;
    return Math.min(status.ready, status.capacity - status.busy) - booked;
  }

  function lift(address: string): void {
    clearTimeout(blocks.get(address)?.timer);
    blocks.delete(address);
  }

  function block(address: string, ms: number, liftedByStatus: boolean): void {
    lift(address);
    const timer = setTimeout(() => {
      blocks.delete(address);
      changed();
    }, ms);
    blocks.set(address, { liftedByStatus, timer });
  }

  /** Those of `avoid` only when no other can be reached. */
  function candidates(avoid: ReadonlySet<string>): [string, Entry][] {
    const there = [...entries].filter(([, entry]) => usable(entry));
    const others = there.filter(([address]) => !avoid.has(address) && blocks.get(address)?.liftedByStatus !== false);
    return others.length > 0 ? others : there;
  }

  return {
    api: randomUUID(),
    known: () => entries.values().some(usable),
    pick(avoid = new Set()) {
      let best: string[] = [];
      let most = 1;
      for (const [address, entry] of candidates(avoid)) {
        const free = freeOf(address, entry);
        if (free > most) best = [];
        if (free >= most) best.push(address);
        most = Math.max(most, free);
      }
      return best[Math.floor(random() * best.length)];
    },
    claim(address) {
      const entry = entries.get(address);
      const wordsBefore = entry?.words;
      if (entry) entry.booked++;
      return {
        opened() {
          if (!entry) return;
          // A worker tells of a claim when it grants it: a word since then has most likely told already, else the next one will.
          if (entry.words === wordsBefore) entry.told++;
          else entry.booked--;
        },
        refused() {
          if (entry) entry.booked--;
          block(address, 1 + random() * (REFUSED_MS - 1), true);
        },
        unreachable() {
          if (entry) entry.booked--;
          block(address, UNREACHABLE_MS, false);
        },
        cancelled() {
          if (entry) entry.booked--;
        },
      };
    },
    room() {
      let [free, slots, offered] = [0, 0, 0];
      for (const [address, entry] of entries) {
        if (!usable(entry)) continue;
        const freeHere = Math.max(0, freeOf(address, entry));
        free += freeHere;
        // What is claimed since then was taken of what was offered, first.
        offered += Math.min(freeHere, Math.max(0, (entry.status.offered ?? 0) - entry.booked));
        slots += entry.status.capacity;
      }
      return { free, slots, offered };
    },
    announce(waiting, avoid = new Set()) {
      // A worker that knows no `offered` would keep its last slot for an account that does not take it.
      const knows = ({ status }: Entry) => !waiting?.heldBack || status.offered !== undefined;
      const wanted = new Set(
        waiting &&
          candidates(avoid)
            .filter(([, entry]) => knows(entry))
            .map(([address]) => address),
      );
      for (const [address, entry] of entries) {
        const isClaiming = entry.booked > entry.told;
        if (isClaiming || !(wanted.has(address) || entry.announced)) continue;
        entry.announced = wanted.has(address);
        send(address, entry.announced ? waiting : undefined);
      }
      return entries.values().some(({ announced }) => announced);
    },
    totals() {
      const totals = { workers: 0, serving: 0, ready: 0, busy: 0, slots: 0 };
      for (const { status } of entries.values()) {
        totals.busy += status.busy;
        if (status.draining) continue;
        totals.workers++;
        totals.ready += status.ready;
        if (status.chrome !== 'up') continue;
        totals.serving++;
        totals.slots += status.capacity;
      }
      return totals;
    },
    list: () => [...entries].map(([address, { status }]) => ({ address, status })),
    onChange(listener) {
      listeners.push(listener);
    },
    report(address, status) {
      const entry = entries.get(address);
      if (!status) {
        if (!entries.delete(address)) return;
      } else if (!entry) entries.set(address, { status, words: 1, booked: 0, told: 0, announced: false });
      else {
        entry.status = status;
        entry.words++;
        entry.booked -= entry.told;
        entry.told = 0;
      }
      if (blocks.get(address)?.liftedByStatus) lift(address);
      changed();
    },
    close() {
      for (const address of [...blocks.keys()]) lift(address);
      listeners.length = 0;
    },
  };
}
