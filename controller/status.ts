// The status of a pool: its numbers and conditions, from what was seen and decided. Pure.
import type {
  BrowserPool,
  BrowserPoolStatus,
  Condition,
  ConditionType,
} from '../crds/browser-pool.ts';
import type { Decision, Load, SlowScrape } from './decide/model.ts';
import type { DeploymentSeen, PodsSeen } from './observe.ts';
import { selectorText } from './owned-resources.ts';

export interface PoolReport {
  pool: BrowserPool;
  decision: Decision;
  load: Load;
  deployment: DeploymentSeen | undefined;
  pods: PodsSeen;
  /** Why the objects of the pool could not be written; undefined when they are. */
  problem: string | undefined;
}

type Verdict = Pick<Condition, 'status' | 'reason' | 'message'>;
const yes = (reason: string, message: string): Verdict => ({ status: 'True', reason, message });
const no = (reason: string, message: string): Verdict => ({ status: 'False', reason, message });
const unclear = (reason: string, message: string): Verdict => ({
  status: 'Unknown',
  reason,
  message,
});

const capital = (word: string) =>
  word.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The reason of a decision as Kubernetes writes reasons. */
export const reasonWord = (decision: Pick<Decision, 'reason'>): string => capital(decision.reason);

const unknownLoad = ({ reason, message }: Extract<Load, { kind: 'unknown' }>) =>
  no(capital(reason), `${message}. The size is held.`);

const slowScrapeWords = ({ intervalMs, queueTimeoutMs }: SlowScrape) =>
  `Prometheus scrapes the API every ${intervalMs / 1_000} s, and a render waits at most ${queueTimeoutMs / 1_000} s for a slot: renders of a burst may fail before the pool has grown. Scrape the API at least every ${queueTimeoutMs / 2_000} s, better every 2 s.`;

const VERDICTS: Record<ConditionType, (report: PoolReport) => Verdict> = {
  Ready({ pool, decision, deployment, pods, problem }) {
    if (problem) return no('NotApplied', problem);
    if (!deployment) return no('NoDeployment', 'The Deployment is not there yet.');
    const { replicas, ready, updated, observed } = deployment;
    if (!observed)
      return no('RollingOut', 'The Deployment has not been looked at since its last change.');
    if (pods.trouble && ready < decision.pods) return no(pods.trouble.reason, pods.trouble.message);
    if (ready < decision.pods)
      return no('NotEnoughPods', `${ready} of ${decision.pods} pods are ready.`);
    if (updated < replicas)
      return no('RollingOut', `${updated} of ${replicas} pods run what the spec says.`);
    return yes(
      decision.pods === 0 ? 'ScaledToZero' : 'AllReady',
      pool.spec.paused ? `Paused with ${ready} pods ready.` : `${ready} pods are ready.`,
    );
  },
  ScalingActive({ pool, load }) {
    if (pool.spec.paused) return no('Paused', 'spec.paused: the size is left as it is.');
    if (pool.spec.replicas !== undefined)
      return no('FixedSize', `spec.replicas: the size is fixed at ${pool.spec.replicas}.`);
    if (load.kind === 'unknown') return unknownLoad(load);
    return yes('FollowsLoad', 'The size follows the load.');
  },
  ScalingLimited({ decision: { limited } }) {
    if (!limited) return no('WithinLimits', 'The size is what the load needs.');
    const field = {
      max: 'spec.scaling.maxReplicas',
      min: 'spec.scaling.minReplicas',
      rate: 'the limits of spec.scaling.scaleUp and scaleDown',
    }[limited.by];
    return yes(
      capital(limited.by),
      `The load asks for ${limited.desiredPods} pods; ${field} allows no more change.`,
    );
  },
  MetricsAvailable({ load }) {
    if (load.kind === 'unknown') return unknownLoad(load);
    if (load.partial)
      return yes(
        'Partial',
        'Some process is missing in what Prometheus tells: the pool does not shrink until it is back.',
      );
    if (load.slowScrape) return yes('ScrapedTooRarely', slowScrapeWords(load.slowScrape));
    return yes('Available', 'Prometheus tells the load.');
  },
  ChromeSandboxed({ pool, deployment, pods }) {
    const { mode } = pool.spec.template.chromeSandbox;
    if (mode === 'Off')
      return no(
        'SwitchedOff',
        "spec.template.chromeSandbox.mode is Off: a page that breaks out of Chrome's renderer has the whole pod.",
      );
    if (pods.sandbox) return no(pods.sandbox.reason, pods.sandbox.message);
    // A worker does not start when Chrome's sandbox does not work.
    if ((deployment?.ready ?? 0) > 0)
      return yes('InUse', `Every worker that is ready runs Chrome with its sandbox on (${mode}).`);
    return unclear('NoPod', 'No pod is ready that could tell.');
  },
};

/** `now` is when a condition changed that changes; one whose status stays keeps its time. */
export function conditionsOf(report: PoolReport, now: Date): Condition[] {
  const before = new Map(
    report.pool.status?.conditions?.map(condition => [condition.type, condition]),
  );
  return Object.entries(VERDICTS).map(([type, verdict]) => {
    const next = verdict(report);
    const old = before.get(type);
    const lastTransitionTime = old?.status === next.status ? old.lastTransitionTime : stamp(now);
    return {
      type,
      ...next,
      message: next.message.slice(0, 1_000),
      observedGeneration: report.pool.metadata.generation,
      lastTransitionTime,
    };
  });
}

/** As Kubernetes writes times: whole seconds. */
const stamp = (time: Date) => time.toISOString().replace(/\.\d+Z$/, 'Z');

/** The whole status. Fields that are left out are taken away by the apply. */
export function poolStatusOf(
  report: PoolReport,
  now: Date,
): BrowserPoolStatus & { conditions: Condition[] } {
  const { pool, decision, load, deployment, problem } = report;
  // What could not be written has changed nothing.
  const changed =
    problem === undefined && deployment !== undefined && deployment.wanted !== decision.pods;
  const before = pool.status;
  return {
    observedGeneration: pool.metadata.generation,
    desiredReplicas: decision.pods,
    replicas: deployment?.replicas ?? 0,
    readyReplicas: deployment?.ready ?? 0,
    updatedReplicas: deployment?.updated ?? 0,
    ...(load.kind === 'measured' && {
      busySlots: Math.round(load.busySlots),
      queuedRenders: Math.round(load.queuedRenders),
    }),
    selector: selectorText(pool.metadata.name),
    ...(changed || !before?.lastScaleTime
      ? { lastScaleTime: stamp(now), lastScaleReason: reasonWord(decision) }
      : { lastScaleTime: before.lastScaleTime, lastScaleReason: before.lastScaleReason }),
    conditions: conditionsOf(report, now),
  };
}

/** Conditions whose change is reported by an Event, and the status that is bad. */
export const WORSE: Record<string, string> = {
  MetricsAvailable: 'False',
  ChromeSandboxed: 'False',
  ScalingLimited: 'True',
};

/** Conditions of `after` whose change is reported by an Event. */
export function changedFor(
  before: BrowserPoolStatus | undefined,
  after: BrowserPoolStatus,
): Condition[] {
  const was = new Map(before?.conditions?.map(condition => [condition.type, condition]));
  // What a new pool begins with is not reported, unless it is bad. Nor is the smallest size that
  // the owner allows, or its end.
  return (after.conditions ?? []).filter(({ type, status, reason }) => {
    const old = was.get(type);
    if (!(type in WORSE) || reason === 'Min' || old?.reason === 'Min') return false;
    return old ? old.status !== status : WORSE[type] === status;
  });
}

/** Sentences of conditions change with each look. They are written at most this often. */
const SENTENCES_EVERY_MS = 15_000;

/** Whether `next` is worth a write, when the last one was `sinceMs` ago. */
export function needsWrite(
  before: BrowserPoolStatus | undefined,
  next: BrowserPoolStatus,
  sinceMs: number,
): boolean {
  if (comparable(withoutSentences(next)) !== comparable(withoutSentences(before ?? {})))
    return true;
  return sinceMs >= SENTENCES_EVERY_MS && comparable(next) !== comparable(before);
}

/** Busy slots and queued renders stay: `kubectl get` shows those of the last look. */
const withoutSentences = ({ conditions = [], ...rest }: BrowserPoolStatus) => ({
  ...rest,
  conditions: conditions.map(({ message: _message, ...condition }) => condition),
});

/**
 * The same text for the same values, whatever the order of their fields: the API server has its
 * own.
 */
const comparable = (value: unknown): string =>
  JSON.stringify(value, (_key, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
