// How many pods a pool should have: a pure function of what was seen, what was seen before, and the time.
import type { BrowserPoolSpec } from '../../crds/browser-pool.ts';
import { byLoad, holdMs } from './by-load.ts';
import { noQueue, type Queue } from './demand.ts';
import { type Limited, noSizes, type Sizes, withSize } from './limits.ts';
import { noStarts, type Starts } from './starts.ts';
import type { Pods, Slice } from './windows.ts';
import { wordsForNoLoad } from './words.ts';

export type { Limited } from './limits.ts';

/** What Prometheus tells of a pool's load. That it tells nothing is a value too: then the size is held. */
export type Load =
  | {
      kind: 'measured';
      /** Over all workers and API processes of the pool. */
      busySlots: number;
      /** How long the renders on these slots had run when they were sampled, all together. */
      runningMs: number;
      queuedRenders: number;
      /** Of the render that waits longest. */
      oldestWaitMs: number;
      /** How often Prometheus asks the processes, as seen in its data. */
      scrapeIntervalMs: number;
      /** Of the newest sample of the queue. */
      sampleAgeMs: number;
      /** Prometheus asks too rarely for renders that wait so long: a pool that grows now may be too late for them. */
      slowScrape?: SlowScrape | undefined;
      /** Some process that should tell its part does not: the true load may be higher, so that nothing shrinks. */
      partial: boolean;
    }
  | { kind: 'unknown'; reason: 'unreachable' | 'no_data' | 'stale'; message: string };

export interface SlowScrape {
  intervalMs: number;
  queueTimeoutMs: number;
}

export interface Observation {
  /** Pods that the Deployment asks for now; undefined while there is no Deployment. */
  pods: number | undefined;
  readyPods: number;
  load: Load;
}

export type ScalingSpec = Pick<BrowserPoolSpec, 'slotsPerPod' | 'replicas' | 'paused' | 'scaling'>;

/** Why a pool has the size it has; the label of metrics, and with a capital letter the reason of Events. */
export const REASONS = [
  'steady', // as many as before
  'load', // more, for the average load
  'panic', // more, for a burst or a backlog
  'from_zero', // the first render after none waits
  'idle', // fewer, since the load has been lower for long enough
  'fixed', // spec.replicas
  'paused', // spec.paused
  'no_metrics', // held: Prometheus does not tell the load
  'below_min', // up to minReplicas at once
  'above_max', // down to maxReplicas at once
  'restored', // somebody else lowered the Deployment
] as const;
export type Reason = (typeof REASONS)[number];

/** What is remembered from one decision to the next. Plain data, and small: at most about a thousand entries with a thousand pods. */
export interface History {
  /** Of the last decision. Time never runs backwards in here. */
  atMs: number;
  /** What was last asked for; undefined before the first decision. */
  askedPods: number | undefined;
  /** Offered load over the stable window. */
  offered: readonly Slice[];
  queue: Queue;
  starts: Starts;
  sizes: Sizes;
  /** Sizes that the average load asked for within `scaleDown.delaySeconds`. */
  wishes: readonly Pods[];
  /** Sizes that the last moments asked for, kept for a shorter time. */
  burstWishes: readonly Pods[];
  /** The pool does not shrink before this: something is not known. */
  holdUntilMs: number;
  /** When it last did. */
  shrunkMs: number | undefined;
}

export interface Decision {
  /** What the Deployment should ask for. */
  pods: number;
  reason: Reason;
  /** One sentence or two with the numbers that led to it. */
  message: string;
  limited: Limited | undefined;
  /** The last moments ask for more pods than the average does. */
  panic: boolean;
  history: History;
  /** When to decide again, if nothing happens before. */
  lookAgainMs: number;
}

/** The history of a controller that begins to look at a pool. */
export function noHistory(nowMs: number): History {
  return {
    atMs: nowMs,
    askedPods: undefined,
    offered: [],
    queue: noQueue(nowMs),
    starts: noStarts,
    sizes: noSizes,
    wishes: [],
    burstWishes: [],
    holdUntilMs: 0,
    shrunkMs: undefined,
  };
}

const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));
const MOST = 1e6;
const DAY_MS = 86_400_000;
const count = (pods: number) => (Number.isFinite(pods) ? clamp(Math.floor(pods), 0, MOST) : 0);

/** A load whose numbers are none is not known. */
function believable(load: Load): Load {
  if (load.kind === 'unknown') return load;
  const { busySlots, runningMs, queuedRenders, oldestWaitMs, scrapeIntervalMs, sampleAgeMs } = load;
  if (![busySlots, runningMs, queuedRenders, oldestWaitMs, scrapeIntervalMs, sampleAgeMs].every(Number.isFinite))
    return { kind: 'unknown', reason: 'no_data', message: 'Prometheus tells values that are no numbers' };
  return {
    ...load,
    busySlots: clamp(busySlots, 0, MOST),
    runningMs: clamp(runningMs, 0, MOST * DAY_MS),
    queuedRenders: clamp(queuedRenders, 0, MOST),
    oldestWaitMs: clamp(oldestWaitMs, 0, DAY_MS),
    sampleAgeMs: clamp(sampleAgeMs, 0, DAY_MS),
    scrapeIntervalMs: clamp(scrapeIntervalMs, 100, 600_000),
  };
}

type Made = Omit<Decision, 'lookAgainMs'>;

/** The load is not known: the size is held, and what somebody took away is given back. */
function blindly({ scaling }: ScalingSpec, why: string, pods: number, history: History, now: number): Made {
  const size = clamp(Math.max(pods, history.askedPods ?? 0), scaling.minReplicas, scaling.maxReplicas);
  const reason = size > pods ? (pods < scaling.minReplicas ? 'below_min' : 'restored') : size < pods ? 'above_max' : 'no_metrics';
  const message = wordsForNoLoad(reason, why, { pods, size, scaling });
  return { pods: size, reason, message, limited: undefined, panic: false, history: { ...history, holdUntilMs: now + holdMs(scaling) } };
}

const told = (pods: number, reason: Reason, message: string, history: History): Made => ({
  pods,
  reason,
  message,
  limited: undefined,
  panic: false,
  history,
});

function make(pool: ScalingSpec, seen: Observation, load: Load, history: History, now: number): Made {
  const pods = count(seen.pods ?? 0);
  if (pool.paused) return told(pods, 'paused', `spec.paused is set: the size stays at ${pods}.`, history);
  if (pool.replicas !== undefined) return told(pool.replicas, 'fixed', `spec.replicas fixes the size at ${pool.replicas}.`, history);
  if (load.kind === 'unknown') return blindly(pool, load.message, pods, history, now);
  return byLoad(pool, { load, pods, readyPods: count(seen.readyPods) }, history, now);
}

/** Without news of the load there is nothing to decide soon. */
const UNTOLD_MS = 15_000;

/**
 * Decides the size of a pool. Pure: the same arguments give the same decision, and nothing that is seen makes it throw. `nowMs` is of a clock that only grows.
 * Called as often as there is news: the load is averaged over time, however many looks there are at it.
 */
export function decide(pool: ScalingSpec, seen: Observation, history: History, nowMs: number): Decision {
  const now = Math.max(history.atMs, nowMs);
  const load = believable(seen.load);
  const made = make(pool, seen, load, history, now);
  const sizes = withSize(made.history.sizes, made.pods, now);
  const lookAgainMs = load.kind === 'measured' ? clamp(load.scrapeIntervalMs, 1_000, UNTOLD_MS) : UNTOLD_MS;
  return { ...made, history: { ...made.history, atMs: now, askedPods: made.pods, sizes }, lookAgainMs };
}
