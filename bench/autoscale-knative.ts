// Knative's KPA with the defaults of config-autoscaler, based on
// pkg/autoscaler/scaling/autoscaler.go (Scale) and pkg/reconciler/autoscaling/kpa/scaler.go. Its
// metrics are averages of each second instead of samples by Prometheus.
import type { Autoscaler, View } from './autoscale-pool.ts';
import type { Bounds } from './autoscalers.ts';

const SCRAPE_MS = 1_000;
/** tickInterval of multiscaler.go */
const TICK_MS = 2_000;
/** stable-window, and panic-window-percentage 10 of it */
const STABLE_MS = 60_000;
const PANIC_MS = 6_000;
/** panic-threshold-percentage */
const PANIC_THRESHOLD = 2;
const MAX_SCALE_UP_RATE = 1_000;
const MAX_SCALE_DOWN_RATE = 2;
/** scale-to-zero-grace-period */
const GRACE_MS = 30_000;

/**
 * `workOf` reads the metric, by default its own; a comparison on equal data passes that of
 * Prometheus.
 */
export function knative(
  { slotsPerPod, minPods, maxPods, targetUtilization }: Bounds,
  workOf = (view: View) => view.averageWork(),
): Autoscaler {
  const target = slotsPerPod * targetUtilization; // container-concurrency-target-percentage
  let seconds: number[] = []; // oldest first
  let panicMs: number | undefined;
  let maxPanicPods = 0;
  let started = false;
  let tickMs = 0;
  let zeroSinceMs: number | undefined;
  const average = (windowMs: number) => {
    const seen = seconds.slice(-windowMs / SCRAPE_MS);
    return seen.reduce((sum, each) => sum + each, 0) / seen.length;
  };

  function scale(readyPods: number, nowMs: number): number {
    const ready = Math.max(1, readyPods);
    const [dspc, dppc] = [
      Math.ceil(average(STABLE_MS) / target),
      Math.ceil(average(PANIC_MS) / target),
    ];
    const within = (pods: number) =>
      Math.min(
        Math.max(pods, Math.floor(ready / MAX_SCALE_DOWN_RATE)),
        Math.ceil(MAX_SCALE_UP_RATE * ready),
      );
    const over = dppc / ready >= PANIC_THRESHOLD;
    if (over) panicMs = nowMs;
    else if (panicMs !== undefined && panicMs + STABLE_MS < nowMs)
      [panicMs, maxPanicPods] = [undefined, 0];
    if (panicMs === undefined) return within(dspc);
    maxPanicPods = Math.max(maxPanicPods, within(dspc), within(dppc));
    return maxPanicPods;
  }

  return (view, nowMs) => {
    seconds = [...seconds.slice(1 - STABLE_MS / SCRAPE_MS), workOf(view)];
    if (!started) {
      started = true;
      // A new autoscaler starts in panic mode if there are pods to lose.
      if (view.readyPods > 1) [panicMs, maxPanicPods] = [nowMs, view.readyPods];
    }
    // The activator triggers the autoscaler when a request arrives while there is no pod.
    const poked = view.pods === 0 && seconds.at(-1)! > 0;
    if (nowMs < tickMs && !poked) return { pods: undefined, againMs: SCRAPE_MS };
    tickMs = nowMs + TICK_MS;
    const desired = Math.min(maxPods, Math.max(minPods, scale(view.readyPods, nowMs)));
    if (desired > 0) zeroSinceMs = undefined;
    else zeroSinceMs ??= nowMs;
    const inGrace = zeroSinceMs !== undefined && nowMs - zeroSinceMs < GRACE_MS;
    return { pods: inGrace ? Math.min(view.pods, 1) : desired, againMs: SCRAPE_MS };
  };
}
