// Worker registry: each worker's last status report, minus the slots that this process has reserved
// since that report. Owns no socket; the status links report to it.
import { randomUUID } from 'node:crypto';
import type { Waiting, WorkerStatus } from '../../common/protocol.ts';

/**
 * After a rejection the worker is skipped until its next report, or for a random time up to this:
 * several API processes must not retry in step.
 */
const REJECTED_MS = 20;
/**
 * After a failed handshake. A status report does not lift this: reports may arrive while no slot
 * can be opened.
 */
const UNREACHABLE_MS = 1_000;

/** A slot that this process is about to open. Exactly one of the outcomes must be reported. */
export interface SlotReservation {
  opened(): void;
  /** The worker answered that it is full. */
  refused(): void;
  unreachable(): void;
  /** It ended for a reason unrelated to the worker. */
  cancelled(): void;
}

/** The slots of the workers, as far as this process knows. */
export interface Capacity {
  /** Not in use by any API process. */
  free: number;
  slots: number;
  /** Of `free`: offered to this process alone. */
  offered?: number;
}

export interface Totals {
  workers: number;
  /** Of these: with a Chrome that is up. */
  serving: number;
  /** Total capacity of the serving workers. */
  slots: number;
}

interface Entry {
  status: WorkerStatus;
  /** Counts the status reports of this worker, to know if one came since a reservation. */
  reports: number;
  /** Reserved slots that no status report includes yet. */
  reserved: number;
  /** Of `reserved`: open by now, so that the next report includes it. */
  confirmed: number;
  /** The last announcement to it was that renders wait. */
  announced: boolean;
}

export interface WorkerRegistryOptions {
  random?: () => number;
  /** Sends an announcement to a worker. */
  send?: (address: string, waiting: Waiting | undefined) => void;
}

interface Block {
  liftedByStatus: boolean;
  timer: NodeJS.Timeout;
}

const isUsable = ({ status }: Entry) => !status.draining;

export class WorkerRegistry {
  /** A random name of this process, for its tickets. */
  readonly api: string = randomUUID();
  readonly #random: () => number;
  readonly #send: (address: string, waiting: Waiting | undefined) => void;
  readonly #entries = new Map<string, Entry>();
  readonly #blocks = new Map<string, Block>();
  readonly #listeners: (() => void)[] = [];

  constructor({ random = Math.random, send = () => {} }: WorkerRegistryOptions = {}) {
    this.#random = random;
    this.#send = send;
  }

  /** True while at least one worker is connected that does not drain, busy or not. */
  known(): boolean {
    return this.#entries.values().some(isUsable);
  }

  /**
   * The worker with the most free slots, a random one of equals. Workers of `avoid` count only when
   * no other worker is reachable. With `warmFor`, workers that keep a page of this account go first.
   */
  pick(avoid: ReadonlySet<string> = new Set(), warmFor?: string): string | undefined {
    const candidates = this.#candidates(avoid);
    const isFree = ([address, entry]: [string, Entry]) => this.#freeOf(address, entry) > 0;
    // Reservations since the last report have used the warm pages first.
    const isWarm = ([, { status, reserved }]: [string, Entry]) =>
      (status.warm?.filter(account => account === warmFor).length ?? 0) > reserved;
    const warm =
      warmFor === undefined ? [] : candidates.filter(each => isWarm(each) && isFree(each));
    let best: string[] = [];
    let most = 1;
    for (const [address, entry] of warm.length > 0 ? warm : candidates) {
      const free = this.#freeOf(address, entry);
      if (free > most) best = [];
      if (free >= most) best.push(address);
      most = Math.max(most, free);
    }
    return best[Math.floor(this.#random() * best.length)];
  }

  /** Reserves one of the slots that `pick` counted. */
  reserve(address: string): SlotReservation {
    const entry = this.#entries.get(address);
    const reportsBefore = entry?.reports;
    if (entry) entry.reserved++;
    const undo = () => {
      if (entry) entry.reserved--;
    };
    return {
      opened: () => {
        if (!entry) return;
        // A worker reports a slot when it opens it: a report since then has most likely included
        // it, else the next one will.
        if (entry.reports === reportsBefore) entry.confirmed++;
        else undo();
      },
      refused: () => {
        undo();
        this.#block(address, 1 + this.#random() * (REJECTED_MS - 1), true);
      },
      unreachable: () => {
        undo();
        this.#block(address, UNREACHABLE_MS, false);
      },
      cancelled: undo,
    };
  }

  /** Free slots as `pick` counts them, and all slots. */
  capacity(): Capacity {
    let [free, slots, offered] = [0, 0, 0];
    for (const [address, entry] of this.#entries) {
      if (!isUsable(entry)) continue;
      const freeHere = Math.max(0, this.#freeOf(address, entry));
      free += freeHere;
      // Reservations since then have used the offered slots first.
      offered += Math.min(freeHere, Math.max(0, (entry.status.offered ?? 0) - entry.reserved));
      slots += entry.status.capacity;
    }
    return { free, slots, offered };
  }

  /**
   * Sends what waits to the workers, without those of `avoid` as in `pick`; undefined: nothing
   * waits. A worker with an unconfirmed reservation is left out, since the two could overtake each other.
   * True while one has to be notified when nothing waits.
   */
  announce(waiting: Waiting | undefined, avoid: ReadonlySet<string> = new Set()): boolean {
    // A worker that does not report `offered` would reserve its last slot for an account that does
    // not use it.
    const knows = ({ status }: Entry) => !waiting?.heldBack || status.offered !== undefined;
    const recipients = new Set(
      waiting &&
        this.#candidates(avoid)
          .filter(([, entry]) => knows(entry))
          .map(([address]) => address),
    );
    for (const [address, entry] of this.#entries) {
      const isOpening = entry.reserved > entry.confirmed;
      if (isOpening || !(recipients.has(address) || entry.announced)) continue;
      entry.announced = recipients.has(address);
      this.#send(address, entry.announced ? waiting : undefined);
    }
    return this.#entries.values().some(({ announced }) => announced);
  }

  totals(): Totals {
    const totals = { workers: 0, serving: 0, slots: 0 };
    for (const { status } of this.#entries.values()) {
      if (status.draining) continue;
      totals.workers++;
      if (status.chrome !== 'up') continue;
      totals.serving++;
      totals.slots += status.capacity;
    }
    return totals;
  }

  /** Each worker by its address, with its last status report. */
  list(): { address: string; status: WorkerStatus }[] {
    return [...this.#entries].map(([address, { status }]) => ({ address, status }));
  }

  /** `listener` is called when a slot may have become free, or the known workers changed. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** `undefined`: the worker is gone, or may not be used. */
  report(address: string, status: WorkerStatus | undefined): void {
    const entry = this.#entries.get(address);
    if (!status) {
      if (!this.#entries.delete(address)) return;
    } else if (!entry)
      this.#entries.set(address, {
        status,
        reports: 1,
        reserved: 0,
        confirmed: 0,
        announced: false,
      });
    else {
      entry.status = status;
      entry.reports++;
      entry.reserved -= entry.confirmed;
      entry.confirmed = 0;
    }
    if (this.#blocks.get(address)?.liftedByStatus) this.#lift(address);
    this.#changed();
  }

  close(): void {
    for (const address of [...this.#blocks.keys()]) this.#lift(address);
    this.#listeners.length = 0;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #freeOf(address: string, { status, reserved }: Entry): number {
    if (this.#blocks.has(address)) return 0;
    return Math.min(status.ready, status.capacity - status.busy) - reserved;
  }

  #lift(address: string): void {
    clearTimeout(this.#blocks.get(address)?.timer);
    this.#blocks.delete(address);
  }

  #block(address: string, ms: number, liftedByStatus: boolean): void {
    this.#lift(address);
    const timer = setTimeout(() => {
      this.#blocks.delete(address);
      this.#changed();
    }, ms);
    this.#blocks.set(address, { liftedByStatus, timer });
  }

  /** Includes workers of `avoid` only when no other is reachable. */
  #candidates(avoid: ReadonlySet<string>): [string, Entry][] {
    const usable = [...this.#entries].filter(([, entry]) => isUsable(entry));
    const others = usable.filter(
      ([address]) => !avoid.has(address) && this.#blocks.get(address)?.liftedByStatus !== false,
    );
    return others.length > 0 ? others : usable;
  }
}
