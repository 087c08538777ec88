// Takes pools from the work queue and reconciles them. A failed pool is retried with backoff.
import type { Service } from '../common/lifecycle.ts';
import type { Log } from '../common/log.ts';
import type { Metrics } from '../common/operations.ts';
import type { Events } from './kubernetes/events.ts';
import { type Leader, NotLeader } from './kubernetes/leader.ts';
import { hasStatus } from './kubernetes/transport.ts';
import type { Watches } from './kubernetes/watches.ts';
import type { LoadCache } from './load/load-cache.ts';
import type { Reconciler } from './reconcile.ts';
import type { WorkQueue } from './work-queue.ts';

/** Pools that are reconciled at the same time. */
const CONCURRENCY = 8;
/** Delay of a pool that was queued before the load was read for the first time. */
const NOT_BEGUN_MS = 100;

const namespaceOf = (key: string) => key.split('/', 1)[0]!;

interface Deps {
  queue: WorkQueue;
  reconciler: Pick<Reconciler, 'reconcile'>;
  leader: Leader;
  watches: Watches;
  loadCache: LoadCache;
  events: Events;
  log: Log;
  metrics: Metrics;
}

export class ReconcileLoop implements Service {
  readonly name = 'reconcile';
  readonly #deps: Deps;
  readonly #seconds;
  readonly #lastFailure = new Map<string, string>();

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#seconds = deps.metrics.histogram(
      'pressroom_reconcile_duration_seconds',
      'Duration of a reconciliation by outcome.',
      ['outcome'],
      [0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 10],
    );
    // Initialized, because a rate misses the first increase of a new series.
    for (const outcome of ['ok', 'conflict', 'error']) this.#seconds.zero({ outcome });
  }

  async start(): Promise<void> {
    this.#deps.queue.start(CONCURRENCY, key => this.#work(key));
  }

  async stop(): Promise<void> {
    await this.#deps.queue.stop();
    await this.#deps.events.flush();
  }

  async #work(key: string): Promise<void> {
    const { queue, reconciler, leader, watches, loadCache } = this.#deps;
    // With a partial list, pods would seem to be missing. The pool is added again at the next
    // refresh of the load.
    if (!leader.leading() || !watches.synced(namespaceOf(key))) return;
    if (!loadCache.begun()) return queue.addAfter(key, NOT_BEGUN_MS);
    const end = this.#seconds.startTimer();
    try {
      const again = await reconciler.reconcile(key);
      end({ outcome: 'ok' });
      queue.forget(key);
      this.#lastFailure.delete(key);
      if (again !== undefined) queue.addAfter(key, again);
    } catch (error) {
      end({ outcome: hasStatus(error, 409) ? 'conflict' : 'error' });
      if (!(error instanceof NotLeader)) this.#failed(key, error as Error);
    }
  }

  #failed(key: string, error: Error): void {
    // The same failure in a row is logged once.
    const level =
      hasStatus(error, 409) || this.#lastFailure.get(key) === error.message ? 'debug' : 'warn';
    this.#deps.log[level]({ pool: key, err: error }, 'could not reconcile the pool; retrying');
    this.#lastFailure.set(key, error.message);
    this.#deps.queue.addAfterFailure(key);
  }
}
