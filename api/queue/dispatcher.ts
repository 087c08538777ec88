// Which render gets which worker's slot, and when: a place in the line, the work on the slot, one retry elsewhere when a worker or its Chrome died.

import { renderFailed } from '../../common/contract/errors.ts';
import type { Metrics } from '../../common/operations.ts';
import type { EgressPolicy } from '../../common/ticket.ts';
import { overShare } from '../accounts/account-errors.ts';
import { BrowserFailed, type OpenSlot, type SlotEndReason, SlotLost, type SlotSession } from '../workers/slot-port.ts';
import type { Workers } from '../workers/workers.ts';
import { dispatchMetrics } from './dispatch-metrics.ts';
import { createQueue, type QueueBounds } from './fair-queue.ts';
import { createLine, type Waiter } from './line.ts';
import type { WaitLimits } from './wait-deadline.ts';

export interface Job {
  accountId: string;
  /** Of a trial: the caller, who is an account of its own for the worker. */
  visitor?: string;
  /** Served only when no other render waits. */
  trial: boolean;
  /** What the request's body holds in memory while it waits. */
  bytes: number;
  /** The request's id, for the worker's log. */
  renderId: string;
  egress: EgressPolicy;
  /** The worker ends the slot when it is this old. */
  maxMs: number;
  /** The client went, or the lease is lost: the job leaves at once. */
  signal: AbortSignal;
}

/** `queued` at the start and once more before a retry, `running` when a slot is open. */
export type DispatchPhase = 'queued' | 'running';

export interface Dispatch<S extends SlotSession> {
  /**
   * Waits for a slot, calls `work` with it, gives it back, and answers as `work` did. `work` rejects with SlotLost when its slot went, with BrowserFailed
   * when Chrome would not go on. `work` may be called twice: a slot that went with its worker or Chrome is replaced once, at the old place in the line.
   * Rejects with render_failed / queue_full, no_worker or worker_lost, with concurrency_limit when the account has its share of the queue, with the signal's reason, or with what `work` threw.
   */
  dispatch<T>(job: Job, work: (session: S) => Promise<T>, onPhase?: (phase: DispatchPhase) => void): Promise<T>;
  /** Renders that wait for a slot. */
  depth(): number;
  /** The same by account, and for how long the first of them has waited. Takes time in proportion to the line's length. */
  waiting(): { byAccount: Map<string, number>; oldestMs: number };
  /** Resolves when nothing waits or runs, at once when that is so now. */
  drained(): Promise<void>;
}

export interface DispatchOptions<S extends SlotSession> {
  queue: QueueBounds & WaitLimits;
  workers: Pick<Workers, 'api' | 'known' | 'pick' | 'claim' | 'room' | 'announce' | 'totals' | 'onChange'>;
  openSlot: OpenSlot<S>;
  /** Signs the tickets. */
  secret: string;
  pool: string;
  metrics: Metrics;
  /** A monotonic clock in ms. */
  now?: () => number;
}

/** The worker or its whole Chrome went. Any other end would come again with the same page. */
const WORTH_A_RETRY: ReadonlySet<SlotEndReason> = new Set(['chrome_died', 'worker_stopping', 'silent', 'closed']);

const isWorthARetry = (error: unknown): boolean =>
  error instanceof BrowserFailed || (error instanceof SlotLost && WORTH_A_RETRY.has(error.end));

export function createDispatch<S extends SlotSession>(options: DispatchOptions<S>): Dispatch<S> {
  const { workers, openSlot, secret, pool, now = () => performance.now() } = options;
  const queue = createQueue<Waiter<S>>(options.queue);
  const oldestWaitMs = () => queue.oldestWaitMs(now());
  const metrics = dispatchMetrics(options.metrics, pool, {
    depth: queue.depth,
    bytes: queue.bytes,
    oldestWaitMs,
    totals: workers.totals,
    waitMs: options.queue.waitMs,
  });
  const line = createLine<S>({ queue, limits: options.queue, workers, openSlot, secret, pool, metrics, now });
  let active = 0;
  let onDrained: (() => void)[] = [];

  async function dispatch<T>(job: Job, work: (session: S) => Promise<T>, onPhase?: (phase: DispatchPhase) => void): Promise<T> {
    job.signal.throwIfAborted();
    let slot = Promise.withResolvers<S>();
    let session: S | undefined;
    const waiter: Waiter<S> = {
      ...job,
      avoid: undefined,
      served(opened) {
        session = opened; // at once, so that an abort before the promise is looked at closes it too
        slot.resolve(opened);
      },
      failed: reason => slot.reject(reason),
    };
    const place = queue.add(waiter, now());
    if (place === 'full') throw queueFull();
    if (place === 'share') throw overShare();

    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => {});
    const onAbort = () => {
      line.leave(place);
      void session?.abandon();
      aborted.reject(job.signal.reason);
    };
    job.signal.addEventListener('abort', onAbort, { once: true });

    try {
      for (let lives = 2; ; ) {
        onPhase?.('queued');
        line.arrived();
        const opened = await Promise.race([aborted.promise, slot.promise]);
        onPhase?.('running');
        try {
          const done = await Promise.race([aborted.promise, work(opened)]);
          opened.close();
          return done;
        } catch (error) {
          // What did not finish may still run: its lease must not be given back, nor the same be rendered elsewhere, before it has surely ended.
          await opened.abandon();
          if (job.signal.aborted) throw job.signal.reason;
          if (!isWorthARetry(error)) throw error;
          if (--lives === 0) throw error instanceof SlotLost ? workerLost(error) : error;
          metrics.retried();
        }
        session = undefined;
        slot = Promise.withResolvers<S>();
        waiter.avoid = new Set([opened.worker]);
        queue.release(place, now());
        queue.rejoin(place, now());
      }
    } finally {
      job.signal.removeEventListener('abort', onAbort);
      line.leave(place);
      queue.release(place, now());
      session?.close();
    }
  }

  const queueFull = () => {
    const retryAfterS = line.comeBackAfterS();
    return renderFailed('queue_full', `Too many renders are waiting. Try it again in ${retryAfterS} s.`, { retryAfterS });
  };

  const workerLost = (cause: SlotLost) =>
    renderFailed(
      'worker_lost',
      'The browser that rendered this ended twice, the second time on another worker or after a restart. Try it again.',
      { cause },
    );

  return {
    async dispatch(job, work, onPhase) {
      active++;
      try {
        return await dispatch(job, work, onPhase);
      } finally {
        if (--active === 0) {
          for (const resolve of onDrained) resolve();
          onDrained = [];
        }
      }
    },
    depth: queue.depth,
    waiting() {
      const byAccount = new Map<string, number>();
      for (const { job } of queue.places()) byAccount.set(job.accountId, (byAccount.get(job.accountId) ?? 0) + 1);
      return { byAccount, oldestMs: oldestWaitMs() };
    },
    drained: () => (active === 0 ? Promise.resolve() : new Promise(resolve => onDrained.push(resolve))),
  };
}
