// The data of a decision on the size of a pool: observation, history and result.
import type { BrowserPoolSpec } from '../../crds/browser-pool.ts';
import { noQueue, type Queue } from './demand.ts';
import { type Limited, noSizes, type Sizes } from './limits.ts';
import { noStarts, type Starts } from './starts.ts';
import type { Pods, Slice } from './windows.ts';

/** The load of a pool in Prometheus. An unknown load is a value too: the size is kept. */
export type Load =
  | {
      kind: 'measured';
      /** The sum over all workers of the pool. */
      busySlots: number;
      /** The total time that the running renders have run so far. */
      runningMs: number;
      /** The sum over all API processes, and the waiting asynchronous renders that may run now. */
      queuedRenders: number;
      /** Queue time of the oldest queued render; without one, of the oldest asynchronous render. */
      oldestWaitMs: number;
      /** The scrape interval, derived from the samples. */
      scrapeIntervalMs: number;
      /** Age of the newest sample of the queue. */
      sampleAgeMs: number;
      /** Set if the scrape interval is too long: queued renders may time out before pods start. */
      slowScrape?: SlowScrape | undefined;
      /** Some processes are missing, so the load may be higher: the pool does not shrink. */
      partial: boolean;
    }
  | { kind: 'unknown'; reason: 'unreachable' | 'no_data' | 'stale'; message: string };

export type MeasuredLoad = Extract<Load, { kind: 'measured' }>;

export interface SlowScrape {
  intervalMs: number;
  queueTimeoutMs: number;
}

export interface Observation {
  /** Replicas of the Deployment; undefined while it does not exist. */
  pods: number | undefined;
  readyPods: number;
  load: Load;
}

export type ScalingSpec = Pick<BrowserPoolSpec, 'slotsPerPod' | 'replicas' | 'paused' | 'scaling'>;

/** The reasons of decisions: a metric label and, in CamelCase, the reason of Events. */
export const REASONS = [
  'steady', // no change
  'load', // scale up for the average load
  'panic', // scale up for a burst or a queue
  'from_zero', // scale up from zero for the first render
  'idle', // scale down after the stabilization window
  'fixed', // spec.replicas
  'paused', // spec.paused
  'no_metrics', // kept: the load is unknown
  'below_min', // scale up to minReplicas
  'above_max', // scale down to maxReplicas
  'restored', // another client scaled the Deployment down
] as const;
export type Reason = (typeof REASONS)[number];

/** State between two decisions. Plain data: at most about 1,000 entries with 1,000 pods. */
export interface History {
  /** Time of the last decision; never decreases. */
  atMs: number;
  /** The last decided size; undefined before the first decision. */
  askedPods: number | undefined;
  /** Offered load over the stable window. */
  offered: readonly Slice[];
  queue: Queue;
  starts: Starts;
  sizes: Sizes;
  /** Sizes that the average load required within `scaleDown.delaySeconds`. */
  desiredPeaks: readonly Pods[];
  /** Sizes that bursts required, kept for a shorter time. */
  burstPeaks: readonly Pods[];
  /** The pool does not shrink before this, because the load was unknown or partial. */
  holdUntilMs: number;
  /** Time of the last scale-down. */
  shrunkMs: number | undefined;
}

export interface Decision {
  /** Desired replicas of the Deployment. */
  pods: number;
  reason: Reason;
  /** The observed load and the conclusion, in a few sentences. */
  message: string;
  limited: Limited | undefined;
  /** A burst or a queue requires more pods than the average load. */
  panic: boolean;
  history: History;
  /** Time until the next decision if nothing changes before. */
  requeueAfterMs: number;
}

/** The empty history of a new pool, or of a new leader. */
export function noHistory(nowMs: number): History {
  return {
    atMs: nowMs,
    askedPods: undefined,
    offered: [],
    queue: noQueue(nowMs),
    starts: noStarts,
    sizes: noSizes,
    desiredPeaks: [],
    burstPeaks: [],
    holdUntilMs: 0,
    shrunkMs: undefined,
  };
}
