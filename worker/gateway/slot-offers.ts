// Assigns free slots to API processes: owns the announced queue of each and the slots offered to
// it. Pure: the caller passes the number of free slots and the time of a monotonic clock.
import { z } from 'zod';
import { WAITING, type Waiting } from '../../common/protocol.ts';

/**
 * An offer expires after this time, since its API may be frozen; the slot is then free for every
 * API. It is not offered again, since on a busy machine every API can be later than this. A closed
 * connection ends the offers to its API; a frozen API gets none until it announces again.
 */
const OFFER_MS = 1_000;
/** An announcement expires after this time: a live API repeats it more often. */
const ANNOUNCEMENT_MS = 1_000;
/**
 * Wait times that differ by less count as equal. Workers decide independently: without this,
 * workers whose slots become free at the same time would all choose the same API.
 */
const EQUAL_MS = 500;
const MAX_BYTES = 1_024;
/** Stands for all API processes of the previous release, which send no name. */
const UNNAMED = '';

const count = z.number().min(0);
const shape = z.object({
  method: z.literal(WAITING),
  params: z
    .object({
      waitedMs: count,
      count,
      trial: z.boolean(),
      account: z.string(),
      held: count,
      heldBack: z.boolean().optional(),
    })
    .optional(),
});

/**
 * Parses an announcement of an API, without `params` when its queue is empty. Undefined for any
 * other message.
 */
export function readWaiting(message: Buffer): { params?: Waiting | undefined } | undefined {
  if (message.length > MAX_BYTES) return undefined;
  try {
    return shape.safeParse(JSON.parse(message.toString())).data;
  } catch {
    return undefined;
  }
}

/** An API process with queued renders. */
interface WaitingApi extends Waiting {
  /** Arrival time of its oldest render, by this process's clock. */
  sinceMs: number;
  announcedMs: number;
  /** Slots offered since it announced `count`, plus earlier offers not taken by then. */
  offered: number;
}

interface Rated extends WaitingApi {
  api: string;
  /** Renders without an offer. */
  waiting: number;
  load: number;
}

export class SlotOffers {
  readonly #waiting = new Map<string, WaitingApi>();
  readonly #unnamedApis: () => number;
  readonly #random: () => number;
  #offers: { api: string; untilMs: number }[] = [];
  /** Free slots whose offers have expired. */
  #open = 0;
  /** A claim without a name was rejected and no slot has been offered for it yet. */
  #unnamedWaits = false;
  /** Claims of named APIs admitted since the last one without a name. */
  #passed = 0;

  /** `unnamedApis` returns the number of connected API processes without a name. */
  constructor(unnamedApis: () => number, random = Math.random) {
    this.#unnamedApis = unnamedApis;
    this.#random = random;
  }

  /** `undefined`: the API's queue is empty, or its connection closed. */
  announce(api: string, waiting: Waiting | undefined, nowMs: number): void {
    if (!waiting) return this.#forget(api);
    const sinceMs = nowMs - waiting.waitedMs;
    this.#waiting.set(api, {
      ...waiting,
      sinceMs,
      announcedMs: nowMs,
      offered: this.offeredTo(api),
    });
  }

  /** Offers the free slots to the next APIs. Returns the time at which the first offer expires. */
  offer(free: number, nowMs: number): number | undefined {
    this.#expire(nowMs);
    this.#offers.splice(free);
    this.#open = Math.min(this.#open, free - this.#offers.length);
    while (this.#offers.length + this.#open < free) {
      const api = this.#next(this.#offers.length + this.#open === free - 1);
      if (api === undefined) break;
      this.#offers.push({ api, untilMs: nowMs + OFFER_MS });
      const waiting = this.#waiting.get(api);
      if (waiting) waiting.offered++;
      else this.#unnamedWaits = false;
    }
    return this.#offers[0]?.untilMs;
  }

  /** The number of slots offered to that API. */
  offeredTo(api: string | undefined): number {
    return this.#offers.filter(offer => offer.api === api).length;
  }

  /**
   * How many of the free slots that API may claim now. An API without a name does not support
   * offers and may claim all of them.
   */
  readyFor(api: string | undefined, free: number): number {
    return api === undefined ? free : this.#unofferedOr(api, free);
  }

  /** Whether that API may claim one of the free slots now. If so, the slot counts as claimed. */
  admit(api = UNNAMED, free: number, nowMs: number): boolean {
    this.offer(free, nowMs);
    if (this.#unofferedOr(api, free) <= 0) {
      if (api === UNNAMED) this.#unnamedWaits = true;
      return false;
    }
    const taken = this.#offers.findIndex(each => each.api === api);
    if (taken >= 0) this.#offers.splice(taken, 1);
    else this.#open = Math.max(0, this.#open - 1);
    if (api === UNNAMED) this.#unnamedWaits = false;
    this.#passed = api === UNNAMED ? 0 : this.#passed + 1;
    return true;
  }

  /**
   * Free slots that are offered to that API or to none. There may briefly be more offers than free
   * slots.
   */
  #unofferedOr(api: string, free: number): number {
    return Math.max(0, free - this.#offers.length + this.offeredTo(api));
  }

  #forget(api: string): void {
    this.#waiting.delete(api);
    this.#offers = this.#offers.filter(offer => offer.api !== api);
  }

  #expire(nowMs: number): void {
    for (const { api, untilMs } of this.#offers) {
      if (untilMs > nowMs) continue;
      this.#open += this.offeredTo(api);
      this.#forget(api);
    }
    for (const [api, { announcedMs }] of this.#waiting)
      if (nowMs - announcedMs > ANNOUNCEMENT_MS) this.#forget(api);
  }

  /**
   * The next API: paid before trial, then the account that holds the fewest slots, then the longest
   * wait. Throttled accounts get the last free slot only if other accounts wait as well.
   */
  #next(isLast: boolean): string | undefined {
    const rated = [...this.#waiting].map(([api, waiting]) => ({
      api,
      ...waiting,
      waiting: waiting.count - waiting.offered,
      load: this.#loadOf(waiting),
    }));
    const unserved = rated.filter(({ waiting }) => waiting > 0);
    const [first, ...others] = unserved.sort(
      (a, b) => Number(a.trial) - Number(b.trial) || a.load - b.load || a.sinceMs - b.sinceMs,
    );
    if (!first) return undefined;
    if (isLast && unserved.every(({ heldBack }) => heldBack)) return undefined;
    if (this.#unnamedWaits && this.#passed * this.#unnamedApis() >= this.#waiting.size)
      return UNNAMED;
    const isEqual = ({ trial, load, sinceMs }: Rated) =>
      trial === first.trial && load === first.load && sinceMs - first.sinceMs < EQUAL_MS;
    return this.#draw([first, ...others.filter(isEqual)])?.api;
  }

  /**
   * Slots of the account over all APIs, rounded down, so that accounts with about the same load are
   * served in order of arrival.
   */
  #loadOf({ account }: WaitingApi): number {
    let load = 0;
    for (const other of this.#waiting.values())
      if (other.account === account) load += other.held + other.offered;
    return Math.floor(load);
  }

  /** A random one of several equal APIs, weighted by their queued renders. */
  #draw(equals: readonly Rated[]): Rated | undefined {
    let left = this.#random() * equals.reduce((sum, { waiting }) => sum + waiting, 0);
    for (const each of equals) {
      left -= each.waiting;
      if (left < 0) return each;
    }
    return undefined;
  }
}
