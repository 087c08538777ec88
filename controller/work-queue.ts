// The work queue of pools to reconcile, as in client-go: each key is queued at most once and
// processed at most once at a time; failures are retried with exponential backoff.
import type { Metrics } from '../common/operations.ts';

/**
 * The maximum is 30 s, not a quarter of an hour as in client-go: the cause of a failure may end
 * without an event.
 */
const BACKOFF_MS = { first: 5, most: 30_000 };

export function createWorkQueue(metrics: Metrics) {
  const waitSeconds = metrics.histogram(
    'pressroom_work_queue_wait_seconds',
    'Time that a pool waited in the work queue.',
    [],
    [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30],
  );
  metrics.gauge('pressroom_work_queue_depth', 'Number of pools in the work queue.', [], gauge =>
    gauge.set(queued.size),
  );
  /** In order; the value is the time when the key was added. */
  const queued = new Map<string, number>();
  const inProgress = new Set<string>();
  const again = new Set<string>();
  const timers = new Map<string, { timer: NodeJS.Timeout; dueMs: number }>();
  const failures = new Map<string, number>();
  const running = new Set<Promise<void>>();
  let handle: ((key: string) => Promise<void>) | undefined;
  let concurrency = 0;
  let stopped = false;

  /** Queues the key. If it is being processed, it is processed again afterwards. */
  function add(key: string): void {
    if (stopped) return;
    clearTimeout(timers.get(key)?.timer);
    timers.delete(key);
    if (inProgress.has(key)) again.add(key);
    else if (!queued.has(key)) queued.set(key, performance.now());
    next();
  }

  /** Queues the key after a delay. The earliest of several delays applies. */
  function addAfter(key: string, ms: number): void {
    if (stopped) return;
    const dueMs = performance.now() + ms;
    const waiting = timers.get(key);
    if (waiting && waiting.dueMs <= dueMs) return;
    clearTimeout(waiting?.timer);
    timers.set(key, { timer: setTimeout(add, ms, key), dueMs });
  }

  async function work(key: string): Promise<void> {
    await handle!(key);
    inProgress.delete(key);
    if (again.delete(key)) add(key);
    else next();
  }

  function next(): void {
    while (handle && !stopped && inProgress.size < concurrency) {
      const [first] = queued;
      if (!first) return;
      const [key, since] = first;
      queued.delete(key);
      inProgress.add(key);
      waitSeconds.observe((performance.now() - since) / 1000);
      const done = work(key).finally(() => running.delete(done));
      running.add(done);
    }
  }

  return {
    add,
    /** Queues the key unless it waits for a retry. For periodic events that resolve no failure. */
    addUnlessFailing(key: string): void {
      if (!failures.has(key) || !timers.has(key)) add(key);
    },
    addAfter,
    /** Queues the key with exponential backoff. */
    addAfterFailure(key: string): void {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      addAfter(key, Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** Math.min(count, 30)));
    },
    /** Resets the backoff of the key after a success. */
    forget: (key: string) => void failures.delete(key),
    depth: () => queued.size,
    /** Processes up to `count` keys at once until `stop`. `work` must not reject. */
    start(count: number, work: (key: string) => Promise<void>): void {
      concurrency = count;
      handle = work;
      next();
    },
    /** Processes no further keys, and waits for those in progress. */
    async stop(): Promise<void> {
      stopped = true;
      for (const { timer } of timers.values()) clearTimeout(timer);
      queued.clear();
      await Promise.all(running);
    },
  };
}
export type WorkQueue = ReturnType<typeof createWorkQueue>;
