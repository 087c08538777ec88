// Leases of trial renders: a limit of calls per minute and client, and a few slots shared by all
// clients. Trial renders are never counted as usage.
import { createHmac, randomUUID } from 'node:crypto';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import { databaseUnreachable } from '../accounts/account-errors.ts';
import { type Store, withinMs } from '../store/store.ts';
import type { Lease, Leases } from './leases.ts';
import { LEASE_TIMES, type LeaseTimes } from './mongo-leases.ts';
import { createRenewals } from './renewals.ts';
import { noTrialSlot, type TrialAdmission, tooManyCalls } from './trial-admission.ts';
import { trialOperations } from './trial-operations.ts';

export interface TrialCaller {
  requestId: string;
  /** An IPv4 address or an IPv6 network; callers that share it share its limit. */
  client: string;
}

export interface TrialLeases extends Leases<TrialCaller>, Service {
  /**
   * Call before the body is read. Throws rate_limited when the call is known to be over a limit.
   * Returns a function that ends the call.
   */
  enter(client: string): () => void;
}

export interface TrialConfig {
  /** Clients are stored as an HMAC with the pepper. */
  pepper: string;
  /** Calls per client. */
  perMinute: number;
  /** Trial slots of the installation, across all processes. */
  parallel: number;
  /** Worker slots known to this process. */
  slots: () => number;
  admission: TrialAdmission;
  times?: Partial<LeaseTimes>;
}

/** All trial renders queue as one account: there are never more than a few. */
const QUEUED_AS = 'trial';

/**
 * The trial's share of slots: at most a quarter of the worker slots, and at least one. The queue also
 * starts them only while more than half of the slots are free (fair-queue.ts). Pure.
 */
export const trialSlotsOf = (parallel: number, slots: number): number =>
  Math.min(parallel, Math.max(1, Math.floor(slots / 4)));

/**
 * The slot of a killed process, or of an admission or release without an answer, becomes free when
 * its lease expires. Therefore nothing is retried here. `nowMs` is monotonic.
 */
export function trialLeases(
  store: Store,
  config: TrialConfig,
  log: Log,
  nowMs = () => performance.now(),
): TrialLeases {
  const { pepper, perMinute, parallel, slots, admission } = config;
  const times = { ...LEASE_TIMES, ...config.times };
  const operations = trialOperations(store, times.leaseMs);
  const renewals = createRenewals(
    times,
    leases => store.limited(operations.renew(leases)),
    log,
    nowMs,
    () => {},
  );
  /** Request IDs of the leases that are not released. */
  const open = new Map<string, string>();
  const taken = noTrialSlot();
  /** Admissions waiting for the database. */
  let admitting = 0;

  const hash = (client: string) =>
    createHmac('sha256', pepper).update(`trial ${client}`).digest('base64url');

  async function orUnreachable<T>(operation: () => Promise<T>): Promise<T> {
    try {
      store.primary.throwIfMissing();
      return await store.limited(operation());
    } catch (error) {
      throw databaseUnreachable(error);
    }
  }

  const trialSlots = () => trialSlotsOf(parallel, slots());

  /**
   * Admissions in progress count as well: otherwise a flood would send hundreds of admissions for
   * each slot that becomes free.
   */
  function throwIfTaken(): void {
    if (open.size + admitting >= trialSlots()) throw taken;
  }

  function enter(client: string): () => void {
    throwIfTaken();
    return admission.enter(client);
  }

  async function admit(caller: TrialCaller): Promise<Lease> {
    throwIfTaken();
    admitting += 1;
    try {
      return await countAndTake(caller);
    } finally {
      admitting -= 1;
    }
  }

  async function countAndTake({ requestId, client }: TrialCaller): Promise<Lease> {
    const clientHash = hash(client);
    const countedMs = nowMs();
    const { counted, nextInMs } = await orUnreachable(() =>
      operations.count(clientHash, requestId, perMinute),
    );
    // Counted from the send, so that no client is rejected longer than the database requires.
    if (nextInMs > 0) admission.usedUp(client, nextInMs - (nowMs() - countedMs));
    if (!counted) throw tooManyCalls(perMinute);
    const id = randomUUID();
    const sentMs = nowMs();
    if (!(await orUnreachable(() => operations.take(id, trialSlots())))) {
      admission.full();
      throw taken;
    }
    open.set(id, requestId);
    const lost = renewals.hold({ id, accountId: QUEUED_AS, requestId }, sentMs);
    return { id, accountId: QUEUED_AS, clientHash, intranet: false, lost };
  }

  async function release({ id }: Lease): Promise<void> {
    const requestId = open.get(id);
    if (requestId === undefined) return;
    open.delete(id);
    renewals.drop(id);
    try {
      await withinMs(times.settleWithinMs, operations.release(id));
      admission.freed();
    } catch (error) {
      log.warn(
        { requestId, leaseId: id, reason: (error as Error).message },
        'a trial lease could not be released and will expire',
      );
    }
  }

  return {
    name: 'trial leases',
    enter,
    admit,
    settle: lease => release(lease).then(() => undefined),
    release,
    start: async () => renewals.start(),
    stop: async () => renewals.stop(),
  };
}
