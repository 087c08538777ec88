// Which API process gets a free slot: what waits in each, and the slots that are offered to one of
// them. Pure: the caller passes the number of free slots and the time of a monotonic clock.
import { z } from 'zod';
import { WAITING, type Waiting } from '../../common/protocol.ts';

/**
 * A slot whose offer is not taken within this time is ready for all: its API may be frozen. It is
 * not offered again, since on a busy machine every API can be later than this. An API that died
 * loses its offers with its link; a frozen one is offered nothing until it announces again.
 */
const OFFER_MS = 1_000;
/** An API repeats its announcement more often than this, or it is frozen. */
const REMEMBERED_MS = 1_000;
/**
 * Waits that differ by less count as equal. Many workers whose slots become free at the same moment
 * decide alone: they would all choose the same API.
 */
const EQUAL_MS = 500;
const MAX_BYTES = 1_024;
/** All API processes without a name: those of the previous release. */
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
 * An announcement of an API, without `params` when nothing waits in it; undefined when the message
 * is another.
 */
export function readWaiting(message: Buffer): { params?: Waiting | undefined } | undefined {
  if (message.length > MAX_BYTES) return undefined;
  try {
    return shape.safeParse(JSON.parse(message.toString())).data;
  } catch {
    return undefined;
  }
}

/** An API process in which renders wait. */
interface WaitingApi extends Waiting {
  /** When its render came, by this process's clock. */
  sinceMs: number;
  announcedMs: number;
  /** Slots offered to it since it announced `count`, and those that it had not taken then. */
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
  /** Free slots whose offers ended. */
  #open = 0;
  /** A claim without a name was refused and no slot has been offered for it yet. */
  #unnamedWaits = false;
  /** Claims of named APIs that were admitted since the last one without a name. */
  #passed = 0;

  /** `unnamedApis`: connected API processes that announce nothing. */
  constructor(unnamedApis: () => number, random = Math.random) {
    this.#unnamedApis = unnamedApis;
    this.#random = random;
  }

  /** `undefined`: nothing waits in that API, or its link closed. */
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

  /**
   * Offers the free slots to the APIs whose turn it is. Returns when the first of the offers ends.
   */
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

  /** Slots that are offered to that API. */
  offeredTo(api: string | undefined): number {
    return this.#offers.filter(offer => offer.api === api).length;
  }

  /**
   * How many of the free slots a claim of that API would get now. An API without a name knows no
   * offers: it claims what is free.
   */
  readyFor(api: string | undefined, free: number): number {
    return api === undefined ? free : this.#unofferedOr(api, free);
  }

  /** Whether a claim of that API gets one of the free slots. It counts as claimed then. */
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
   * Slots offered to that API or to none. Offers may be more than the slots that are free, until
   * they are cut.
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
      if (nowMs - announcedMs > REMEMBERED_MS) this.#forget(api);
  }

  /**
   * The API whose turn it is: paid before trial, then the account that holds least, then the
   * longest wait. The last free slot is not for throttled accounts, unless others want it too.
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
   * In whole slots, over all APIs: accounts that hold about the same are served in the order of
   * time.
   */
  #loadOf({ account }: WaitingApi): number {
    let load = 0;
    for (const other of this.#waiting.values())
      if (other.account === account) load += other.held + other.offered;
    return Math.floor(load);
  }

  /** One of several that count as equal, weighted by the renders that it has waiting. */
  #draw(equals: readonly Rated[]): Rated | undefined {
    let left = this.#random() * equals.reduce((sum, { waiting }) => sum + waiting, 0);
    for (const each of equals) {
      left -= each.waiting;
      if (left < 0) return each;
    }
    return undefined;
  }
}
