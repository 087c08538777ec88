// Decides how many pods a pool should have: a pure function of the spec, the observation, the
// history and the time.
import { byLoad } from './by-load.ts';
import { withSize } from './limits.ts';
import { messageForNoLoad } from './messages.ts';
import type { Decision, History, Load, Observation, Reason, ScalingSpec } from './model.ts';
import { holdMs } from './shrink.ts';

const clamp = (value: number, least: number, most: number) =>
  Math.min(most, Math.max(least, value));
const MOST = 1e6;
const DAY_MS = 86_400_000;
const count = (pods: number) => (Number.isFinite(pods) ? clamp(Math.floor(pods), 0, MOST) : 0);

/** Clamps the values of a load. A load with values that are not finite numbers is unknown. */
function validated(load: Load): Load {
  if (load.kind === 'unknown') return load;
  const { busySlots, runningMs, queuedRenders, oldestWaitMs, scrapeIntervalMs, sampleAgeMs } = load;
  if (
    ![busySlots, runningMs, queuedRenders, oldestWaitMs, scrapeIntervalMs, sampleAgeMs].every(
      Number.isFinite,
    )
  )
    return {
      kind: 'unknown',
      reason: 'no_data',
      message: 'Prometheus returned values that are not finite numbers',
    };
  return {
    ...load,
    busySlots: clamp(busySlots, 0, MOST),
    runningMs: clamp(runningMs, 0, MOST * DAY_MS),
    queuedRenders: clamp(queuedRenders, 0, MOST),
    oldestWaitMs: clamp(oldestWaitMs, 0, DAY_MS),
    sampleAgeMs: clamp(sampleAgeMs, 0, DAY_MS),
    scrapeIntervalMs: clamp(scrapeIntervalMs, 100, 600_000),
  };
}

type Made = Omit<Decision, 'requeueAfterMs'>;

/** A size that does not depend on the load. */
const fixedSize = (pods: number, reason: Reason, message: string, history: History): Made => ({
  pods,
  reason,
  message,
  limited: undefined,
  panic: false,
  history,
});

/** Without a known load the size is kept, and restored if another client reduced it. */
function withoutLoad(
  { scaling }: ScalingSpec,
  why: string,
  pods: number,
  history: History,
  now: number,
): Made {
  const size = clamp(
    Math.max(pods, history.askedPods ?? 0),
    scaling.minReplicas,
    scaling.maxReplicas,
  );
  const reason =
    size > pods
      ? pods < scaling.minReplicas
        ? 'below_min'
        : 'restored'
      : size < pods
        ? 'above_max'
        : 'no_metrics';
  const message = messageForNoLoad(reason, why, { pods, size, scaling });
  return fixedSize(size, reason, message, { ...history, holdUntilMs: now + holdMs(scaling) });
}

function make(
  pool: ScalingSpec,
  seen: Observation,
  load: Load,
  history: History,
  now: number,
): Made {
  const pods = count(seen.pods ?? 0);
  if (pool.paused)
    return fixedSize(
      pods,
      'paused',
      `spec.paused is true. The number of pods stays at ${pods}.`,
      history,
    );
  if (pool.replicas !== undefined)
    return fixedSize(
      pool.replicas,
      'fixed',
      `spec.replicas is ${pool.replicas}. Autoscaling is disabled.`,
      history,
    );
  if (load.kind === 'unknown') return withoutLoad(pool, load.message, pods, history, now);
  return byLoad(pool, { load, pods, readyPods: count(seen.readyPods) }, history, now);
}

/** The requeue interval while the load is unknown. */
const UNKNOWN_LOAD_MS = 15_000;

/**
 * Decides the size of a pool. Pure and never throws. `nowMs` is from a monotonic clock. The result
 * does not depend on how often it is called: the load is averaged over time.
 */
export function decide(
  pool: ScalingSpec,
  seen: Observation,
  history: History,
  nowMs: number,
): Decision {
  const now = Math.max(history.atMs, nowMs);
  const load = validated(seen.load);
  const made = make(pool, seen, load, history, now);
  const sizes = withSize(made.history.sizes, made.pods, now);
  const requeueAfterMs =
    load.kind === 'measured'
      ? clamp(load.scrapeIntervalMs, 1_000, UNKNOWN_LOAD_MS)
      : UNKNOWN_LOAD_MS;
  return {
    ...made,
    history: { ...made.history, atMs: now, askedPods: made.pods, sizes },
    requeueAfterMs,
  };
}
