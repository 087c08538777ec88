// The demand of a load in slots: the slots that arriving renders keep busy, headroom for variation,
// and slots to clear a queue in time. All queued renders arrived within the last `oldestWaitMs`,
// which gives the arrival rate. Dividing busy plus queued by a target instead would overestimate
// the load of a queue that grew while pods were starting.

/** The observed queue, and the estimates derived from it. Plain data. */
export interface Queue {
  /** The earlier sample that new samples are compared with, to estimate the render duration. */
  atMs: number;
  queuedRenders: number;
  comingPerMs: number;
  /** Busy slot time since then. */
  busyMs: number;
  /** The sample of the previous scrape, to detect whether the queue time grows. */
  comparedMs: number;
  comparedWaitMs: number;
  growing: boolean;
  /** Consecutive scrapes in which it has grown while all requested pods were ready. */
  grownScrapes: number;
  /** Estimated mean render duration. */
  renderMs: number;
}

const FIRST_RENDER_MS = 1_000;
const [LEAST_RENDER_MS, MOST_RENDER_MS] = [50, 120_000];
/** Renders needed for an estimate, unless `ENOUGH_MS` have passed. */
const ENOUGH_SERVED = 10;
const ENOUGH_MS = 60_000;
/** The arrival rate may change by this factor between two samples for an estimate to be valid. */
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
 * The queue after one more sample. Renders that arrived between two samples and are no longer
 * queued were served by a known number of slots, which gives the render duration. The samples are
 * at least one scrape apart, because processes are scraped at different times.
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
  // Limits the weight of a single sample.
  const likely = Math.min(3 * queue.renderMs, Math.max(queue.renderMs / 3, busyMs / served));
  const renderMs = Math.min(
    MOST_RENDER_MS,
    Math.max(LEAST_RENDER_MS, 0.7 * queue.renderMs + 0.3 * likely),
  );
  return { ...fresh, growing, grownScrapes, renderMs };
}

/** The mean time that the running renders have run so far. */
export const meanRunningMs = ({
  busySlots,
  runningMs,
}: Pick<Seen, 'busySlots' | 'runningMs'>): number => runningMs / Math.max(1, busySlots);

/**
 * The expected duration of a queued render: the larger of the estimates from finished and running
 * renders. On average a sample sees a render at half of its duration. While the first long renders
 * run, all finished ones were short.
 */
const expectedMs = (queue: Queue, seen: Seen) =>
  Math.min(MOST_RENDER_MS, Math.max(queue.renderMs, 2 * meanRunningMs(seen)));

/** Slots that arriving renders would keep busy if none had to wait. */
export function offeredSlots(queue: Queue, seen: Seen): number {
  if (seen.queuedRenders === 0) return seen.busySlots;
  const offered = Math.min(
    seen.busySlots + seen.queuedRenders,
    comingPerMs(seen) * expectedMs(queue, seen),
  );
  // Not all slots that clear a queue are needed afterwards. While the queue grows, all are.
  return queue.growing ? Math.max(seen.busySlots, offered) : offered;
}

/**
 * From this load on, the variation of independent arrivals (two standard deviations: twice the
 * square root of the load) fits into the headroom of a 70 % target. Smaller loads need more.
 */
const EVEN_LOAD = 22;

/** Slots for a load at the target utilization, with extra headroom for a small load. */
export function withHeadroom(offered: number, targetUtilization: number): number {
  return offered + (1 / targetUtilization - 1) * Math.sqrt(offered * Math.max(offered, EVEN_LOAD));
}

/** After this many scrapes without a shorter queue time, the estimated duration is not reliable. */
const GROWN_SCRAPES = 2;

/** Slots that all renders could use at once; 0 while the estimated duration seems reliable. */
export const slotsForAll = ({ grownScrapes }: Queue, { busySlots, queuedRenders }: Seen): number =>
  grownScrapes >= GROWN_SCRAPES ? busySlots + queuedRenders : 0;

/**
 * Slots, in addition to those for the offered load, that clear within `drainMs` the queue expected
 * at the time when the requested pods are ready, in `readyInMs`.
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
  // A render uses one slot, whatever its duration.
  return Math.min(waiting, (waiting * renderMs) / drainMs);
}
