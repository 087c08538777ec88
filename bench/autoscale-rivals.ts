// The autoscalers that ours is compared with, each with its defaults but for the target
// utilization.
import { hpa } from './autoscale-hpa.ts';
import { keda } from './autoscale-keda.ts';
import { knative } from './autoscale-knative.ts';
import type { Autoscaler } from './autoscale-pool.ts';

/** What every one of them is told alike. */
export interface Bounds {
  slotsPerPod: number;
  minPods: number;
  maxPods: number;
  /** 0.7: seven of ten slots busy. */
  targetUtilization: number;
}

export type MakeAutoscaler = (bounds: Bounds) => Autoscaler;

export const RIVALS = {
  HPA: hpa,
  KEDA: keda,
  Knative: (bounds: Bounds) => knative(bounds),
} satisfies Record<string, MakeAutoscaler>;

/** Knative's rules on the data that the others have. */
export const knativeOnPrometheus: MakeAutoscaler = bounds =>
  knative(bounds, ({ scraped }) => scraped.busySlots + scraped.queuedRenders);
