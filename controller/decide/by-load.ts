// Decides the size for a known load: updates the history, calculates the desired size over the
// stable and the panic window, and applies the limits.
import { backlogSlots, nextQueue, offeredSlots, slotsForAll, withHeadroom } from './demand.ts';
import { within } from './limits.ts';
import { messageFor } from './messages.ts';
import type { Decision, History, MeasuredLoad, Reason, ScalingSpec } from './model.ts';
import { holdMs, leastPods, shrunkWithin } from './shrink.ts';
import { late, nextStarts, readyInMs, withOrder } from './starts.ts';
import { averageSince, highest, withPeak, withValue } from './windows.ts';

interface Seen {
  load: MeasuredLoad;
  pods: number;
  readyPods: number;
}

/** Twice the maximum of maxReplicas: larger desired sizes make no difference. */
const MOST_DESIRED = 2_000;

const stableMsOf = ({ scaling }: ScalingSpec) => scaling.stableWindowSeconds * 1_000;
/** At least three scrapes: an average of fewer is not meaningful. */
const panicMsOf = ({ scaling }: ScalingSpec, load: MeasuredLoad) =>
  Math.max(scaling.panicWindowSeconds * 1_000, 3 * load.scrapeIntervalMs);

/** How long pods for a burst are kept: two samples, since one may be from just before its end. */
const burstMsOf = ({ scaling }: ScalingSpec, load: MeasuredLoad) =>
  2 * Math.max(scaling.panicWindowSeconds * 1_000, load.scrapeIntervalMs);

/** The pods for a number of slots. */
const podsFor = ({ scaling, slotsPerPod }: ScalingSpec, slots: number) =>
  Math.min(MOST_DESIRED, Math.ceil((slots + scaling.idleSlots) / slotsPerPod - 1e-9));

/** The pods for a sustained load of `slots`, at the target utilization. */
const podsForLoad = (pool: ScalingSpec, slots: number) =>
  podsFor(pool, withHeadroom(slots, pool.scaling.targetUtilizationPercent / 100));

/** Adds an observation to the history, and returns the load that results. */
function recordLoad(
  pool: ScalingSpec,
  { load, pods, readyPods }: Seen,
  history: History,
  now: number,
) {
  const [stableMs, panicMs] = [stableMsOf(pool), panicMsOf(pool, load)];
  const known = history.offered.some(({ fromMs }) => fromMs > now - stableMs);
  const starts = nextStarts(history.starts, pods, readyPods, now);
  const queue = nextQueue(
    history.queue,
    load,
    now,
    load.scrapeIntervalMs,
    starts.orders.length > 0,
  );
  const offeredNow = offeredSlots(queue, load);
  const offered = withValue(history.offered, offeredNow, now, stableMs);
  const average = averageSince(offered, now - stableMs);
  const short = Math.max(average, averageSince(offered, now - panicMs));
  const holdUntilMs = load.partial || !known ? now + holdMs(pool.scaling) : history.holdUntilMs;
  return { next: { ...history, queue, starts, offered, holdUntilMs }, offeredNow, average, short };
}

/** The pods that a burst or a queue requires; 0 without either. */
function burstPods(
  pool: ScalingSpec,
  seen: Seen,
  { next, offeredNow, short }: ReturnType<typeof recordLoad>,
  now: number,
): number {
  const { load, pods, readyPods } = seen;
  const forShort = podsForLoad(pool, short);
  const sudden =
    forShort * 100 >= pool.scaling.panicThresholdPercent * Math.max(1, readyPods) ? forShort : 0;
  if (load.queuedRenders === 0) return sudden;
  // Pods requested for a queue are kept until the queue is empty.
  const asked = Math.max(1, Math.min(pods, highest(next.burstPeaks)));
  const needed = Math.max(short, offeredNow);
  // Pods that are late to start are not requested twice.
  if (late(next.starts, now)) return Math.max(asked, podsForLoad(pool, needed));
  const readySlots = readyPods * pool.slotsPerPod;
  const drainMs = pool.scaling.drainSeconds * 1_000;
  const backlog = backlogSlots(
    next.queue,
    load,
    needed,
    readySlots,
    readyInMs(next.starts, now),
    drainMs,
  );
  return Math.max(
    asked,
    sudden,
    podsFor(pool, Math.max(needed + backlog, slotsForAll(next.queue, load))),
  );
}

function reasonOf(
  { scaling }: ScalingSpec,
  pods: number,
  size: number,
  askedBefore: number,
  panic: boolean,
): Reason {
  if (size === pods) return 'steady';
  if (size < pods) return pods > scaling.maxReplicas ? 'above_max' : 'idle';
  if (pods < scaling.minReplicas && size === scaling.minReplicas) return 'below_min';
  if (size <= askedBefore) return 'restored';
  if (pods === 0) return 'from_zero';
  return panic ? 'panic' : 'load';
}

/** The returned history includes this observation, but not yet the decided size. */
export function byLoad(
  pool: ScalingSpec,
  seen: Seen,
  history: History,
  now: number,
): Omit<Decision, 'requeueAfterMs'> {
  const { scaling } = pool;
  const { load, pods, readyPods } = seen;
  const burstMs = burstMsOf(pool, load);
  const recorded = recordLoad(pool, seen, history, now);
  const { next, offeredNow, average } = recorded;
  const desiredPeaks = withPeak(
    history.desiredPeaks,
    podsForLoad(pool, average),
    now,
    scaling.scaleDown.delaySeconds * 1_000,
  );
  const burstPeaks = withPeak(
    history.burstPeaks,
    burstPods(pool, seen, recorded, now),
    now,
    burstMs,
  );
  const desired = Math.max(highest(desiredPeaks), highest(burstPeaks));
  const panic = desired > highest(desiredPeaks);

  const asked = history.askedPods ?? 0;
  const least = leastPods(next, pods, now);
  // A scale-up that was already approved is not rate-limited again.
  const current = Math.max(pods, Math.min(asked, Math.max(desired, least)));
  const { pods: allowed, limited } = within(desired, least, current, history.sizes, scaling, now);
  const tooSoon = pods <= scaling.maxReplicas && shrunkWithin(burstMs, history, now);
  const size = allowed < pods && tooSoon ? pods : allowed;
  const reason = reasonOf(pool, pods, size, asked, panic);
  const facts = {
    ...load,
    averageSlots: average,
    offeredSlots: offeredNow,
    slotsForAll: slotsForAll(next.queue, load),
    pods,
    size,
    readyPods,
    desired,
    limited,
    scaling,
  };
  const starts = size > pods ? withOrder(next.starts, size, now) : next.starts;
  const shrunkMs = size < pods ? now : history.shrunkMs;
  return {
    pods: size,
    reason,
    message: messageFor(reason, facts),
    limited,
    panic,
    history: { ...next, starts, desiredPeaks, burstPeaks, shrunkMs },
  };
}
