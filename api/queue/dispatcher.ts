// Assigns each render a slot of a worker: its queue entry, the work on the slot, and one retry
// elsewhere when a worker or its Chrome dies. Driven by events (a render arrives, a worker reports,
// a slot opens or not) and by two timers: the end of the oldest wait, and a retry for throttled
// renders.
import { renderFailed } from '../../common/contract/errors.ts';
import type { Metrics } from '../../common/operations.ts';
import { type EgressPolicy, signTicket } from '../../common/ticket.ts';
import { overShare } from '../accounts/account-errors.ts';
import type { WorkerRegistry } from '../workers/registry.ts';
import {
  BrowserFailed,
  type OpenSlot,
  type SlotEndReason,
  SlotLost,
  SlotRejected,
  type SlotSession,
  WorkerUnreachable,
} from '../workers/slot-port.ts';
import { Announcer } from './announcer.ts';
import { type DispatchMetrics, dispatchMetrics } from './dispatch-metrics.ts';
import { FairQueue, type QueueBounds, type QueueEntry } from './fair-queue.ts';
import { WaitDeadlines, type WaitLimits } from './wait-deadline.ts';

export interface Job {
  accountId: string;
  /** Of a trial: the anonymous client, which is an account of its own for the worker. */
  clientHash?: string;
  /** Served only when no other render waits. */
  trial: boolean;
  /** Memory that the request's body holds while it waits. */
  bytes: number;
  /** The request's id, for the worker's log. */
  renderId: string;
  egress: EgressPolicy;
  /** The document is static: a page that served the account before may be used. */
  isolation?: 'warm';
  /** The worker ends the slot when it is this old. */
  maxMs: number;
  /** The client disconnected, or the lease is lost: the job ends at once. */
  signal: AbortSignal;
}

/** `queued` at the start and once more before a retry, `running` when a slot is open. */
export type DispatchPhase = 'queued' | 'running';

export interface DispatcherOptions<S extends SlotSession> {
  queue: QueueBounds & WaitLimits;
  workers: Pick<
    WorkerRegistry,
    'api' | 'known' | 'pick' | 'reserve' | 'capacity' | 'announce' | 'totals' | 'onChange'
  >;
  openSlot: OpenSlot<S>;
  /** Signs the tickets. */
  secret: string;
  pool: string;
  metrics: Metrics;
  /** A monotonic clock in ms. */
  now?: () => number;
}

/** A job in the queue. */
interface Waiter<S> extends Job {
  /** The worker that died under it. */
  avoid: ReadonlySet<string> | undefined;
  opened(session: S): void;
  failed(reason: unknown): void;
}

/**
 * How soon throttled renders are checked again: no event occurs when other accounts stop being
 * active.
 */
const THROTTLED_RETRY_MS = 250;

/** The worker or its whole Chrome died. Any other end would occur again with the same page. */
const RETRYABLE: ReadonlySet<SlotEndReason> = new Set([
  'chrome_died',
  'worker_stopping',
  'silent',
  'closed',
]);

const isRetryable = (error: unknown): boolean =>
  error instanceof BrowserFailed || (error instanceof SlotLost && RETRYABLE.has(error.end));

/**
 * How opening a slot failed. A slot that was lost before it was open counts as an unreachable
 * worker.
 */
function outcomeOf(error: unknown, signal: AbortSignal): 'refused' | 'unreachable' | 'cancelled' {
  if (signal.aborted) return 'cancelled';
  if (error instanceof SlotRejected) return 'refused';
  return error instanceof WorkerUnreachable || error instanceof SlotLost
    ? 'unreachable'
    : 'cancelled';
}

const workerLost = (cause: SlotLost) =>
  renderFailed(
    'worker_lost',
    'The browser exited twice during this render, the second time on another worker or after a restart. Try again.',
    { cause },
  );

export class Dispatcher<S extends SlotSession> {
  readonly #options: DispatcherOptions<S>;
  readonly #now: () => number;
  readonly #queue: FairQueue<Waiter<S>>;
  readonly #deadlines: WaitDeadlines<QueueEntry<Waiter<S>>>;
  readonly #announcer: Announcer;
  readonly #metrics: DispatchMetrics;
  #throttledTimer: NodeJS.Timeout | undefined;

  constructor(options: DispatcherOptions<S>) {
    const { workers, pool, now = () => performance.now() } = options;
    this.#options = options;
    this.#now = now;
    const queue = new FairQueue<Waiter<S>>(options.queue);
    this.#queue = queue;
    this.#metrics = dispatchMetrics(options.metrics, pool, {
      depth: () => queue.depth(),
      bytes: () => queue.bytes(),
      oldestWaitMs: () => queue.oldestWaitMs(now()),
      totals: () => workers.totals(),
      waitMs: options.queue.waitMs,
    });
    this.#deadlines = new WaitDeadlines(
      {
        limits: options.queue,
        entries: () => queue.entries(),
        expire: entry => this.#expire(entry),
        now,
      },
      workers.known(),
    );
    this.#announcer = new Announcer({ queue, workers, now });
    workers.onChange(() => {
      this.#deadlines.setWorkersKnown(workers.known());
      this.#serve();
    });
  }

  /** Renders that wait for a slot. */
  depth(): number {
    return this.#queue.depth();
  }

  /** Those of them for which no slot is being opened. Without trial renders, which go last. */
  paidWaiting(): number {
    return this.#queue.paidWaiting();
  }

  /**
   * The same by account, and for how long the first of them has waited. Takes time in proportion to
   * the queue's length.
   */
  waiting(): { byAccount: Map<string, number>; oldestMs: number } {
    const byAccount = new Map<string, number>();
    for (const { job } of this.#queue.entries())
      byAccount.set(job.accountId, (byAccount.get(job.accountId) ?? 0) + 1);
    return { byAccount, oldestMs: this.#queue.oldestWaitMs(this.#now()) };
  }

  /**
   * Waits for a slot, calls `work` with it, closes it, and resolves as `work` did. `work` rejects
   * with SlotLost when its slot ended, with BrowserFailed when Chrome failed. `work` may be called
   * twice: a slot that was lost with its worker or Chrome is replaced once, at the former position
   * in the queue. Rejects with render_failed / queue_full, no_worker or worker_lost, with
   * concurrency_limit when the account has its share of the queue, with the signal's reason, or
   * with what `work` threw.
   */
  async dispatch<T>(
    job: Job,
    work: (session: S) => Promise<T>,
    onPhase?: (phase: DispatchPhase) => void,
  ): Promise<T> {
    job.signal.throwIfAborted();
    let slot = Promise.withResolvers<S>();
    let session: S | undefined;
    const waiter: Waiter<S> = {
      ...job,
      avoid: undefined,
      opened(opened) {
        session = opened; // at once, so that an abort before the promise settles closes it too
        slot.resolve(opened);
      },
      failed: reason => slot.reject(reason),
    };
    const entry = this.#add(waiter);

    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => {});
    const onAbort = () => {
      this.#remove(entry);
      void session?.abandon();
      aborted.reject(job.signal.reason);
    };
    job.signal.addEventListener('abort', onAbort, { once: true });

    try {
      for (let attempts = 2; ; ) {
        onPhase?.('queued');
        this.#deadlines.added();
        this.#serve();
        const opened = await Promise.race([aborted.promise, slot.promise]);
        onPhase?.('running');
        try {
          const done = await Promise.race([aborted.promise, work(opened)]);
          opened.close();
          return done;
        } catch (error) {
          // The work may still run. Until it has surely ended, its lease must not be released and
          // the render must not run elsewhere.
          await opened.abandon();
          if (job.signal.aborted) throw job.signal.reason;
          if (!isRetryable(error)) throw error;
          if (--attempts === 0) throw error instanceof SlotLost ? workerLost(error) : error;
          this.#metrics.retried();
        }
        session = undefined;
        slot = Promise.withResolvers<S>();
        waiter.avoid = new Set([opened.worker]);
        this.#queue.release(entry, this.#now());
        this.#queue.reenqueue(entry, this.#now());
      }
    } finally {
      job.signal.removeEventListener('abort', onAbort);
      this.#remove(entry);
      this.#queue.release(entry, this.#now());
      session?.close();
    }
  }

  #add(waiter: Waiter<S>): QueueEntry<Waiter<S>> {
    const entry = this.#queue.add(waiter, this.#now());
    if (entry === 'share') throw overShare();
    if (entry !== 'full') return entry;
    const retryAfterS = this.#retryAfterS();
    throw renderFailed(
      'queue_full',
      `Too many renders are queued. Try again in ${retryAfterS} s.`,
      { retryAfterS },
    );
  }

  /**
   * Opens free slots for the renders that are next. A retry that must avoid the free slots lets the
   * others pass.
   */
  #serve(): void {
    const { workers } = this.#options;
    const passedOver: QueueEntry<Waiter<S>>[] = [];
    clearTimeout(this.#throttledTimer);
    while (this.#queue.waiting() > 0 && workers.pick() !== undefined) {
      const entry = this.#queue.take(this.#now(), workers.capacity());
      if (!entry) break;
      const { avoid, isolation, accountId } = entry.job;
      const address = workers.pick(avoid, isolation && accountId);
      if (address === undefined) passedOver.push(entry);
      else void this.#open(entry, address);
    }
    for (const entry of passedOver) this.#queue.undoTake(entry, this.#now());
    if (this.#queue.waiting() > passedOver.length && workers.pick() !== undefined)
      this.#throttledTimer = setTimeout(() => this.#serve(), THROTTLED_RETRY_MS);
    this.#announcer.update();
  }

  async #open(entry: QueueEntry<Waiter<S>>, address: string): Promise<void> {
    const { job } = entry;
    const reservation = this.#options.workers.reserve(address);
    try {
      const session = await this.#options.openSlot(address, this.#ticket(job), job.signal);
      reservation.opened();
      this.#metrics.attempted('opened');
      if (entry.state === 'removed') session.close();
      else {
        this.#remove(entry);
        job.opened(session);
      }
    } catch (error) {
      const outcome = outcomeOf(error, job.signal);
      reservation[outcome]();
      this.#metrics.attempted(outcome);
      if (outcome !== 'cancelled') {
        this.#queue.undoTake(entry, this.#now());
        this.#deadlines.returned(entry);
      } else if (entry.state !== 'removed') {
        this.#remove(entry);
        job.failed(error);
      }
    }
    this.#serve();
  }

  #ticket({ renderId, egress, isolation, accountId, clientHash, maxMs }: Job): string {
    const { workers, secret, pool } = this.#options;
    return signTicket(secret, {
      pool,
      purpose: 'slot',
      renderId,
      egress,
      ...(isolation && { isolation }),
      account: clientHash ?? accountId,
      api: workers.api,
      maxMs,
    });
  }

  #expire(entry: QueueEntry<Waiter<S>>): void {
    const waitedS = Math.round((this.#now() - entry.sinceMs) / 1000);
    const retryAfterS = this.#retryAfterS();
    const why = this.#deadlines.workersKnown
      ? 'No worker had a free slot'
      : 'No worker was connected';
    this.#remove(entry);
    entry.job.failed(
      renderFailed('no_worker', `${why} within ${waitedS} s. Try again later.`, { retryAfterS }),
    );
  }

  /** The oldest wait, in whole seconds from 1 to 30. */
  #retryAfterS(): number {
    return Math.min(30, Math.max(1, Math.ceil(this.#queue.oldestWaitMs(this.#now()) / 1000)));
  }

  #remove(entry: QueueEntry<Waiter<S>>): void {
    this.#queue.remove(entry);
    if (this.#queue.waiting() === 0) this.#announcer.update();
    if (this.#queue.depth() > 0) return;
    this.#deadlines.stop();
    clearTimeout(this.#throttledTimer);
  }
}
