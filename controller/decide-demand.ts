// What the load asks for, in slots: what the renders that come keep busy, the room for their ups and downs, and what a queue needs to be gone in time.
// A queue tells more than its length. Its oldest render came `oldestWaitMs` ago and the others since then: so many come in that time. Who divides "busy and
// queued" by a target instead takes a queue that grew for 15 s, while pods were starting, for many times the load that it is.

/** What was seen of a queue, and what it has told so far of the renders. Plain data. */
export interface Queue {
  atMs: number;
  busySlots: number;
  queuedRenders: number;
  oldestWaitMs: number;
  /** Whether renders wait longer than they did a scrape before. */
  growing: boolean;
  /** How long a render has its slot, on average. */
  renderMs: number;
}

const FIRST_RENDER_MS = 1_000;
const [LEAST_RENDER_MS, MOST_RENDER_MS] = [50, 120_000];
/** Fewer tell nothing of their average. */
const LEAST_SERVED = 10;

export const noQueue = (nowMs: number): Queue => ({
  atMs: nowMs,
  busySlots: 0,
  queuedRenders: 0,
  oldestWaitMs: 0,
  growing: false,
  renderMs: FIRST_RENDER_MS,
});

type Seen = Pick<Queue, 'busySlots' | 'queuedRenders' | 'oldestWaitMs'>;

const comingPerMs = ({ queuedRenders, oldestWaitMs }: Seen) => queuedRenders / Math.max(oldestWaitMs, 1);

/**
 * The queue after one more look. What came between two looks and is not in it any more was served, by a known number of slots: so long a render takes.
 * Looks are compared that lie at least a scrape apart, since each process is scraped at a moment of its own.
 */
export function nextQueue(queue: Queue, seen: Seen, nowMs: number, scrapeIntervalMs: number): Queue {
  if (seen.queuedRenders === 0 || queue.queuedRenders === 0)
    return { ...seen, atMs: nowMs, growing: seen.queuedRenders > 0, renderMs: queue.renderMs };
  const passedMs = nowMs - queue.atMs;
  if (passedMs < scrapeIntervalMs) return queue;
  const next = { ...seen, atMs: nowMs, growing: seen.oldestWaitMs >= queue.oldestWaitMs, renderMs: queue.renderMs };
  const served = comingPerMs(seen) * passedMs - (seen.queuedRenders - queue.queuedRenders);
  if (served < LEAST_SERVED) return next;
  const told = (((seen.busySlots + queue.busySlots) / 2) * passedMs) / served;
  // One look is believed only so far.
  const likely = Math.min(3 * queue.renderMs, Math.max(queue.renderMs / 3, told));
  return { ...next, renderMs: Math.min(MOST_RENDER_MS, Math.max(LEAST_RENDER_MS, 0.7 * queue.renderMs + 0.3 * likely)) };
}

/** Slots that the renders which come now would keep busy if none had to wait. */
export function offeredSlots(queue: Queue, seen: Seen): number {
  if (seen.queuedRenders === 0) return seen.busySlots;
  const offered = Math.min(seen.busySlots + seen.queuedRenders, comingPerMs(seen) * queue.renderMs);
  // Slots that work off a queue are not all needed afterwards. While it grows they are, and more.
  return queue.growing ? Math.max(seen.busySlots, offered) : offered;
}

/**
 * From so many busy slots on, the ups and downs of renders that come independently (two standard deviations: twice the root of the load) fit into
 * the room that a target of 70 % leaves. A smaller load needs more room than its share, or its renders wait.
 */
const EVEN_LOAD = 22;

/** Slots for a load: as many as keep it at the target utilization, and more when it is small. */
export function withRoom(offered: number, targetUtilization: number): number {
  return offered + (1 / targetUtilization - 1) * Math.sqrt(offered * Math.max(offered, EVEN_LOAD));
}

/** Slots, on top of those for the offered load, that work off within `drainMs` what will wait when pods that are asked for now or were before are ready, in `readyInMs`. */
export function backlogSlots(
  queue: Queue,
  queuedRenders: number,
  offered: number,
  readySlots: number,
  readyInMs: number,
  drainMs: number,
): number {
  if (queuedRenders === 0) return 0;
  const waiting = queuedRenders + ((offered - readySlots) * readyInMs) / queue.renderMs;
  return (Math.max(0, waiting) * queue.renderMs) / drainMs;
}
