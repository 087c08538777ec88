// Reconciles one pool: observe, decide, act, report. Level-triggered: a name comes in, the whole
// state is read, and running it twice changes nothing.
import type { Log } from '../common/log.ts';
import { type BrowserPool, type BrowserPoolSpec, specSchema } from '../crds/browser-pool.ts';
import type { PoolActions } from './act.ts';
import { NotOurs } from './act.ts';
import type { PoolMetrics } from './controller-metrics.ts';
import { decide } from './decide/decide.ts';
import { type History, noHistory } from './decide/model.ts';
import type { Events } from './kubernetes/events.ts';
import { newestOf } from './kubernetes/newest.ts';
import type { Pod } from './kubernetes/objects.ts';
import type { Kubernetes } from './kubernetes/resources.ts';
import { hasStatus, KubernetesError } from './kubernetes/transport.ts';
import type { LoadCache, PoolLoad } from './load/load-cache.ts';
import { type DeploymentSeen, observe, seeDeployment, seePods } from './observe.ts';
import { noReports, Reporter, type ReportHistory } from './report.ts';
import { poolStatusOf } from './status.ts';

/** The copies of the watches. */
export interface Known {
  pool(key: string): BrowserPool | undefined;
  podsOf(namespace: string, pool: string): Pod[];
}

interface Options {
  api: Kubernetes;
  known: Known;
  loads: Pick<LoadCache, 'of'>;
  act: PoolActions;
  events: Events;
  metrics: PoolMetrics;
  log: Log;
  /** Monotonic, in milliseconds. */
  clock?: () => number;
  date?: () => Date;
}

/** What is remembered of a pool between two runs. */
interface Memory {
  uid: string;
  history: History;
  reports: ReportHistory;
  /** In a row. */
  failures: number;
  /** Pods that were wanted before a change of the size that is in no status yet. */
  wantedBefore?: number | undefined;
}

export class Reconciler {
  readonly #options: Options;
  readonly #clock: () => number;
  readonly #date: () => Date;
  readonly #reporter: Reporter;
  readonly #memories = new Map<string, Memory>();
  /** The pools as they were seen last, for those that are deleted. */
  readonly #lastSeen = new Map<string, BrowserPool>();

  constructor(options: Options) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    this.#date = options.date ?? (() => new Date());
    this.#reporter = new Reporter(options);
  }

  /**
   * Resolves with when to look again, in ms; undefined: when something changes. Rejects when
   * something failed.
   */
  async reconcile(key: string): Promise<number | undefined> {
    const stored = this.#options.known.pool(key);
    if (!stored) return void this.#forget(key);
    this.#lastSeen.set(key, stored);
    // The garbage collector deletes its objects, by their owner references.
    if (stored.metadata.deletionTimestamp) return undefined;
    const parsed = specSchema.safeParse(stored.spec);
    if (!parsed.success) {
      const problems = parsed.error.issues.map(
        ({ path, message }) => `${path.join('.')}: ${message}`,
      );
      throw new Error(`the spec of pool ${key} is wrong: ${problems.join('; ')}`);
    }
    return await this.#look(key, stored, parsed.data);
  }

  /** Forgets all pools: what was remembered is of a time without the lead. */
  forgetAll(): void {
    this.#memories.clear();
    this.#lastSeen.clear();
  }

  #forget(key: string): void {
    this.#memories.delete(key);
    const pool = this.#lastSeen.get(key);
    if (pool) {
      this.#options.act.forget(pool);
      this.#options.metrics.forget(pool);
    }
    this.#lastSeen.delete(key);
  }

  #memoryOf(key: string, uid: string, now: number): Memory {
    const known = this.#memories.get(key);
    if (known?.uid === uid) return known;
    const memory: Memory = { uid, history: noHistory(now), reports: noReports(), failures: 0 };
    this.#memories.set(key, memory);
    return memory;
  }

  async #look(key: string, stored: BrowserPool, spec: BrowserPoolSpec): Promise<number> {
    const { act, known, loads, metrics } = this.#options;
    const { namespace, name, uid } = stored.metadata;
    const now = this.#clock();
    const memory = this.#memoryOf(key, uid, now);
    const { status } = newestOf(stored, memory.reports.written);
    const pool: BrowserPool = { ...stored, spec, ...(status && { status }) };
    const pods = known.podsOf(namespace, name);
    const podsSeen = seePods(pods);
    const before = seeDeployment(await act.deployment(pool));
    const load = loads.of(namespace, name);
    const seen = observe(before, podsSeen, load);
    const decision = decide(pool.spec, seen, memory.history, now);
    this.#reporter.pageEnds(memory.reports, pool, load, now);

    let deployment = before;
    let failure: unknown;
    if (!pool.spec.paused) {
      try {
        deployment = await this.#apply(pool, pods, load, before, decision.pods);
        memory.history = decision.history;
        if (before?.wanted !== decision.pods) {
          memory.wantedBefore ??= before?.wanted;
          this.#reporter.sizeChanged(pool, before?.wanted, decision);
        }
      } catch (error) {
        failure = error;
      }
    }
    memory.failures = failure === undefined ? 0 : memory.failures + 1;
    const problem =
      failure !== undefined && worthACondition(failure, memory.failures)
        ? (failure as Error).message
        : undefined;
    if (failure !== undefined && problem === undefined) throw failure;
    const report = {
      pool,
      decision,
      load: seen.load,
      deployment: deployment && { ...deployment, wanted: memory.wantedBefore ?? deployment.wanted },
      pods: podsSeen,
      problem,
    };
    const next = poolStatusOf(report, this.#date());
    metrics.report(report, next.conditions);
    if (await this.#reporter.status(memory.reports, stored, next, now))
      memory.wantedBefore = undefined;
    if (failure !== undefined) throw failure;
    return decision.lookAgainMs;
  }

  async #apply(
    pool: BrowserPool,
    pods: readonly Pod[],
    load: PoolLoad,
    before: DeploymentSeen | undefined,
    size: number,
  ): Promise<DeploymentSeen | undefined> {
    if (before && size < before.wanted) await this.#rank(pods, load);
    return seeDeployment(await this.#options.act.apply(pool, size));
  }

  /**
   * A missing right to rank pods does not keep the pool from its size: a pod that renders drains.
   */
  async #rank(pods: readonly Pod[], { busyByPod }: PoolLoad): Promise<void> {
    const { act, log } = this.#options;
    await act.rank(pods, busyByPod).catch(error => {
      if (!hasStatus(error, 403)) throw error;
      log.warn(
        { err: error },
        'pods cannot be ranked before a pool shrinks: some that render may have to drain',
      );
    });
  }
}

/**
 * A conflict or a short overload passes; what is refused again and again is reported to the pool's
 * owner.
 */
const PASSES_WITHIN = 3;

/**
 * A template that the API server cannot read is its inner error (500), one that it does not take is
 * 400 or 422.
 */
function worthACondition(error: unknown, failures: number): boolean {
  if (error instanceof NotOurs) return true;
  if (!(error instanceof KubernetesError) || error.status === 409) return false;
  return error.status === 400 || error.status === 422 || failures >= PASSES_WITHIN;
}
