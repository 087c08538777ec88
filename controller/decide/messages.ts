// The messages of decisions, shown in Events and the log: the observed load first, then the
// conclusion.
import type { PoolScaling } from '../../crds/browser-pool.ts';
import { meanRunningMs } from './demand.ts';
import type { Limited } from './limits.ts';
import type { MeasuredLoad } from './model.ts';

interface Facts extends MeasuredLoad {
  /** Busy slots that the load requires: over the stable window, and now. */
  averageSlots: number;
  offeredSlots: number;
  /** Slots that all renders could use while the queue does not shrink, otherwise 0. */
  slotsForAll: number;
  pods: number;
  size: number;
  readyPods: number;
  /** Pods that the load requires. */
  desired: number;
  limited: Limited | undefined;
  scaling: PoolScaling;
}

const number = (value: number) => (value < 10 ? value.toFixed(1) : String(Math.round(value)));
/** Such as "1 pod" and "2.5 slots". */
export const countText = (count: number, thing: string) =>
  `${number(count).replace(/\.0$/, '')} ${thing}${count === 1 ? '' : 's'}`;

const queueOf = (facts: Facts): string => {
  const { busySlots, queuedRenders, oldestWaitMs, sampleAgeMs } = facts;
  if (queuedRenders === 0) return 'no queued renders';
  const queue = `${countText(queuedRenders, 'queued render')} ${number(sampleAgeMs / 1_000)} s ago, the oldest for ${number(oldestWaitMs / 1_000)} s`;
  if (busySlots === 0) return queue;
  return `${queue}; mean age of the running renders ${number(meanRunningMs(facts) / 1_000)} s`;
};

const observed = (facts: Facts) =>
  `${countText(facts.busySlots, 'busy slot')} on ${countText(facts.readyPods, 'ready pod')} (average over ${facts.scaling.stableWindowSeconds} s: ${countText(facts.averageSlots, 'slot')}); ${queueOf(facts)}.`;

const conclusions: Record<string, (facts: Facts) => string> = {
  load: ({ scaling, desired }) =>
    `The target utilization of ${scaling.targetUtilizationPercent} % requires ${countText(desired, 'pod')}.`,
  panic({ offeredSlots, slotsForAll, queuedRenders, scaling, desired }) {
    if (slotsForAll > 0)
      return `The queue is not shrinking although all pods are ready. All renders together could use ${countText(slotsForAll, 'slot')}, which requires ${countText(desired, 'pod')}.`;
    if (queuedRenders === 0) return `The panic window requires ${countText(desired, 'pod')}.`;
    return `Incoming renders keep about ${countText(offeredSlots, 'slot')} busy. Clearing the queue within ${scaling.drainSeconds} s of the new pods being ready requires ${countText(desired, 'pod')}.`;
  },
  from_zero: ({ desired }) => `The pool had no pods and requires ${countText(desired, 'pod')}.`,
  idle: ({ scaling, desired }) =>
    `At most ${countText(desired, 'pod')} ${desired === 1 ? 'was' : 'were'} required in the last ${scaling.scaleDown.delaySeconds} s.`,
  steady: ({ size, desired }) =>
    desired < size
      ? `${countText(desired, 'pod')} would be enough; the pool keeps ${size} for now.`
      : `The pool keeps ${countText(size, 'pod')}.`,
  below_min: ({ pods, scaling }) =>
    `The pool has ${countText(pods, 'pod')}, fewer than minReplicas (${scaling.minReplicas}).`,
  above_max: ({ pods, scaling }) =>
    `The pool has ${countText(pods, 'pod')}, more than maxReplicas (${scaling.maxReplicas}).`,
  restored: ({ pods, size }) =>
    `Another client scaled the Deployment to ${pods}; the controller restores ${size}.`,
};

const LIMITS: Record<Limited['by'], (facts: Facts) => string> = {
  max: ({ scaling }) => ` Limited to maxReplicas (${scaling.maxReplicas}).`,
  min: ({ scaling }) => ` Kept at minReplicas (${scaling.minReplicas}).`,
  rate: ({ size }) => ` Limited to ${size} for now by the rates of scaleUp and scaleDown.`,
};

/** The message of a decision with a known load. */
export function messageFor(reason: string, facts: Facts): string {
  const limit = facts.limited && reason !== 'restored' ? LIMITS[facts.limited.by](facts) : '';
  return `${observed(facts)} ${conclusions[reason]!(facts)}${limit}${facts.partial ? ' Some processes are missing in Prometheus, so the pool does not shrink.' : ''}`;
}

/** The message of a decision with an unknown load. `why` is a sentence. */
export function messageForNoLoad(
  reason: string,
  why: string,
  facts: Pick<Facts, 'pods' | 'size' | 'scaling'>,
): string {
  const unknown = `The load is unknown. ${why.replace(/\.$/, '')}.`;
  return reason === 'no_metrics'
    ? `${unknown} The pool keeps ${countText(facts.size, 'pod')} until the load is known.`
    : `${unknown} ${conclusions[reason]!(facts as Facts)}`;
}
