// What keeps a pool from shrinking. Two more rules are data of the decision: the highest desired size
// of the last `scaleDown.delaySeconds`, and the pods that a queue or a burst requires (by-load.ts).
// The rate of shrinking is limited in limits.ts; without a load the size is kept (decide.ts).
import type { History, ScalingSpec } from './model.ts';

/** How long the size is kept after a gap in the metrics: until the windows are full again. */
export const holdMs = ({ stableWindowSeconds, scaleDown }: ScalingSpec['scaling']) =>
  1_000 * Math.max(stableWindowSeconds, scaleDown.delaySeconds);

/** The size must not fall below this while it is kept after a gap in the metrics. */
export const leastPods = ({ holdUntilMs, askedPods = 0 }: History, pods: number, now: number) =>
  now < holdUntilMs ? Math.max(pods, askedPods) : 0;

/** One step down per `ms`: an average falls in small steps. */
export const shrunkWithin = (ms: number, { shrunkMs }: History, now: number) =>
  shrunkMs !== undefined && now - shrunkMs < ms;
