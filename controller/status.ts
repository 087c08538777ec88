// Builds the status of a pool, its numbers and conditions, from observation and decision. Pure.
import { isDeepStrictEqual } from 'node:util';
import type {
  BrowserPool,
  BrowserPoolStatus,
  Condition,
  ConditionType,
} from '../crds/browser-pool.ts';
import { countText } from './decide/messages.ts';
import type { Decision, Load, SlowScrape } from './decide/model.ts';
import type { DeploymentSeen, PodsSeen } from './observe.ts';
import { podSelector } from './owned-resources.ts';

export interface PoolReport {
  pool: BrowserPool;
  decision: Decision;
  load: Load;
  deployment: DeploymentSeen | undefined;
  pods: PodsSeen;
  /** Why the objects of the pool could not be written; undefined on success. */
  problem: string | undefined;
}

type Verdict = Pick<Condition, 'status' | 'reason' | 'message'>;
const yes = (reason: string, message: string): Verdict => ({ status: 'True', reason, message });
const no = (reason: string, message: string): Verdict => ({ status: 'False', reason, message });
const unknown = (reason: string, message: string): Verdict => ({
  status: 'Unknown',
  reason,
  message,
});

const capital = (word: string) =>
  word.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The reason of a decision in CamelCase, as in Kubernetes. */
export const reasonOf = (decision: Pick<Decision, 'reason'>): string => capital(decision.reason);

const unknownLoad = ({ reason, message }: Extract<Load, { kind: 'unknown' }>) =>
  no(capital(reason), `${message}. The pool keeps its size.`);

const slowScrapeMessage = ({ intervalMs, queueTimeoutMs }: SlowScrape) =>
  `Prometheus scrapes the API every ${intervalMs / 1_000} s, and queued renders time out after ${queueTimeoutMs / 1_000} s. Renders of a burst may time out before new pods are ready. Scrape the API at least every ${queueTimeoutMs / 2_000} s, preferably every 2 s.`;

const VERDICTS: Record<ConditionType, (report: PoolReport) => Verdict> = {
  Ready({ pool, decision, deployment, pods, problem }) {
    if (problem) return no('NotApplied', problem);
    if (!deployment) return no('NoDeployment', 'The Deployment does not exist yet.');
    const { replicas, ready, updated, observed } = deployment;
    if (!observed)
      return no('RollingOut', 'The Deployment controller has not processed the last change yet.');
    if (pods.problem && ready < decision.pods) return no(pods.problem.reason, pods.problem.message);
    if (ready < decision.pods)
      return no('NotEnoughPods', `${ready} of ${decision.pods} pods are ready.`);
    if (updated < replicas)
      return no('RollingOut', `${updated} of ${replicas} pods are up to date with the spec.`);
    return yes(
      decision.pods === 0 ? 'ScaledToZero' : 'AllReady',
      pool.spec.paused
        ? `Ready pods: ${ready}. Reconciliation is paused.`
        : `Ready pods: ${ready}.`,
    );
  },
  ScalingActive({ pool, load }) {
    if (pool.spec.paused)
      return no('Paused', 'spec.paused is true. The number of pods is not changed.');
    if (pool.spec.replicas !== undefined)
      return no('FixedSize', `spec.replicas is ${pool.spec.replicas}. Autoscaling is disabled.`);
    if (load.kind === 'unknown') return unknownLoad(load);
    return yes('FollowsLoad', 'The number of pods follows the load.');
  },
  ScalingLimited({ decision: { limited } }) {
    if (!limited) return no('WithinLimits', 'The desired number of pods is within the limits.');
    const field = {
      max: 'spec.scaling.maxReplicas',
      min: 'spec.scaling.minReplicas',
      rate: 'the rates of spec.scaling.scaleUp and spec.scaling.scaleDown',
    }[limited.by];
    return yes(
      capital(limited.by),
      `The load requires ${countText(limited.desiredPods, 'pod')}, but the number of pods is limited by ${field}.`,
    );
  },
  MetricsAvailable({ load }) {
    if (load.kind === 'unknown') return unknownLoad(load);
    if (load.partial)
      return yes(
        'Partial',
        'Some processes are missing in Prometheus. The pool does not shrink until their metrics return.',
      );
    if (load.slowScrape) return yes('ScrapedTooRarely', slowScrapeMessage(load.slowScrape));
    return yes('Available', 'Prometheus reports the load.');
  },
  ChromeSandboxed({ pool, deployment, pods }) {
    const { mode } = pool.spec.template.chromeSandbox;
    if (mode === 'Off')
      return no(
        'SwitchedOff',
        "spec.template.chromeSandbox.mode is Off. A page that exploits a flaw in Chrome's renderer can take over the pod.",
      );
    if (pods.sandbox) return no(pods.sandbox.reason, pods.sandbox.message);
    // A worker does not become ready if Chrome cannot use its sandbox.
    if ((deployment?.ready ?? 0) > 0)
      return yes('InUse', `Chrome's sandbox is on in all ready pods (mode ${mode}).`);
    return unknown('NoPod', 'No pod is ready, so the state of the sandbox is unknown.');
  },
};

/** A condition whose status does not change keeps its lastTransitionTime; others get `now`. */
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

/** Formats a time as Kubernetes does, in whole seconds. */
const stamp = (time: Date) => time.toISOString().replace(/\.\d+Z$/, 'Z');

/** The complete status: a server-side apply removes the fields that are missing. */
export function poolStatusOf(
  report: PoolReport,
  now: Date,
): BrowserPoolStatus & { conditions: Condition[] } {
  const { pool, decision, load, deployment, problem } = report;
  // A decision that could not be applied has not changed the size.
  const changed =
    problem === undefined && deployment !== undefined && deployment.desired !== decision.pods;
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
    selector: podSelector(pool.metadata.name),
    ...(changed || !before?.lastScaleTime
      ? { lastScaleTime: stamp(now), lastScaleReason: reasonOf(decision) }
      : { lastScaleTime: before.lastScaleTime, lastScaleReason: before.lastScaleReason }),
    conditions: conditionsOf(report, now),
  };
}

/** Conditions whose changes are reported as Events, each with its bad status. */
export const WORSE: Record<string, string> = {
  MetricsAvailable: 'False',
  ChromeSandboxed: 'False',
  ScalingLimited: 'True',
};

/** Conditions of `after` whose change is reported as an Event. */
export function changedFor(
  before: BrowserPoolStatus | undefined,
  after: BrowserPoolStatus,
): Condition[] {
  const was = new Map(before?.conditions?.map(condition => [condition.type, condition]));
  // The first status of a new pool is reported only if it is bad. The limit minReplicas is never
  // reported.
  return (after.conditions ?? []).filter(({ type, status, reason }) => {
    const old = was.get(type);
    if (!(type in WORSE) || reason === 'Min' || old?.reason === 'Min') return false;
    return old ? old.status !== status : WORSE[type] === status;
  });
}

/** Messages of conditions change with each observation. They are written at most this often. */
const MESSAGES_EVERY_MS = 15_000;

/** Whether `next` has to be written, given that the last write was `sinceMs` ago. */
export function needsWrite(
  before: BrowserPoolStatus = {},
  next: BrowserPoolStatus,
  sinceMs: number,
): boolean {
  if (!isSame(withoutMessages(next), withoutMessages(before))) return true;
  return sinceMs >= MESSAGES_EVERY_MS && !isSame(next, before);
}

/** Busy slots and queued renders are compared, because `kubectl get` shows them. */
const withoutMessages = ({ conditions = [], ...rest }: BrowserPoolStatus) => ({
  ...rest,
  conditions: conditions.map(({ message: _message, ...condition }) => condition),
});

const asJson = (status: object): unknown => JSON.parse(JSON.stringify(status));
/** In any order of fields, because the API server may return them in another one. */
const isSame = (a: object, b: object) => isDeepStrictEqual(asJson(a), asJson(b));
