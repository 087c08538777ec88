// The compared autoscalers with their defaults except for the target utilization.
import { hpa } from './autoscale-hpa.ts';
import { keda } from './autoscale-keda.ts';
import { knative } from './autoscale-knative.ts';
import type { Autoscaler } from './autoscale-pool.ts';

/** Settings of all autoscalers. */
export interface Bounds {
  slotsPerPod: number;
  minPods: number;
  maxPods: number;
  /** Target fraction of busy slots. */
  targetUtilization: number;
}

export type MakeAutoscaler = (bounds: Bounds) => Autoscaler;

export const AUTOSCALERS = {
  HPA: hpa,
  KEDA: keda,
  Knative: (bounds: Bounds) => knative(bounds),
} satisfies Record<string, MakeAutoscaler>;

/** Knative's algorithm on the data of Prometheus. */
export const knativeOnPrometheus: MakeAutoscaler = bounds =>
  knative(bounds, ({ scraped }) => scraped.busySlots + scraped.queuedRenders);
