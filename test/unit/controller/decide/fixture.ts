// Simulates a pool and its controller second by second, for tests of decide.
import { decide } from '../../../../controller/decide/decide.ts';
import {
  type Decision,
  type History,
  type Load,
  noHistory,
  type ScalingSpec,
} from '../../../../controller/decide/model.ts';
import { scalingSchema } from '../../../../crds/browser-pool.ts';

export const poolOf = (scaling: object = {}, rest: Partial<ScalingSpec> = {}): ScalingSpec => ({
  slotsPerPod: 2,
  replicas: undefined,
  paused: false,
  scaling: scalingSchema.parse({ minReplicas: 1, maxReplicas: 20, ...scaling }),
  ...rest,
});

type Measured = Extract<Load, { kind: 'measured' }>;

export const load = (
  busySlots: number,
  queuedRenders = 0,
  oldestWaitMs = 0,
  rest: Partial<Measured> = {},
): Measured => ({
  kind: 'measured',
  busySlots,
  runningMs: 0,
  queuedRenders,
  oldestWaitMs,
  scrapeIntervalMs: 5_000,
  sampleAgeMs: 0,
  partial: false,
  ...rest,
});

export const unknown: Load = {
  kind: 'unknown',
  reason: 'unreachable',
  message: 'Prometheus does not respond',
};

interface World {
  pods: number | undefined;
  readyPods: number;
}

/**
 * A Deployment that follows each decision. Its pods are ready immediately unless a test changes it.
 */
export function controllerOf(pool: ScalingSpec, pods: number | undefined) {
  let history: History = noHistory(0);
  const world: World = { pods, readyPods: pods ?? 0 };
  const control = {
    pool,
    world,
    nowMs: 0,
    podsStart: true,
    last: undefined as unknown as Decision,
    history: () => history,
    restart() {
      history = noHistory(control.nowMs);
    },
    /** Makes one decision. */
    look(seen: Load): Decision {
      control.last = decide(control.pool, { ...world, load: seen }, history, control.nowMs);
      history = control.last.history;
      world.pods = control.last.pods;
      world.readyPods = control.podsStart ? world.pods : Math.min(world.readyPods, world.pods);
      return control.last;
    },
    /** Makes one decision per second, and returns those that changed the size. */
    during(seconds: number, seen: Load | ((second: number) => Load)): Decision[] {
      const changes: Decision[] = [];
      for (let second = 0; second < seconds; second++) {
        const before = world.pods;
        const decision = control.look(typeof seen === 'function' ? seen(second) : seen);
        if (decision.pods !== before) changes.push(decision);
        control.nowMs += 1_000;
      }
      return changes;
    },
  };
  return control;
}
