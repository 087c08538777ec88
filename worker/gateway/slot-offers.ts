// Which API process gets a slot that is free: what waits in each, and the slots that are offered to
// one of them. Pure: the caller gives the number of free slots and the time, of a monotonic clock.
import { z } from 'zod';
import { WAITING, type Waiting } from '../../common/protocol.ts';

/**
 * A slot whose offer is not taken within this time is ready for all: its API may be frozen. It is not
 * offered again, since on a busy machine every API can be later than this. An API that died loses its
 * offers with its link; one that is frozen is offered nothing until it announces again.
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
/** Stands for all API processes that give no name: those of the release before. */
const UNNAMED = '';

const count = z.number().min(0);
const shape = z.object({
  method: z.literal(WAITING),
  params: z
    .object({ waitedMs: count, count, trial: z.boolean(), account: z.string(), held: count, heldBack: z.boolean().optional() })
    .optional(),
});

/** An announcement of an API, without `params` when nothing waits in it; undefined when the message is another. */
export function readWaiting(message: Buffer): { params?: Waiting | undefined } | undefined {
  if (message.length > MAX_BYTES) return undefined;
  try {
    return shape.safeParse(JSON.parse(message.toString())).data;
  } catch {
    return undefined;
  }
}

interface Claimant extends Waiting {
  /** When its render came, by this process's clock. */
  sinceMs: number;
  announcedMs: number;
  /** Slots offered to it since it announced `count`, and those that it had not taken then. */
  offered: number;
}

interface Rated extends Claimant {
  api: string;
  /** Renders without an offer. */
  waiting: number;
  load: number;
}

export interface Claimants {
  /** `undefined`: nothing waits in that API, or its link closed. */
  announce(api: string, waiting: Waiting | undefined, nowMs: number): void;
  /** Offers the free slots to the APIs whose turn it is. Returns when the first of the offers ends. */
  offer(free: number, nowMs: number): number | undefined;
  /** How many of the free slots a claim of that API would get now. */
  readyFor(api: string | undefined, free: number): number;
  /** Slots that are offered to that API. */
  offeredTo(api: string | undefined): number;
  /** Whether a claim of that API gets one of the free slots. It is taken for claimed then. */
  admit(api: string | undefined, free: number, nowMs: number): boolean;
}

/** `unnamedApis`: connected API processes that announce nothing. */
export function createClaimants(unnamedApis: () => number, random = Math.random): Claimants {
  const claimants = new Map<string, Claimant>();
  let offers: { api: string; untilMs: number }[] = [];
  /** Free slots whose offers ended. */
  let open = 0;
  /** A claim without a name was refused and no slot has been offered for it yet. */
  let unnamedWaits = false;
  /** Claims of named APIs that were admitted since one without a name was. */
  let passed = 0;

  const offeredTo = (api: string | undefined) => offers.filter(offer => offer.api === api).length;

  function forget(api: string): void {
    claimants.delete(api);
    offers = offers.filter(offer => offer.api !== api);
  }

  function expire(nowMs: number): void {
    for (const { api, untilMs } of offers) {
      if (untilMs > nowMs) continue;
      open += offeredTo(api);
      forget(api);
    }
    for (const [api, { announcedMs }] of claimants) if (nowMs - announcedMs > REMEMBERED_MS) forget(api);
  }

  /** In whole slots, through all APIs: accounts that hold about as much are served in the order of time. */
  function loadOf({ account }: Claimant): number {
    let load = 0;
    for (const other of claimants.values()) if (other.account === account) load += other.held + other.offered;
    return Math.floor(load);
  }

  /** Of claimants that count as equal, each as likely as the renders that it has waiting. */
  function draw(equals: readonly Rated[]): Rated | undefined {
    let left = random() * equals.reduce((sum, { waiting }) => sum + waiting, 0);
    for (const each of equals) {
      left -= each.waiting;
      if (left < 0) return each;
    }
    return undefined;
  }

  /** Whose turn it is: paid before trial, then the account that holds least, then the longest wait. The last free slot is not for accounts that are held back, unless others want it too. */
  function next(isLast: boolean): string | undefined {
    const rated = [...claimants].map(([api, claimant]) => ({
      api,
      ...claimant,
      waiting: claimant.count - claimant.offered,
      load: loadOf(claimant),
    }));
    const unserved = rated.filter(({ waiting }) => waiting > 0);
    const [first, ...others] = unserved.sort((a, b) => Number(a.trial) - Number(b.trial) || a.load - b.load || a.sinceMs - b.sinceMs);
    if (!first) return undefined;
    if (isLast && unserved.every(({ heldBack }) => heldBack)) return undefined;
    if (unnamedWaits && passed * unnamedApis() >= claimants.size) return UNNAMED;
    const isEqual = ({ trial, load, sinceMs }: Rated) => trial === first.trial && load === first.load && sinceMs - first.sinceMs < EQUAL_MS;
    return draw([first, ...others.filter(isEqual)])?.api;
  }

  function offer(free: number, nowMs: number): number | undefined {
    expire(nowMs);
    offers.splice(free);
    open = Math.min(open, free - offers.length);
    while (offers.length + open < free) {
      const api = next(offers.length + open === free - 1);
      if (api === undefined) break;
      offers.push({ api, untilMs: nowMs + OFFER_MS });
      const claimant = claimants.get(api);
      if (claimant) claimant.offered++;
      else unnamedWaits = false;
    }
    return offers[0]?.untilMs;
  }

  /** Offers may be more than the slots that are free, until they are cut. */
  const readyFor = (api: string, free: number) => Math.max(0, free - offers.length + offeredTo(api));

  return {
    announce(api, waiting, nowMs) {
      if (!waiting) return forget(api);
      const sinceMs = nowMs - waiting.waitedMs;
      claimants.set(api, { ...waiting, sinceMs, announcedMs: nowMs, offered: offeredTo(api) });
    },
    offer,
    offeredTo,
    // An API without a name knows no offers: it claims what is free, and its refusal is remembered.
    readyFor: (api, free) => (api === undefined ? free : readyFor(api, free)),
    admit(api = UNNAMED, free, nowMs) {
      offer(free, nowMs);
      if (readyFor(api, free) <= 0) {
        if (api === UNNAMED) unnamedWaits = true;
        return false;
      }
      const taken = offers.findIndex(each => each.api === api);
      if (taken >= 0) offers.splice(taken, 1);
      else open = Math.max(0, open - 1);
      if (api === UNNAMED) unnamedWaits = false;
      passed = api === UNNAMED ? 0 : passed + 1;
      return true;
    },
  };
}
