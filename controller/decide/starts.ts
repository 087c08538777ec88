// How long pods take from being asked for to being ready, as it was seen; and when those that start
// now will be.
import type { Pods } from './windows.ts';

/** Plain data. */
export interface Starts {
  /** How long a pod takes. */
  startMs: number;
  /** Sizes that were asked for and are not reached yet, the oldest first. */
  orders: readonly Pods[];
}

const FIRST_START_MS = 15_000;
const [LEAST_START_MS, MOST_START_MS] = [1_000, 120_000];
const MAX_ORDERS = 20;
/** Pods of one order are not ready at once. */
const LATE = 1.5;

export const noStarts: Starts = { startMs: FIRST_START_MS, orders: [] };

/**
 * After a look at so many pods. An order that somebody took back, or that waited for a node, tells
 * nothing of how long a start takes.
 */
export function nextStarts(
  { startMs, orders }: Starts,
  pods: number,
  readyPods: number,
  nowMs: number,
): Starts {
  const open = orders.filter(order => order.pods <= pods);
  const took = open
    .filter(order => order.pods <= readyPods && nowMs - order.atMs <= MOST_START_MS)
    .map(({ atMs }) => nowMs - atMs);
  return {
    startMs: took.reduce(
      (average, each) => 0.7 * average + 0.3 * Math.max(LEAST_START_MS, each),
      startMs,
    ),
    orders: open.filter(order => order.pods > readyPods),
  };
}

export const withOrder = ({ startMs, orders }: Starts, pods: number, nowMs: number): Starts => ({
  startMs,
  orders: [...orders, { atMs: nowMs, pods }].slice(-MAX_ORDERS),
});

/**
 * When the first of the pods that start will be ready; when none starts, one that is asked for now.
 */
export function readyInMs({ startMs, orders }: Starts, nowMs: number): number {
  const first = orders[0];
  return first ? Math.max(0, startMs - (nowMs - first.atMs)) : startMs;
}

/** Whether pods that start should have been ready before now. */
export function late({ startMs, orders }: Starts, nowMs: number): boolean {
  const first = orders[0];
  return first !== undefined && nowMs - first.atMs > LATE * startMs;
}
