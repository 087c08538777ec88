// Which pools are to be looked at, and when: each at most once in the line and once at work,
// failures later and later. Like the one of client-go.
import type { Metrics } from '../common/operations.ts';

/**
 * What keeps a pool from its size may end at any time without a sign: it is not left for a quarter
 * of an hour, as client-go would.
 */
const BACKOFF_MS = { first: 5, most: 30_000 };

export interface WorkQueue {
  /**
   * Looks at it as soon as the concurrency allows. A key that is at work is processed once more
   * afterwards.
   */
  add(key: string): void;
  /**
   * The same, unless it waits for its time after a failure: for what comes again and again, and is
   * no reason to hope that it goes well now.
   */
  addUnlessFailing(key: string): void;
  /** The same, in a while; the soonest of several counts. */
  addAfter(key: string, ms: number): void;
  /** The same after a failure: later at each further one. */
  addAfterFailure(key: string): void;
  /** It went well: the next failure is a first one. */
  forget(key: string): void;
  depth(): number;
  /** Works on so many keys at once until `stop`. `work` must not reject. */
  start(concurrency: number, work: (key: string) => Promise<void>): void;
  /** Takes nothing more, and waits for what is at work. */
  stop(): Promise<void>;
}

export function createWorkQueue(metrics: Metrics): WorkQueue {
  const waitSeconds = metrics.histogram(
    'pressroom_work_queue_wait_seconds',
    'How long a pool waited to be looked at.',
    [],
    [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30],
  );
  metrics.gauge('pressroom_work_queue_depth', 'Pools that wait to be looked at.', [], gauge =>
    gauge.set(line.size),
  );
  /** In order; the value is when it was added. */
  const line = new Map<string, number>();
  const atWork = new Set<string>();
  const again = new Set<string>();
  const timers = new Map<string, { timer: NodeJS.Timeout; dueMs: number }>();
  const failures = new Map<string, number>();
  const running = new Set<Promise<void>>();
  let handle: ((key: string) => Promise<void>) | undefined;
  let concurrency = 0;
  let stopped = false;

  function add(key: string): void {
    if (stopped) return;
    const waiting = timers.get(key);
    if (waiting) clearTimeout(waiting.timer);
    timers.delete(key);
    if (atWork.has(key)) again.add(key);
    else if (!line.has(key)) line.set(key, performance.now());
    next();
  }

  function addAfter(key: string, ms: number): void {
    if (stopped) return;
    const dueMs = performance.now() + ms;
    const waiting = timers.get(key);
    if (waiting && waiting.dueMs <= dueMs) return;
    if (waiting) clearTimeout(waiting.timer);
    timers.set(key, { timer: setTimeout(add, ms, key), dueMs });
  }

  async function work(key: string): Promise<void> {
    try {
      await handle!(key);
    } finally {
      atWork.delete(key);
      if (again.delete(key)) add(key);
    }
  }

  function next(): void {
    while (handle && !stopped && atWork.size < concurrency) {
      const [first] = line;
      if (!first) return;
      const [key, since] = first;
      line.delete(key);
      atWork.add(key);
      waitSeconds.observe((performance.now() - since) / 1000);
      const done = work(key).finally(() => {
        running.delete(done);
        next();
      });
      running.add(done);
    }
  }

  return {
    add,
    addUnlessFailing(key) {
      if (!failures.has(key) || !timers.has(key)) add(key);
    },
    addAfter,
    addAfterFailure(key) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      addAfter(key, Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** Math.min(count, 30)));
    },
    forget: key => void failures.delete(key),
    depth: () => line.size,
    start(count, work) {
      concurrency = count;
      handle = work;
      next();
    },
    async stop() {
      stopped = true;
      for (const { timer } of timers.values()) clearTimeout(timer);
      timers.clear();
      line.clear();
      await Promise.all(running);
    },
  };
}
