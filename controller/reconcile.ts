// Reconciles one pool: observe, decide, act, report. Level-triggered and idempotent: it reads the
// whole state of the pool each time.
import type { Log } from '../common/log.ts';
import { type BrowserPool, type BrowserPoolSpec, specSchema } from '../crds/browser-pool.ts';
import { NotOwned, type PoolActions } from './act.ts';
import type { PoolMetrics } from './controller-metrics.ts';
import { decide } from './decide/decide.ts';
import { type History, noHistory } from './decide/model.ts';
import type { Events } from './kubernetes/events.ts';
import { newestOf } from './kubernetes/newest.ts';
import type { Pod } from './kubernetes/objects.ts';
import type { Kubernetes } from './kubernetes/resources.ts';
import { hasStatus, KubernetesError } from './kubernetes/transport.ts';
import type { Watches } from './kubernetes/watches.ts';
import type { LoadCache, PoolLoad } from './load/load-cache.ts';
import { type DeploymentSeen, observe, seeDeployment, seePods } from './observe.ts';
import { noReports, Reporter, type ReportHistory } from './report.ts';
import { poolStatusOf } from './status.ts';

interface Options {
  api: Kubernetes;
  store: Pick<Watches, 'pool' | 'podsOf'>;
  loadCache: Pick<LoadCache, 'of'>;
  act: PoolActions;
  events: Events;
  metrics: PoolMetrics;
  log: Log;
  /** Monotonic, in milliseconds. */
  clock?: () => number;
  date?: () => Date;
}

/** State of a pool between two runs. */
interface PoolState {
  uid: string;
  history: History;
  reports: ReportHistory;
  /** Consecutive failures. */
  failures: number;
  /** The desired size before a change that is not in the status yet. */
  desiredBefore?: number | undefined;
}

export class Reconciler {
  readonly #options: Options;
  readonly #clock: () => number;
  readonly #date: () => Date;
  readonly #reporter: Reporter;
  readonly #states = new Map<string, PoolState>();
  /** The last known version of each pool, to clean up after a deleted one. */
  readonly #lastSeen = new Map<string, BrowserPool>();

  constructor(options: Options) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    this.#date = options.date ?? (() => new Date());
    this.#reporter = new Reporter(options);
  }

  /**
   * Resolves with the time in ms until the next run, or with undefined to wait for a change.
   * Rejects on failure.
   */
  async reconcile(key: string): Promise<number | undefined> {
    const stored = this.#options.store.pool(key);
    if (!stored) return void this.#forget(key);
    this.#lastSeen.set(key, stored);
    // The garbage collector deletes the owned objects.
    if (stored.metadata.deletionTimestamp) return undefined;
    const parsed = specSchema.safeParse(stored.spec);
    if (!parsed.success) {
      const problems = parsed.error.issues.map(
        ({ path, message }) => `${path.join('.')}: ${message}`,
      );
      throw new Error(`invalid spec of pool ${key}: ${problems.join('; ')}`);
    }
    return await this.#reconcile(key, stored, parsed.data);
  }

  /** Forgets all pools, because another controller leads or has led. */
  forgetAll(): void {
    this.#states.clear();
    this.#lastSeen.clear();
  }

  #forget(key: string): void {
    this.#states.delete(key);
    const pool = this.#lastSeen.get(key);
    if (pool) {
      this.#options.act.forget(pool);
      this.#options.metrics.forget(pool);
    }
    this.#lastSeen.delete(key);
  }

  #stateOf(key: string, uid: string, now: number): PoolState {
    const existing = this.#states.get(key);
    if (existing?.uid === uid) return existing;
    const state: PoolState = { uid, history: noHistory(now), reports: noReports(), failures: 0 };
    this.#states.set(key, state);
    return state;
  }

  async #reconcile(key: string, stored: BrowserPool, spec: BrowserPoolSpec): Promise<number> {
    const { act, store, loadCache, metrics } = this.#options;
    const { namespace, name, uid } = stored.metadata;
    const now = this.#clock();
    const state = this.#stateOf(key, uid, now);
    const { status } = newestOf(stored, state.reports.written);
    const pool: BrowserPool = { ...stored, spec, ...(status && { status }) };
    const pods = store.podsOf(namespace, name);
    const podsSeen = seePods(pods);
    const before = seeDeployment(await act.deployment(pool));
    const load = loadCache.of(namespace, name);
    const seen = observe(before, podsSeen, load);
    const decision = decide(pool.spec, seen, state.history, now);
    this.#reporter.pageEnds(state.reports, pool, load, now);

    let deployment = before;
    let failure: unknown;
    if (!pool.spec.paused) {
      try {
        deployment = await this.#apply(pool, pods, load, before, decision.pods);
        state.history = decision.history;
        if (before?.desired !== decision.pods) {
          state.desiredBefore ??= before?.desired;
          this.#reporter.sizeChanged(pool, before?.desired, decision);
        }
      } catch (error) {
        failure = error;
      }
    }
    state.failures = failure === undefined ? 0 : state.failures + 1;
    const problem =
      failure !== undefined && isReported(failure, state.failures)
        ? (failure as Error).message
        : undefined;
    if (failure !== undefined && problem === undefined) throw failure;
    const report = {
      pool,
      decision,
      load: seen.load,
      deployment: deployment && {
        ...deployment,
        desired: state.desiredBefore ?? deployment.desired,
      },
      pods: podsSeen,
      problem,
    };
    const next = poolStatusOf(report, this.#date());
    metrics.report(report, next.conditions);
    if (await this.#reporter.status(state.reports, stored, next, now))
      state.desiredBefore = undefined;
    if (failure !== undefined) throw failure;
    return decision.requeueAfterMs;
  }

  async #apply(
    pool: BrowserPool,
    pods: readonly Pod[],
    load: PoolLoad,
    before: DeploymentSeen | undefined,
    size: number,
  ): Promise<DeploymentSeen | undefined> {
    if (before && size < before.desired) await this.#rank(pods, load);
    return seeDeployment(await this.#options.act.apply(pool, size));
  }

  /** A missing permission to patch pods does not block scaling: a busy pod drains. */
  async #rank(pods: readonly Pod[], { busyByPod }: PoolLoad): Promise<void> {
    const { act, log } = this.#options;
    await act.rank(pods, busyByPod).catch(error => {
      if (!hasStatus(error, 403)) throw error;
      log.warn(
        { err: error },
        'no permission to set the deletion cost of pods; a scale-down may drain busy pods',
      );
    });
  }
}

/** Other errors are reported from this many consecutive failures on: a short overload passes. */
const REPORTED_FAILURES = 3;

/**
 * Whether an error is reported in the Ready condition. An invalid template is rejected with 400 or
 * 422, or with 500 if the API server cannot decode it. Conflicts are not reported.
 */
function isReported(error: unknown, failures: number): boolean {
  if (error instanceof NotOwned) return true;
  if (!(error instanceof KubernetesError) || error.status === 409) return false;
  return error.status === 400 || error.status === 422 || failures >= REPORTED_FAILURES;
}
