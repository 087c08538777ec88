// One look at one pool: observe, decide, act, tell. By level: a name comes in, the whole truth is read, and twice changes nothing.
import type { Log } from '../common/log.ts';
import { type BrowserPool, type BrowserPoolStatus, type Condition, GROUP, KIND, specSchema, VERSION } from '../crds/browser-pool.ts';
import type { Act } from './act.ts';
import { NotOurs } from './act.ts';
import type { PoolMetrics } from './controller-metrics.ts';
import { type Decision, decide, type History, noHistory } from './decide.ts';
import type { Events } from './kubernetes/events.ts';
import type { Kubernetes } from './kubernetes/resources.ts';
import { KubernetesError } from './kubernetes/transport.ts';
import type { Loads } from './loads.ts';
import { observe, type Pod, seeDeployment, seePods } from './observe.ts';
import { reasonWord, statusOf, worthTelling } from './status.ts';

/** What the watches know. */
export interface Known {
  pool(key: string): BrowserPool | undefined;
  podsOf(namespace: string, pool: string): Pod[];
}

interface Options {
  api: Kubernetes;
  known: Known;
  loads: Pick<Loads, 'of'>;
  act: Act;
  events: Events;
  metrics: PoolMetrics;
  log: Log;
  /** Milliseconds that only grow. */
  clock?: () => number;
  date?: () => Date;
}

/** What is remembered of a pool between looks. */
interface Memory {
  uid: string;
  history: History;
  toldAt: number;
  /** In a row. */
  failures: number;
  /** The last status that was written: the watch may not have brought it back yet. */
  told: BrowserPoolStatus | undefined;
}

export interface Reconcile {
  /** Resolves with when to look again, in ms; undefined: when something changes. Rejects when it did not work. */
  (key: string): Promise<number | undefined>;
  /** Everything that was remembered goes: of a time without the lead. */
  forgetAll(): void;
}

export function createReconcile(options: Options): Reconcile {
  const { api, known, loads, act, events, metrics, log, clock = () => performance.now(), date = () => new Date() } = options;
  const memories = new Map<string, Memory>();
  const gone = new Map<string, BrowserPool>();

  async function reconcile(key: string): Promise<number | undefined> {
    const stored = known.pool(key);
    if (!stored) return void forget(key);
    gone.set(key, stored);
    // Its children go with it, by their owner references.
    if (stored.metadata.deletionTimestamp) return undefined;
    const parsed = specSchema.safeParse(stored.spec);
    if (!parsed.success) {
      log.error(
        { pool: key, problems: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) },
        'the spec of a pool is wrong',
      );
      throw new Error(`the spec of pool ${key} is wrong`);
    }
    return await look(key, { ...stored, spec: parsed.data });
  }

  function forget(key: string): void {
    memories.delete(key);
    const pool = gone.get(key);
    if (pool) {
      act.forget(pool);
      metrics.forget(pool);
    }
    gone.delete(key);
  }

  async function look(key: string, pool: BrowserPool): Promise<number> {
    const { namespace, name, uid } = pool.metadata;
    const now = clock();
    let memory = memories.get(key);
    if (memory?.uid !== uid) {
      memory = { uid, history: noHistory(now), toldAt: Number.NEGATIVE_INFINITY, failures: 0, told: undefined };
      memories.set(key, memory);
    }
    const pods = known.podsOf(namespace, name);
    const podsSeen = seePods(pods);
    let deployment = seeDeployment(act.deployment(pool));
    const load = loads.of(namespace, name);
    const seen = observe(deployment, podsSeen, load);
    const decision = decide(pool.spec, seen, memory.history, now);

    let failure: unknown;
    const before = deployment;
    if (!pool.spec.paused) {
      try {
        if (before && decision.pods < before.wanted) await act.rank(pods, load.busyByPod);
        deployment = seeDeployment(await act.apply(pool, decision.pods));
        memory.history = decision.history;
        if (before?.wanted !== decision.pods) tellChange(pool, before?.wanted, decision);
      } catch (error) {
        failure = error;
      }
    }
    memory.failures = failure === undefined ? 0 : memory.failures + 1;
    const problem = failure !== undefined && worthACondition(failure, memory.failures) ? (failure as Error).message : undefined;
    if (failure !== undefined && problem === undefined) throw failure;
    const told = {
      pool,
      decision,
      load: seen.load,
      deployment: before && deployment ? { ...deployment, wanted: before.wanted } : deployment,
      pods: podsSeen,
      problem,
    };
    metrics.told(told);
    await tell(memory, pool, statusOf(told, date()), now);
    if (failure !== undefined) throw failure;
    return decision.lookAgainMs;
  }

  function tellChange(pool: BrowserPool, from: number | undefined, decision: Decision): void {
    const to = decision.pods;
    const { namespace, name } = pool.metadata;
    metrics.decided(pool, decision.reason);
    log.info({ namespace, pool: name, from, to, reason: decision.reason, why: decision.message }, 'the size of a pool changes');
    const action = from === undefined ? 'Created' : to > from ? 'ScaledUp' : 'ScaledDown';
    events.tell(pool, {
      type: 'Normal',
      reason: reasonWord(decision),
      action,
      note: `${from === undefined ? '' : `${from} to `}${to} pods. ${decision.message}`,
    });
  }

  async function tell(memory: Memory, pool: BrowserPool, status: BrowserPoolStatus, now: number): Promise<void> {
    const before = memory.told ?? pool.status;
    if (!worthTelling(before, status, now - memory.toldAt)) return;
    const { name, namespace } = pool.metadata;
    await api.apply(
      'browserpools',
      { apiVersion: `${GROUP}/${VERSION}`, kind: KIND, metadata: { name, namespace }, status } as never,
      'status',
    );
    memory.toldAt = now;
    memory.told = status;
    for (const condition of changedFor(before, status)) {
      const isBad = WORSE[condition.type] === condition.status;
      const { type, status, reason, message } = condition;
      log[isBad ? 'warn' : 'info'](
        { namespace, pool: name, condition: type, status, reason, why: message },
        'a condition of a pool changes',
      );
      events.tell(pool, {
        type: isBad ? 'Warning' : 'Normal',
        reason: condition.reason,
        action: 'Observed',
        note: `${condition.type} is ${condition.status}. ${condition.message}`,
      });
    }
  }

  return Object.assign(reconcile, { forgetAll: () => memories.clear() });
}

/** Conditions about which an Event is worth its while when their status changes, and the status that is bad news. */
const WORSE: Record<string, string> = { MetricsAvailable: 'False', ChromeSandboxed: 'False', ScalingLimited: 'True' };

function changedFor(before: BrowserPoolStatus | undefined, after: BrowserPoolStatus): Condition[] {
  const was = new Map(before?.conditions?.map(({ type, status }) => [type, status]));
  // What a new pool begins with is no news, unless it is bad.
  return (after.conditions ?? []).filter(
    ({ type, status, reason }) =>
      type in WORSE &&
      was.get(type) !== status &&
      (was.has(type) || WORSE[type] === status) &&
      // That a pool is as small as it may be is its owner's wish.
      reason !== 'Min',
  );
}

/** What a conflict or a moment's overload keeps from being done passes; what is refused again and again the pool's owner must know. */
const PASSES_WITHIN = 3;

/** A template that the API server cannot read is its inner error (500), one that it does not take is 400 or 422. */
function worthACondition(error: unknown, failures: number): boolean {
  if (error instanceof NotOurs) return true;
  if (!(error instanceof KubernetesError) || error.status === 409) return false;
  return error.status === 400 || error.status === 422 || failures >= PASSES_WITHIN;
}
