// Starts waiting jobs when slots are free: synchronous renders go first, and accounts take turns.
// Driven by events (a job is submitted, a slot becomes free, a run ends) and a slow poll that finds
// what other processes submitted.
import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { repeatedly, type Service, untilDeadline } from '../../common/lifecycle.ts';
import type { MongoLeases } from '../leases/mongo-leases.ts';
import type { Dispatcher } from '../queue/dispatcher.ts';
import type { JobDocument } from '../store/store.ts';
import type { WorkerRegistry } from '../workers/registry.ts';
import type { Session } from '../workers/session.ts';
import {
  type AdmittedAttempt,
  type AttemptDeps,
  AttemptStopped,
  runAttempt,
} from './job-attempt.ts';
import type { BacklogReader } from './job-backlog.ts';
import { JobChanged } from './job-operations.ts';
import type { JobWatch } from './job-watch.ts';
import { SlotOrder } from './slot-order.ts';

export interface RunnerDeps extends Omit<AttemptDeps, 'leases'> {
  leases: Pick<MongoLeases, 'admitSubmitted' | 'settleWith' | 'release'>;
  workers: Pick<WorkerRegistry, 'capacity' | 'onChange'>;
  dispatcher: Pick<Dispatcher<Session>, 'paidWaiting'>;
  watch: JobWatch;
  backlog: Pick<BacklogReader, 'found'>;
}

/** Half a query a second while nothing waits. */
const POLL_MS = 2_000;
/** Before an account without a free lease is tried again; doubled each time. */
const FIRST_PAUSE_MS = 250;
/** Of an account that waits for long, such as one whose subscription is inactive. */
const LONGEST_PAUSE_MS = 8_000;
/** Jobs that are claimed and read while all slots are busy. */
const PREPARED_AHEAD = 1;
/** What aborted runs have to requeue their jobs after the deadline of a shutdown. */
const ABORTED_MS = 2_000;

/** What this process knows of an account with waiting jobs, or with running ones. */
interface Account {
  /** Jobs may be waiting. */
  waiting: boolean;
  /** A start is under way. There is one at a time, since each shows whether more jobs wait. */
  starting: boolean;
  runs: number;
  /** Those of them whose render has not ended. The others store their PDFs and need no slot. */
  renders: number;
  /** Monotonic. */
  notBeforeMs: number;
  /** The next pause. */
  pauseMs: number;
}

const mayStart = ({ waiting, starting, notBeforeMs }: Account, nowMs: number): boolean =>
  waiting && !starting && notBeforeMs <= nowMs;

export class JobRunner implements Service {
  readonly name = 'asynchronous renders';
  readonly #deps: RunnerDeps;
  readonly #nowMs: () => number;
  /** In the order of their turns. */
  readonly #accounts = new Map<string, Account>();
  readonly #stopping = new AbortController();
  #starting = 0;
  #runs = 0;
  readonly #order = new SlotOrder({
    onChange: () => this.#serve(),
    putBackReason: () => new AttemptStopped(),
  });
  #onIdle: (() => void) | undefined;
  readonly #poll: Service;
  #retry: NodeJS.Timeout | undefined;
  #state: 'new' | 'running' | 'stopping' = 'new';

  constructor(deps: RunnerDeps, nowMs = () => performance.now()) {
    this.#deps = deps;
    this.#nowMs = nowMs;
    this.#poll = repeatedly({
      name: 'poll of waiting jobs',
      everyMs: POLL_MS,
      run: () => this.#findWaiting(),
      log: deps.log,
      failure: 'could not read waiting jobs',
      level: 'debug',
    });
    deps.workers.onChange(() => this.#serve());
  }

  /** Jobs that this process runs. */
  running(): number {
    return this.#runs;
  }

  /** Those of them that wait for a slot. */
  ready(): number {
    return this.#order.ready();
  }

  /** A job of the account was stored. */
  submitted(accountId: string): void {
    this.#account(accountId).waiting = true;
    this.#serve();
  }

  async start(): Promise<void> {
    this.#state = 'running';
    await this.#poll.start();
  }

  /** Lets the running jobs end until the deadline. Those that do not are tried again elsewhere. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#state = 'stopping';
    this.#order.stop();
    clearTimeout(this.#retry);
    const onDeadline = () => this.#stopping.abort(new AttemptStopped());
    deadline.addEventListener('abort', onDeadline);
    if (deadline.aborted) onDeadline();
    await this.#poll.stop(deadline);
    const idle =
      this.#runs + this.#starting === 0
        ? undefined
        : new Promise<void>(resolve => {
            this.#onIdle = resolve;
          });
    await untilDeadline(idle, deadline);
    // Otherwise the database is disconnected before they wait again, and the attempts count.
    if (deadline.aborted) await Promise.race([idle, sleep(ABORTED_MS)]);
    deadline.removeEventListener('abort', onDeadline);
  }

  async #findWaiting(): Promise<void> {
    const nowMs = this.#nowMs();
    // Those without a lease may be deleted by now, or their jobs may have expired.
    const paused = [...this.#accounts].filter(([, { notBeforeMs }]) => notBeforeMs > nowMs);
    for (const [, account] of paused) account.waiting = false;
    const accounts = await this.#deps.operations.accountsWithQueued();
    for (const accountId of accounts) this.#account(accountId).waiting = true;
    for (const [accountId] of paused) this.#forgetUnused(accountId);
    this.#serve();
    await this.#deps.backlog.found(accounts);
  }

  #account(accountId: string): Account {
    const account = this.#accounts.get(accountId) ?? {
      waiting: false,
      starting: false,
      runs: 0,
      renders: 0,
      notBeforeMs: 0,
      pauseMs: FIRST_PAUSE_MS,
    };
    this.#accounts.set(accountId, account);
    return account;
  }

  #serve(): void {
    const { workers, dispatcher } = this.#deps;
    const free = workers.capacity().free - dispatcher.paidWaiting();
    this.#order.serve(free);
    if (this.#state !== 'running') return;
    this.#order.putBack(id => this.#account(id).runs > 1 && this.#othersWait(id));
    for (;;) {
      const accountId = this.#next();
      if (accountId === undefined) break;
      const ahead = this.#isPreparedAhead(accountId) ? PREPARED_AHEAD : 0;
      if (this.#starting + this.#order.count() >= free + ahead) break;
      void this.#begin(accountId);
    }
  }

  /**
   * The first free slot must not wait for the database. Only for an account that runs a job, since
   * the plan leaves it other leases, and while no other one waits, since which of them is next
   * depends on whose slot becomes free.
   */
  #isPreparedAhead(accountId: string): boolean {
    return this.#account(accountId).runs > 0 && !this.#othersWait(accountId);
  }

  /** Another account starts a job or may start one. */
  #othersWait(accountId: string): boolean {
    const nowMs = this.#nowMs();
    return this.#accounts
      .entries()
      .some(([id, account]) => id !== accountId && (account.starting || mayStart(account, nowMs)));
  }

  /** The account that may start a job and renders the fewest; the first in turn among equals. */
  #next(): string | undefined {
    const nowMs = this.#nowMs();
    let next: string | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const [accountId, account] of this.#accounts)
      if (mayStart(account, nowMs) && account.renders < least) {
        next = accountId;
        least = account.renders;
      }
    return next;
  }

  /** Never rejects. */
  async #begin(accountId: string): Promise<void> {
    const account = this.#account(accountId);
    this.#accounts.delete(accountId);
    this.#accounts.set(accountId, account); // its turn is over
    Object.assign(account, { starting: true, waiting: false });
    this.#starting++;
    try {
      await this.#startJob(accountId, account);
    } catch (error) {
      account.waiting = true;
      this.#pause(account);
      this.#deps.log.debug({ reason: (error as Error).message }, 'could not start a job');
    }
    this.#starting--;
    account.starting = false;
    this.#left(accountId);
  }

  async #startJob(accountId: string, account: Account): Promise<void> {
    const { leases, operations } = this.#deps;
    // Of the lease and of the render, in the log.
    const requestId = randomUUIDv7();
    const lease = await leases.admitSubmitted({ accountId, requestId });
    if (!lease) {
      account.waiting = true;
      return this.#pause(account);
    }
    let job: JobDocument | null = null;
    try {
      job = await operations.claim(accountId, lease.id);
    } finally {
      if (!job) await leases.release(lease);
    }
    if (!job) return;
    account.waiting = true; // more may wait
    account.runs++;
    account.renders++;
    this.#runs++;
    void this.#run({ requestId, lease }, job, account);
  }

  /** Never rejects. */
  async #run(admitted: AdmittedAttempt, job: JobDocument, account: Account): Promise<void> {
    const { leases, watch, log } = this.#deps;
    const ended = new AbortController();
    const stop = () => ended.abort(new AttemptStopped());
    const unwatch = watch.watch(job, stop);
    const signal = AbortSignal.any([ended.signal, this.#stopping.signal]);
    const wait = this.#order.add(job.account, AbortSignal.any([signal, admitted.lease.lost]));
    let [renders, hasEnded] = [true, true];
    const rendered = () => {
      if (renders) account.renders--;
      renders = false;
    };
    try {
      hasEnded = await runAttempt(this.#deps, { ...admitted, ...wait, rendered, job, signal });
    } catch (error) {
      const fields = { jobId: job._id, reason: (error as Error).message };
      if (!(error instanceof JobChanged))
        log.warn(fields, 'an asynchronous render could not be ended; it will be tried again');
    }
    wait.dispatched();
    rendered();
    unwatch();
    if (hasEnded) watch.ended(job._id);
    else account.waiting = true;
    await leases.release(admitted.lease);
    this.#runs--;
    account.runs--;
    Object.assign(account, { notBeforeMs: 0, pauseMs: FIRST_PAUSE_MS }); // a lease is free
    this.#left(job.account);
  }

  #forgetUnused(accountId: string): void {
    const { waiting, starting, runs } = this.#account(accountId);
    if (!waiting && !starting && runs === 0) this.#accounts.delete(accountId);
  }

  #left(accountId: string): void {
    this.#forgetUnused(accountId);
    if (this.#runs + this.#starting === 0) this.#onIdle?.();
    this.#serve();
  }

  #pause(account: Account): void {
    account.notBeforeMs = this.#nowMs() + account.pauseMs;
    account.pauseMs = Math.min(LONGEST_PAUSE_MS, account.pauseMs * 2);
    // The poll finds the ends of longer pauses.
    if (this.#state === 'running')
      this.#retry ??= setTimeout(() => {
        this.#retry = undefined;
        this.#serve();
      }, FIRST_PAUSE_MS);
  }
}
