// What the load asks for, in slots: what the renders that come keep busy, the room for their ups
// and downs, and what a queue needs to be gone in time. A queue tells more than its length. Its
// oldest render came `oldestWaitMs` ago and the others since then: so many come in that time. Who
// divides "busy and queued" by a target instead takes a queue that grew for 15 s, while pods were
// starting, for many times the load that it is.

/** What was seen of a queue, and what it has told so far of the renders. Plain data. */
export interface Queue {
  /**
   * The look that the next ones are compared with, to learn how long a render takes: a while ago.
   */
  atMs: number;
  queuedRenders: number;
  comingPerMs: number;
  /** Time that slots were busy since. */
  busyMs: number;
  /** The look a scrape ago, to know whether renders wait longer now. */
  comparedMs: number;
  comparedWaitMs: number;
  growing: boolean;
  /** For so many scrapes in a row it has, with every pod ready that was asked for. */
  grownScrapes: number;
  /** How long a render has its slot, on average. */
  renderMs: number;
}

const FIRST_RENDER_MS = 1_000;
const [LEAST_RENDER_MS, MOST_RENDER_MS] = [50, 120_000];
/** Of fewer the average is waited for, unless they are slow. */
const ENOUGH_SERVED = 10;
const ENOUGH_MS = 60_000;
/** When many more or fewer come than before, how many came in between is not known. */
const STEADY = 1.3;

export const noQueue = (nowMs: number): Queue => ({
  atMs: nowMs,
  queuedRenders: 0,
  comingPerMs: 0,
  busyMs: 0,
  comparedMs: nowMs,
  comparedWaitMs: 0,
  growing: false,
  grownScrapes: 0,
  renderMs: FIRST_RENDER_MS,
});

interface Seen {
  busySlots: number;
  runningMs: number;
  queuedRenders: number;
  oldestWaitMs: number;
}

const comingPerMs = ({ queuedRenders, oldestWaitMs }: Seen) =>
  queuedRenders / Math.max(oldestWaitMs, 1);

/**
 * The queue after one more look. What came between two looks and is not in it any more was served,
 * by a known number of slots: so long a render takes. Looks are compared that lie at least a scrape
 * apart, since each process is scraped at a moment of its own. What is kept is the earlier of them.
 */
export function nextQueue(
  queue: Queue,
  seen: Seen,
  nowMs: number,
  scrapeIntervalMs: number,
  podsStart: boolean,
): Queue {
  const { queuedRenders, oldestWaitMs } = seen;
  const compared = { comparedMs: nowMs, comparedWaitMs: oldestWaitMs };
  const coming = comingPerMs(seen);
  const fresh = { ...compared, atMs: nowMs, queuedRenders, comingPerMs: coming, busyMs: 0 };
  if (queuedRenders === 0 || queue.queuedRenders === 0)
    return { ...fresh, growing: queuedRenders > 0, grownScrapes: 0, renderMs: queue.renderMs };
  const passedMs = nowMs - queue.comparedMs;
  if (passedMs < scrapeIntervalMs) return queue;
  const growing = oldestWaitMs >= queue.comparedWaitMs;
  const grownScrapes = growing && !podsStart ? queue.grownScrapes + 1 : 0;
  const busyMs = queue.busyMs + seen.busySlots * passedMs;
  const sinceMs = nowMs - queue.atMs;
  const served = coming * sinceMs - (queuedRenders - queue.queuedRenders);
  const steady = coming <= STEADY * queue.comingPerMs && queue.comingPerMs <= STEADY * coming;
  if (!steady) return { ...fresh, growing, grownScrapes, renderMs: queue.renderMs };
  if (served < ENOUGH_SERVED && sinceMs < ENOUGH_MS)
    return { ...queue, ...compared, growing, grownScrapes, busyMs };
  if (served < 1 || busyMs === 0)
    return { ...fresh, growing, grownScrapes, renderMs: queue.renderMs };
  // One look is believed only so far.
  const likely = Math.min(3 * queue.renderMs, Math.max(queue.renderMs / 3, busyMs / served));
  const renderMs = Math.min(
    MOST_RENDER_MS,
    Math.max(LEAST_RENDER_MS, 0.7 * queue.renderMs + 0.3 * likely),
  );
  return { ...fresh, growing, grownScrapes, renderMs };
}

/** How long the renders on slots had run, on average. */
export const meanRunningMs = ({
  busySlots,
  runningMs,
}: Pick<Seen, 'busySlots' | 'runningMs'>): number => runningMs / Math.max(1, busySlots);

/**
 * How long a render that waits will take: the longer of those that finished and those that run.
 * Samples find a render at half of its time on average. While the first long ones run, those that
 * finished are all short.
 */
const expectedMs = (queue: Queue, seen: Seen) =>
  Math.min(MOST_RENDER_MS, Math.max(queue.renderMs, 2 * meanRunningMs(seen)));

/** Slots that the renders which come now would keep busy if none had to wait. */
export function offeredSlots(queue: Queue, seen: Seen): number {
  if (seen.queuedRenders === 0) return seen.busySlots;
  const offered = Math.min(
    seen.busySlots + seen.queuedRenders,
    comingPerMs(seen) * expectedMs(queue, seen),
  );
  // Slots that work off a queue are not all needed afterwards. While it grows they are, and more.
  return queue.growing ? Math.max(seen.busySlots, offered) : offered;
}

/**
 * From so many busy slots on, the ups and downs of renders that come independently (two standard
 * deviations: twice the root of the load) fit into the room that a target of 70 % leaves. A smaller
 * load needs more room than its share, or its renders wait.
 */
const EVEN_LOAD = 22;

/** Slots for a load: as many as keep it at the target utilization, and more when it is small. */
export function withRoom(offered: number, targetUtilization: number): number {
  return offered + (1 / targetUtilization - 1) * Math.sqrt(offered * Math.max(offered, EVEN_LOAD));
}

/**
 * After so many scrapes without a shorter wait, the length of a render is not known well enough.
 */
const GROWN_SCRAPES = 2;

/** Slots that all renders could use at once; 0 while the estimate of their length may be right. */
export const slotsForAll = ({ grownScrapes }: Queue, { busySlots, queuedRenders }: Seen): number =>
  grownScrapes >= GROWN_SCRAPES ? busySlots + queuedRenders : 0;

/**
 * Slots, on top of those for the offered load, that work off within `drainMs` what will wait when
 * pods that are asked for now or were before are ready, in `readyInMs`.
 */
export function backlogSlots(
  queue: Queue,
  seen: Seen,
  offered: number,
  readySlots: number,
  readyInMs: number,
  drainMs: number,
): number {
  if (seen.queuedRenders === 0) return 0;
  const renderMs = expectedMs(queue, seen);
  const waiting = Math.max(0, seen.queuedRenders + ((offered - readySlots) * readyInMs) / renderMs);
  // A render uses one slot, however long it is.
  return Math.min(waiting, (waiting * renderMs) / drainMs);
}
