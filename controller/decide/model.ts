// What goes into a decision on the size of a pool, what is remembered between two of them, and what
// comes out.
import type { BrowserPoolSpec } from '../../crds/browser-pool.ts';
import { noQueue, type Queue } from './demand.ts';
import { type Limited, noSizes, type Sizes } from './limits.ts';
import { noStarts, type Starts } from './starts.ts';
import type { Pods, Slice } from './windows.ts';

/**
 * What Prometheus tells of a pool's load. That it tells nothing is a value too: then the size is
 * held.
 */
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
      /**
       * Prometheus asks too rarely for renders that wait so long: a pool that grows now may be too
       * late for them.
       */
      slowScrape?: SlowScrape | undefined;
      /**
       * Some process that should tell its part does not: the true load may be higher, so that
       * nothing shrinks.
       */
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

/**
 * Why a pool has the size it has; the label of metrics, and with a capital letter the reason of
 * Events.
 */
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

/**
 * What is remembered from one decision to the next. Plain data, and small: at most about a thousand
 * entries with a thousand pods.
 */
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
  desiredPeaks: readonly Pods[];
  /** Sizes that the last moments asked for, kept for a shorter time. */
  burstPeaks: readonly Pods[];
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
    desiredPeaks: [],
    burstPeaks: [],
    holdUntilMs: 0,
    shrunkMs: undefined,
  };
}
