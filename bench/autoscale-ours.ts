// The controller's decide as an autoscaler of the simulated pool: with the defaults of the
// BrowserPool, but for what every autoscaler is told alike.
import { decide } from '../controller/decide/decide.ts';
import { noHistory, type ScalingSpec } from '../controller/decide/model.ts';
import { scalingSchema } from '../crds/browser-pool.ts';
import type { Autoscaler } from './autoscale-pool.ts';
import type { Bounds } from './autoscale-rivals.ts';

interface Options {
  /** As Prometheus' data show it. */
  scrapeIntervalMs: number;
  /** How often the controller asks Prometheus. */
  pollMs: number;
  /** Overrides defaults of the pool. */
  scaling?: object;
  /** Sees each decision that changes the size. */
  told?(line: string): void;
}

export function ours(
  { slotsPerPod, minPods, maxPods, targetUtilization }: Bounds,
  options: Options,
): Autoscaler {
  const { scrapeIntervalMs, pollMs, scaling = {}, told } = options;
  const pool: ScalingSpec = {
    slotsPerPod,
    replicas: undefined,
    paused: false,
    scaling: scalingSchema.parse({
      minReplicas: minPods,
      maxReplicas: maxPods,
      targetUtilizationPercent: targetUtilization * 100,
      ...scaling,
    }),
  };
  let history = noHistory(0);
  return ({ pods, readyPods, scraped }, nowMs) => {
    const load = { kind: 'measured', ...scraped, scrapeIntervalMs, partial: false } as const;
    const decision = decide(pool, { pods, readyPods, load }, history, nowMs);
    history = decision.history;
    if (decision.pods !== pods)
      told?.(
        `${Math.round(nowMs / 1_000)} s: ${pods} to ${decision.pods}, ${decision.reason}: ${decision.message}`,
      );
    return { pods: decision.pods, againMs: pollMs };
  };
}
