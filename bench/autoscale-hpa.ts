// Kubernetes' HorizontalPodAutoscaler (autoscaling/v2) with its defaults, after
// pkg/controller/podautoscaler (horizontal.go, replica_calculator.go), on one external metric: busy
// slots and queued renders, from Prometheus.
import type { Autoscaler } from './autoscale-pool.ts';
import type { Bounds } from './autoscalers.ts';

/** --horizontal-pod-autoscaler-sync-period */
const SYNC_MS = 15_000;
/** --horizontal-pod-autoscaler-tolerance */
const TOLERANCE = 0.1;
/** behavior.scaleDown.stabilizationWindowSeconds */
const STABILIZATION_MS = 300_000;
/**
 * behavior.scaleUp.policies: the larger counts (selectPolicy Max). Each is for 15 s, so that at a
 * sync nothing of an earlier one counts.
 */
const UP_PERCENT = 100;
const UP_PODS = 4;

export function hpa({ slotsPerPod, minPods, maxPods, targetUtilization }: Bounds): Autoscaler {
  const least = Math.max(1, minPods); // HPAScaleToZero is off by default
  const averageValue = slotsPerPod * targetUtilization;
  let recommendations: { atMs: number; pods: number }[] | undefined;
  return ({ pods, scraped }, nowMs) => {
    recommendations ??= [{ atMs: nowMs, pods }];
    // GetExternalPerPodMetricReplicas
    const usage = scraped.busySlots + scraped.queuedRenders;
    const usageRatio = usage / (averageValue * pods);
    const proposed = Math.abs(1 - usageRatio) > TOLERANCE ? Math.ceil(usage / averageValue) : pods;
    // stabilizeRecommendation: none upward, the highest of five minutes downward.
    recommendations = [
      ...recommendations.filter(({ atMs }) => atMs > nowMs - STABILIZATION_MS),
      { atMs: nowMs, pods: proposed },
    ];
    const stabilized = Math.max(
      proposed,
      Math.min(pods, Math.max(...recommendations.map(each => each.pods))),
    );
    // convertDesiredReplicasWithBehaviorRate; scaleDown's policy of 100 % in 15 s bounds nothing.
    const upLimit = Math.max(pods + UP_PODS, Math.ceil(pods * (1 + UP_PERCENT / 100)));
    return { pods: Math.max(least, Math.min(stabilized, upLimit, maxPods)), againMs: SYNC_MS };
  };
}
