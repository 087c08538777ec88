// KEDA with a Prometheus trigger and its defaults, based on
// pkg/scaling/executor/scale_scaledobjects.go. It scales between zero and one pod itself, and
// configures an HPA above (AverageValue, queried at each sync).
import { hpa } from './autoscale-hpa.ts';
import type { Autoscaler } from './autoscale-pool.ts';
import type { Bounds } from './autoscalers.ts';

/** spec.pollingInterval */
const POLLING_MS = 30_000;
/** spec.cooldownPeriod */
const COOLDOWN_MS = 300_000;

export function keda(bounds: Bounds): Autoscaler {
  const inner = hpa({ ...bounds, minPods: Math.max(1, bounds.minPods) });
  const due = { poll: 0, sync: 0 };
  let lastActiveMs: number | undefined;
  return (view, nowMs) => {
    let pods: number | undefined;
    if (nowMs >= due.poll) {
      due.poll = nowMs + POLLING_MS;
      // activationThreshold 0
      const active = view.scraped.busySlots + view.scraped.queuedRenders > 0;
      if (active) {
        lastActiveMs = nowMs;
        if (view.pods === 0) pods = Math.max(1, bounds.minPods); // scaleFromZero
      } else if (
        view.pods > 0 &&
        bounds.minPods === 0 &&
        (lastActiveMs === undefined || nowMs - lastActiveMs > COOLDOWN_MS)
      )
        pods = 0; // scaleToZero
    }
    if (nowMs >= due.sync) {
      due.sync = nowMs + 15_000;
      // An HPA does nothing while its target has zero replicas (ScalingDisabled).
      if (view.pods > 0 && pods === undefined) pods = inner(view, nowMs).pods;
    }
    return { pods, againMs: Math.min(due.poll, due.sync) - nowMs };
  };
}
