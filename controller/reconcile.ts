// One look at one pool: observe, decide, act, tell. By level: a name comes in, the whole truth is read, and twice changes nothing.
import type { Log } from '../common/log.ts';
import { type BrowserPool, type BrowserPoolSpec, type BrowserPoolStatus, GROUP, KIND, specSchema, VERSION } from '../crds/browser-pool.ts';
import type { Act } from './act.ts';
import { NotOurs } from './act.ts';
import type { PoolMetrics } from './controller-metrics.ts';
import { decide } from './decide/decide.ts';
import { type Decision, type History, noHistory } from './decide/model.ts';
import type { Events } from './kubernetes/events.ts';
import { type Newest, newestOf, wrote } from './kubernetes/newest.ts';
import type { Pod } from './kubernetes/objects.ts';
import type { Kubernetes } from './kubernetes/resources.ts';
import { hasStatus, KubernetesError } from './kubernetes/transport.ts';
import type { Loads, PoolLoad } from './loads.ts';
import { observe, seeDeployment, seePods } from './observe.ts';
import { PAGE_ENDS_MINUTES, pageEndsNote } from './page-ends.ts';
import { changedFor, reasonWord, statusOf, WORSE, worthTelling } from './status.ts';

/** How soon a status is tried again that was refused. */
const TELL_AGAIN_MS = 15_000;

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
  /** Not before this, since it was refused. */
  tellAfter: number;
  /** The next Event about pages that hit bounds is written not before this. */
  pageEndsAfter: number;
  /** In a row. */
  failures: number;
  /** The pool as the last write of its status gave it: the watch may not have brought it back yet. */
  told: Newest<BrowserPool> | undefined;
  /** Pods that were wanted before a change of the size that no status tells of yet. */
  wantedBefore?: number | undefined;
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
      const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
      throw new Error(`the spec of pool ${key} is wrong: ${problems.join('; ')}`);
    }
    return await look(key, stored, parsed.data);
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

  async function look(key: string, stored: BrowserPool, spec: BrowserPoolSpec): Promise<number> {
    const { namespace, name, uid } = stored.metadata;
    const now = clock();
    let memory = memories.get(key);
    if (memory?.uid !== uid) {
      memory = {
        uid,
        history: noHistory(now),
        toldAt: Number.NEGATIVE_INFINITY,
        tellAfter: Number.NEGATIVE_INFINITY,
        pageEndsAfter: Number.NEGATIVE_INFINITY,
        failures: 0,
        told: undefined,
      };
      memories.set(key, memory);
    }
    const { status } = newestOf(stored, memory.told);
    const pool: BrowserPool = { ...stored, spec, ...(status && { status }) };
    const pods = known.podsOf(namespace, name);
    const podsSeen = seePods(pods);
    let deployment = seeDeployment(await act.deployment(pool));
    const load = loads.of(namespace, name);
    const seen = observe(deployment, podsSeen, load);
    const decision = decide(pool.spec, seen, memory.history, now);
    tellPageEnds(memory, pool, load, now);

    let failure: unknown;
    const before = deployment;
    if (!pool.spec.paused) {
      try {
        if (before && decision.pods < before.wanted) await rank(pods, load);
        deployment = seeDeployment(await act.apply(pool, decision.pods));
        memory.history = decision.history;
        if (before?.wanted !== decision.pods) {
          memory.wantedBefore ??= before?.wanted;
          tellChange(pool, before?.wanted, decision);
        }
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
      deployment: deployment && { ...deployment, wanted: memory.wantedBefore ?? deployment.wanted },
      pods: podsSeen,
      problem,
    };
    const next = statusOf(told, date());
    metrics.told(told, next.conditions);
    await tellIfPossible(memory, stored, next, now);
    if (failure !== undefined) throw failure;
    return decision.lookAgainMs;
  }

  /** A missing right to rank pods keeps no pool from its size: a pod that renders drains. */
  async function rank(pods: readonly Pod[], { busyByPod }: PoolLoad): Promise<void> {
    await act.rank(pods, busyByPod).catch(error => {
      if (!hasStatus(error, 403)) throw error;
      log.warn({ err: error }, 'pods cannot be ranked before a pool shrinks: some that render may have to drain');
    });
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

  /** At most once in the time that the numbers are of, so that each end is in one Event. */
  function tellPageEnds(memory: Memory, pool: BrowserPool, { pageEnds }: PoolLoad, now: number): void {
    const note = now < memory.pageEndsAfter ? undefined : pageEndsNote(pageEnds);
    if (note === undefined) return;
    memory.pageEndsAfter = now + PAGE_ENDS_MINUTES * 60_000;
    events.tell(pool, { type: 'Warning', reason: 'PagesHitBounds', action: 'Observed', note });
  }

  /** A status that is refused keeps no pool from its size either. It is tried again in a while. */
  async function tellIfPossible(memory: Memory, pool: BrowserPool, status: BrowserPoolStatus, now: number): Promise<void> {
    if (now < memory.tellAfter) return;
    try {
      await tell(memory, pool, status, now);
      memory.wantedBefore = undefined;
    } catch (error) {
      if (!(error instanceof KubernetesError) || error.status === 409) throw error;
      memory.tellAfter = now + TELL_AGAIN_MS;
      const { namespace, name } = pool.metadata;
      log.warn({ namespace, pool: name, err: error }, 'the status of a pool could not be written; trying again in a while');
    }
  }

  async function tell(memory: Memory, pool: BrowserPool, status: BrowserPoolStatus, now: number): Promise<void> {
    const newest = newestOf(pool, memory.told);
    const before = newest.status;
    if (!worthTelling(before, status, now - memory.toldAt)) return;
    const { name, namespace, resourceVersion } = newest.metadata;
    // With its version: what a leader that was frozen, or a look at a pool that was made anew, would say late is refused.
    const metadata = { name, namespace, resourceVersion };
    const written = await api.apply<BrowserPool>(
      'browserpools',
      { apiVersion: `${GROUP}/${VERSION}`, kind: KIND, metadata, status } as never,
      'status',
    );
    memory.toldAt = now;
    memory.told = wrote(written, pool, memory.told);
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

  return Object.assign(reconcile, {
    forgetAll() {
      memories.clear();
      gone.clear();
    },
  });
}

/** What a conflict or a moment's overload keeps from being done passes; what is refused again and again the pool's owner must know. */
const PASSES_WITHIN = 3;

/** A template that the API server cannot read is its inner error (500), one that it does not take is 400 or 422. */
function worthACondition(error: unknown, failures: number): boolean {
  if (error instanceof NotOurs) return true;
  if (!(error instanceof KubernetesError) || error.status === 409) return false;
  return error.status === 400 || error.status === 422 || failures >= PASSES_WITHIN;
}
