// The controller's `decide` as an autoscaler of the simulated pool, with the BrowserPool defaults
// except for the common settings.
import { decide } from '../controller/decide/decide.ts';
import { noHistory, type ScalingSpec } from '../controller/decide/model.ts';
import { scalingSchema } from '../crds/browser-pool.ts';
import type { Autoscaler } from './autoscale-pool.ts';
import type { Bounds } from './autoscalers.ts';

interface Options {
  /** The scrape interval. */
  scrapeIntervalMs: number;
  /** The query interval of the controller. */
  pollMs: number;
}

export function pressroom(
  { slotsPerPod, minPods, maxPods, targetUtilization }: Bounds,
  { scrapeIntervalMs, pollMs }: Options,
): Autoscaler {
  const pool: ScalingSpec = {
    slotsPerPod,
    replicas: undefined,
    paused: false,
    scaling: scalingSchema.parse({
      minReplicas: minPods,
      maxReplicas: maxPods,
      targetUtilizationPercent: targetUtilization * 100,
    }),
  };
  let history = noHistory(0);
  return ({ pods, readyPods, scraped }, nowMs) => {
    const load = { kind: 'measured', ...scraped, scrapeIntervalMs, partial: false } as const;
    const decision = decide(pool, { pods, readyPods, load }, history, nowMs);
    history = decision.history;
    return { pods: decision.pods, againMs: pollMs };
  };
}
