// Leases in MongoDB: implements the port of leases.ts with the atomic operations of
// lease-operations.ts, renewal and a retry queue.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../common/contract/errors.ts';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import type { Caller } from '../accounts/accepted-keys.ts';
import {
  concurrencyLimit,
  databaseUnreachable,
  subscriptionInactive,
  unauthorized,
} from '../accounts/account-errors.ts';
import type { ServedRules } from '../accounts/account-rules.ts';
import { addressIsAllowed } from '../accounts/allowed-ips.ts';
import type { Plan } from '../accounts/plans.ts';
import { type ClientSession, isServerAnswer, type Store, withinMs } from '../store/store.ts';
import { CapCache } from './cap-cache.ts';
import { type LeaseMetrics, leaseMetrics } from './lease-metrics.ts';
import {
  type Admission,
  type Admitted,
  type LeaseOperations,
  leaseKeyOf,
  leaseOperations,
} from './lease-operations.ts';
import type { Lease, Leases, Member, SubmittedRender } from './leases.ts';
import { createRenewals, type HeldLease, type Renewals } from './renewals.ts';
import { createRetryQueue, type RetriedWrite, type RetryQueue } from './retry-queue.ts';

export interface LeaseTimes {
  leaseMs: number;
  renewEveryMs: number;
  clockDifferenceMs: number;
  /** An expired lease is kept this long for a late settlement. */
  keepExpiredMs: number;
  /** How long a finished PDF waits for its settlement. */
  settleWithinMs: number;
  /** How long a settlement is retried: a minute less than `keepExpiredMs`. */
  settleForMs: number;
}

export const LEASE_TIMES: LeaseTimes = {
  leaseMs: 15_000,
  renewEveryMs: 3_000,
  clockDifferenceMs: 2_000,
  keepExpiredMs: 600_000,
  settleWithinMs: 1_000,
  settleForMs: 540_000,
};

/** A few hundred bytes each: enough for minutes without a database at full load. */
const MAX_RETRIED_WRITES = 50_000;

export interface LeaseConfig extends ServedRules {
  plans: readonly Plan[];
  /** Where a customer updates the subscription. */
  dashboardUrl: string;
  /** The Retry-After of a rejected call: the seconds until a lease is likely to be free. */
  retryAfterS: () => number;
  metrics: Metrics;
  times?: Partial<LeaseTimes>;
}

/**
 * Start before the first admission and stop after the last render: stopping flushes pending writes.
 * `nowMs` is monotonic.
 */
export class MongoLeases implements Leases<Caller | Member>, Service {
  readonly name = 'leases';
  readonly #store: Store;
  readonly #config: LeaseConfig;
  readonly #times: LeaseTimes;
  readonly #log: Log;
  readonly #nowMs: () => number;
  readonly #operations: LeaseOperations;
  readonly #retries: RetryQueue;
  readonly #renewals: Renewals;
  readonly #meters: LeaseMetrics;
  /** Request IDs of the leases that are neither settled nor released. */
  readonly #open = new Map<string, string>();
  readonly #caps = new CapCache();
  readonly #stopping = new AbortController();

  constructor(store: Store, config: LeaseConfig, log: Log, nowMs = () => performance.now()) {
    this.#store = store;
    this.#config = config;
    this.#times = { ...LEASE_TIMES, ...config.times };
    this.#log = log;
    this.#nowMs = nowMs;
    const operations = leaseOperations(store, { ...config, ...this.#times });
    this.#operations = operations;
    this.#retries = createRetryQueue(log, MAX_RETRIED_WRITES, nowMs);
    this.#renewals = createRenewals(
      this.#times,
      leases => store.limited(operations.renew(leases)),
      log,
      nowMs,
      why => this.#meters.lost(why),
    );
    this.#meters = leaseMetrics(config.metrics, {
      held: () => this.#open.size,
      waiting: what => this.#retries.waiting(what),
    });
  }

  async admit(caller: Caller | Member): Promise<Lease> {
    const { accountId, requestId } = caller;
    const { retryAfterS } = this.#config;
    const by = 'user' in caller ? leaseKeyOf(caller.user) : caller.keyHash[0]!;
    const cap = this.#caps.capOf(accountId, by, this.#nowMs());
    if (cap !== undefined) throw concurrencyLimit(cap, retryAfterS());
    const { found, id, sentMs } =
      'user' in caller ? await this.#admitMember(caller) : await this.#admitWithKey(caller);
    if (!found.admitted) {
      if (!found.served) throw subscriptionInactive(found.state, this.#config);
      this.#caps.rejected(accountId, by, found.limit, this.#nowMs());
      throw concurrencyLimit(found.limit, retryAfterS());
    }
    return this.#hold({ id, accountId, requestId }, found, sentMs);
  }

  /**
   * Creates the lease of an asynchronous render. Undefined: the account holds all leases that it
   * may, or its subscription is inactive. Throws `render_failed`/`database` as `admit` does.
   */
  async admitSubmitted(render: SubmittedRender): Promise<Lease | undefined> {
    const { accountId, requestId } = render;
    const { found, id, sentMs } = await this.#tryAdmit(render, leaseId =>
      this.#operations.admitJob(accountId, leaseId),
    );
    return found?.admitted ? this.#hold({ id, accountId, requestId }, found, sentMs) : undefined;
  }

  /**
   * Removes the lease of an asynchronous render, and counts the render when `counted`, in one
   * transaction with `write`, which receives the account's new count. What `write` throws undoes
   * everything; then the lease must be released. Rejects also when the database fails.
   */
  async settleWith(
    { id, accountId }: Lease,
    counted: boolean,
    write: (usage: number | undefined, session: ClientSession) => Promise<void>,
  ): Promise<void> {
    const requestId = this.#open.get(id);
    if (requestId === undefined) throw new Error('the lease is not held');
    // Without renewals it lasts long enough, and an expired lease can be settled.
    this.#renewals.drop(id);
    const transaction = this.#store.transaction(async session => {
      const { settle, release } = this.#operations;
      const usage = counted ? await settle(accountId, id, session) : undefined;
      if (!counted) await release(accountId, id, session);
      await write(usage, session);
      return usage;
    });
    const usage = await this.#store.timed('settle', transaction);
    this.#close(id, accountId);
    if (counted) this.#settled(usage, { requestId, accountId, leaseId: id }, false);
  }

  async settle({ id, accountId }: Lease): Promise<number | undefined> {
    const requestId = this.#open.get(id);
    if (requestId === undefined) return undefined;
    this.#close(id, accountId);
    const fields = { requestId, accountId, leaseId: id };
    const first = this.#operations.settle(accountId, id);
    try {
      const usage = await withinMs(this.#times.settleWithinMs, first);
      this.#settled(usage, fields, false);
      return usage;
    } catch (error) {
      this.#log.warn(
        { ...fields, reason: (error as Error).message },
        'a render is not counted yet, retrying',
      );
      this.#settleLater(first, fields);
      return undefined;
    }
  }

  async release({ id, accountId }: Lease): Promise<void> {
    const requestId = this.#open.get(id);
    if (requestId === undefined) return;
    this.#close(id, accountId);
    const sentMs = this.#nowMs();
    const first = this.#operations.release(accountId, id);
    // A caller that retries after an error must find the lease released.
    await withinMs(this.#times.settleWithinMs, first).catch(() =>
      this.#releaseLater(
        { requestId, accountId, leaseId: id },
        this.#hasArrived(first, sentMs).then(() => true),
      ),
    );
  }

  /** Leases of running renders, and writes waiting for the database. */
  counts(): { held: number; waiting: number } {
    return { held: this.#open.size, waiting: this.#retries.waiting() };
  }

  async start(): Promise<void> {
    this.#renewals.start();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    this.#renewals.stop();
    this.#stopping.abort(new Error('the process is shutting down while MongoDB is unavailable'));
    for (const [leaseId, requestId] of this.#open)
      this.#log.warn(
        { requestId, leaseId },
        'a render was still running at shutdown; its lease will expire',
      );
    await this.#retries.flush(deadline);
  }

  #hold(lease: HeldLease, { intranet, sandbox, rendererReuse }: Admitted, sentMs: number): Lease {
    const { id, accountId, requestId } = lease;
    this.#open.set(id, requestId);
    this.#caps.admitted(accountId);
    const lost = this.#renewals.hold(lease, sentMs);
    return { id, accountId, intranet, sandbox, rendererReuse, lost };
  }

  async #admitWithKey(caller: Caller) {
    const { accountId, keyHash, clientIp } = caller;
    let networks = caller.allowedIps ?? [];
    const tryOnce = () =>
      this.#tryAdmit(caller, id => this.#operations.admit(accountId, id, keyHash, networks));
    let { found, id, sentMs } = await tryOnce();
    // The key's networks have changed since the address was checked: check again and retry once.
    if (
      found &&
      !found.admitted &&
      found.key &&
      String(found.key.allowedIps) !== String(networks)
    ) {
      networks = found.key.allowedIps;
      if (!addressIsAllowed(clientIp, networks)) throw unauthorized();
      ({ found, id, sentMs } = await tryOnce());
    }
    if (!found || (!found.admitted && String(found.key?.allowedIps) !== String(networks)))
      throw unauthorized();
    return { found, id, sentMs };
  }

  async #admitMember(member: Member) {
    const { found, id, sentMs } = await this.#tryAdmit(member, leaseId =>
      this.#operations.admitMember(member.accountId, leaseId, member.user),
    );
    if (!found) throw new ApiError('not_found', 'Account not found.');
    return { found, id, sentMs };
  }

  /** The result of one admission, its lease ID, and when it was sent. */
  async #tryAdmit(
    { accountId, requestId }: Pick<Caller, 'accountId' | 'requestId'>,
    admission: (leaseId: string) => Promise<Admission | null>,
  ) {
    const id = randomUUID();
    const sentMs = this.#nowMs();
    let operation: Promise<Admission | null> | undefined;
    try {
      this.#store.primary.throwIfMissing();
      operation = admission(id);
      return { found: await this.#store.limited(operation), id, sentMs };
    } catch (error) {
      if (operation)
        this.#releaseLater(
          { requestId, accountId, leaseId: id },
          this.#hasArrived(operation, sentMs),
        );
      throw databaseUnreachable(error);
    }
  }

  /**
   * Whether a command without an answer may have reached MongoDB. Resolves when a working server
   * can no longer execute it, which takes at most its time limit.
   */
  async #hasArrived(operation: Promise<unknown>, sentMs: number): Promise<boolean> {
    const answered = await operation.then(() => true, isServerAnswer);
    if (!answered && this.#store.primary.missingMs() >= this.#nowMs() - sentMs) return false;
    if (!answered) await sleep(this.#store.operationTimeoutMs);
    return true;
  }

  /**
   * `needed` resolves when the command that created the lease, or should have released it, can no
   * longer be executed.
   */
  #releaseLater(fields: RetriedWrite['fields'], needed: Promise<boolean>): void {
    this.#retries.add({
      what: 'release',
      attempt: async () => {
        if (!(await needed)) return;
        // A frozen server executes a command when it resumes, however late. Only then is there a
        // lease to release.
        await this.#store.primary.there(this.#stopping.signal);
        await this.#store.limited(this.#operations.release(fields.accountId, fields.leaseId));
      },
      forMs: this.#times.leaseMs,
      fields,
    });
  }

  #settleLater(first: Promise<number | undefined>, fields: RetriedWrite['fields']): void {
    let tries = 0;
    this.#retries.add({
      what: 'settle',
      attempt: async () => {
        const repeated = tries++ > 0;
        const settling = repeated
          ? this.#store.limited(this.#operations.settle(fields.accountId, fields.leaseId))
          : first;
        this.#settled(await settling, fields, repeated);
      },
      onAborted: () => this.#meters.uncounted('given_up'),
      forMs: this.#times.settleForMs,
      fields,
    });
  }

  /**
   * `repeated`: the lease is missing if an earlier attempt counted the render and its answer was
   * lost. It cannot have been purged, because leases are kept longer than settlements are retried.
   */
  #settled(usage: number | undefined, fields: RetriedWrite['fields'], repeated: boolean): void {
    if (usage !== undefined || repeated) return this.#meters.settled();
    this.#meters.uncounted('lease_gone');
    this.#log.error(fields, 'a render could not be counted: its lease is gone');
  }

  #close(id: string, accountId: string): void {
    this.#open.delete(id);
    this.#caps.ended(accountId);
    this.#renewals.drop(id);
  }
}
