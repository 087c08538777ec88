// Limits the desired size: to minReplicas and maxReplicas, and to the rates of change.
import type { PoolScaling } from '../../crds/browser-pool.ts';
import { type Pods, withLow, withPeak } from './windows.ts';

export interface Limited {
  by: 'max' | 'min' | 'rate';
  /** The size that the load requires. */
  desiredPods: number;
}

/** The largest and the smallest sizes of the last minute. Plain data. */
export interface Sizes {
  peaks: readonly Pods[];
  lows: readonly Pods[];
}

const RATE_WINDOW_MS = 60_000;

export const noSizes: Sizes = { peaks: [], lows: [] };

export const withSize = ({ peaks, lows }: Sizes, pods: number, nowMs: number): Sizes => ({
  peaks: withPeak(peaks, pods, nowMs, RATE_WINDOW_MS),
  lows: withLow(lows, pods, nowMs, RATE_WINDOW_MS),
});

const change = (
  pods: number,
  {
    maxPodsPerMinute,
    maxPercentPerMinute,
  }: { maxPodsPerMinute: number; maxPercentPerMinute: number },
) => Math.max(maxPodsPerMinute, Math.floor((pods * maxPercentPerMinute) / 100));

/**
 * The allowed size for the desired size, at least `least`. The rates never cause a change in the
 * opposite direction of the desired one.
 */
export function within(
  desired: number,
  least: number,
  current: number,
  { peaks, lows }: Sizes,
  scaling: PoolScaling,
  nowMs: number,
): { pods: number; limited: Limited | undefined } {
  const { minReplicas: min, maxReplicas: max, scaleUp, scaleDown } = scaling;
  const bounded = Math.min(max, Math.max(min, least, desired));
  const recent = (all: readonly Pods[]) =>
    all.filter(({ atMs }) => atMs > nowMs - RATE_WINDOW_MS).map(each => each.pods);
  const low = Math.min(current, ...recent(lows));
  const peak = Math.max(current, ...recent(peaks));
  const highest = Math.max(current, low + change(low, scaleUp));
  const lowest = Math.min(current, peak - change(peak, scaleDown));
  // A changed minReplicas or maxReplicas takes effect immediately, whatever the rates are.
  const pods = Math.min(max, Math.max(min, Math.min(highest, Math.max(lowest, bounded))));
  if (pods !== bounded) return { pods, limited: { by: 'rate', desiredPods: desired } };
  if (desired > max) return { pods, limited: { by: 'max', desiredPods: desired } };
  // An idle pool that keeps its one pod is not reported as limited.
  if (Math.max(1, desired) < min) return { pods, limited: { by: 'min', desiredPods: desired } };
  return { pods, limited: undefined };
}
