// Estimates how long pods take to become ready, and when the pods that are starting will be.
import type { Pods } from './windows.ts';

/** Plain data. */
export interface Starts {
  /** Estimated time from request to readiness of a pod. */
  startMs: number;
  /** Requested sizes that are not reached yet, oldest first. */
  orders: readonly Pods[];
}

const FIRST_START_MS = 15_000;
const [LEAST_START_MS, MOST_START_MS] = [1_000, 120_000];
const MAX_ORDERS = 20;
/** Pods requested together do not become ready at the same time. */
const LATE = 1.5;

export const noStarts: Starts = { startMs: FIRST_START_MS, orders: [] };

/**
 * Updates the estimate. Orders that were canceled by a smaller size or waited for a node are
 * ignored: they do not show how long a start takes.
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

/** Time until the first starting pod is ready, or a new pod if none is starting. */
export function readyInMs({ startMs, orders }: Starts, nowMs: number): number {
  const first = orders[0];
  return first ? Math.max(0, startMs - (nowMs - first.atMs)) : startMs;
}

/** Whether the starting pods are overdue. */
export function late({ startMs, orders }: Starts, nowMs: number): boolean {
  const first = orders[0];
  return first !== undefined && nowMs - first.atMs > LATE * startMs;
}
