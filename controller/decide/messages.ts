// The sentences of decisions, for the Events that an SRE reads at night: the numbers first, then
// what follows.
import type { PoolScaling } from '../../crds/browser-pool.ts';
import { meanRunningMs } from './demand.ts';
import type { Limited } from './limits.ts';

export interface Facts {
  busySlots: number;
  runningMs: number;
  sampleAgeMs: number;
  queuedRenders: number;
  oldestWaitMs: number;
  partial: boolean;
  /** Busy slots that the load makes: on average, and in the last moments. */
  averageSlots: number;
  offeredSlots: number;
  /** Slots that all renders could use, while the queue does not shrink; else 0. */
  slotsForAll: number;
  pods: number;
  size: number;
  readyPods: number;
  /** What the load asks for. */
  desired: number;
  limited: Limited | undefined;
  scaling: PoolScaling;
}

const number = (value: number) => (value < 10 ? value.toFixed(1) : String(Math.round(value)));
const some = (count: number, thing: string) =>
  `${number(count).replace(/\.0$/, '')} ${thing}${count === 1 ? '' : 's'}`;

const queueOf = (facts: Facts): string => {
  const { busySlots, queuedRenders, oldestWaitMs, sampleAgeMs } = facts;
  if (queuedRenders === 0) return 'nothing in the queue';
  const queue = `${some(queuedRenders, 'render')} in the queue ${number(sampleAgeMs / 1_000)} s ago, the oldest for ${number(oldestWaitMs / 1_000)} s`;
  if (busySlots === 0) return queue;
  return `${queue}, and those on slots had run for ${number(meanRunningMs(facts) / 1_000)} s on average`;
};

const seen = (facts: Facts) =>
  `${some(facts.busySlots, 'busy slot')} on ${some(facts.readyPods, 'ready pod')}, ${some(facts.averageSlots, 'slot')} on average over ${facts.scaling.stableWindowSeconds} s; ${queueOf(facts)}.`;

const then: Record<string, (facts: Facts) => string> = {
  load: ({ scaling, desired }) =>
    `At ${scaling.targetUtilizationPercent} % utilization that needs ${some(desired, 'pod')}.`,
  panic({ offeredSlots, slotsForAll, queuedRenders, scaling, desired }) {
    if (slotsForAll > 0)
      return `The queue does not shrink with all pods ready: its renders could use ${some(slotsForAll, 'slot')} with those that run, and that needs ${some(desired, 'pod')}.`;
    if (queuedRenders === 0) return `The last moments need ${some(desired, 'pod')}.`;
    return `What comes in now keeps about ${some(offeredSlots, 'slot')} busy; with the queue gone ${scaling.drainSeconds} s after pods are ready that needs ${some(desired, 'pod')}.`;
  },
  from_zero: ({ desired }) =>
    `There was no pod; ${some(desired, 'pod')} ${desired === 1 ? 'is' : 'are'} needed.`,
  idle: ({ scaling, desired }) =>
    `No more than ${some(desired, 'pod')} ${desired === 1 ? 'was' : 'were'} needed for ${scaling.scaleDown.delaySeconds} s.`,
  steady: ({ size, desired }) =>
    desired < size
      ? `${some(desired, 'pod')} would do; the size stays at ${size} for now.`
      : `The size stays at ${size}.`,
  below_min: ({ pods, scaling }) =>
    `${some(pods, 'pod')} ${pods === 1 ? 'is' : 'are'} fewer than minReplicas, ${scaling.minReplicas}.`,
  above_max: ({ pods, scaling }) =>
    `${some(pods, 'pod')} ${pods === 1 ? 'is' : 'are'} more than maxReplicas, ${scaling.maxReplicas}.`,
  restored: ({ pods, size }) =>
    `Somebody else set the Deployment to ${pods}; ${size} had been decided.`,
};

const LIMITS: Record<Limited['by'], (facts: Facts) => string> = {
  max: ({ scaling }) => ` maxReplicas allows ${scaling.maxReplicas}.`,
  min: ({ scaling }) => ` minReplicas keeps ${scaling.minReplicas}.`,
  rate: ({ size }) => ` The rates of scaleUp and scaleDown allow ${size} for now.`,
};

/** What a decision by the load says. */
export function messageFor(reason: string, facts: Facts): string {
  const limit = facts.limited && reason !== 'restored' ? LIMITS[facts.limited.by](facts) : '';
  return `${seen(facts)} ${then[reason]!(facts)}${limit}${facts.partial ? ' Some process does not tell its part, so that nothing shrinks.' : ''}`;
}

/** What a decision without a load says. */
export function messageForNoLoad(
  reason: string,
  why: string,
  facts: Pick<Facts, 'pods' | 'size' | 'scaling'>,
): string {
  const held = `The load is not known: ${why.replace(/\.$/, '')}.`;
  return reason === 'no_metrics'
    ? `${held} The size stays at ${facts.size} until it is.`
    : `${held} ${then[reason]!(facts as Facts)}`;
}
