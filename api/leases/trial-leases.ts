// The leases of callers without a key: so many calls a minute for each of them, and a few places
// for all of them together. Nothing is ever counted as usage.
import { createHmac, randomUUID } from 'node:crypto';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import { databaseUnreachable } from '../accounts/account-errors.ts';
import { type Store, withinMs } from '../store/store.ts';
import type { Lease, Leases } from './leases.ts';
import { LEASE_TIMES, type LeaseTimes } from './mongo-leases.ts';
import { createRenewals } from './renewals.ts';
import { noTrialSlot, type TrialAdmission, tooManyCalls } from './trial-admission.ts';
import { type TrialOperations, trialOperations } from './trial-operations.ts';

export interface TrialCaller {
  requestId: string;
  /** An IPv4 address or an IPv6 network: those who share it share their calls. */
  client: string;
}

export interface TrialLeases extends Leases<TrialCaller>, Service {
  /**
   * To be asked before the body of a call is read. Throws rate_limited when it is known already
   * that the call would be refused; gives what is to be called when there is nothing more to do for
   * it.
   */
  enter(client: string): () => void;
}

export interface TrialConfig {
  /** Clients are stored as an HMAC with it. */
  pepper: string;
  /** Calls of one client. */
  perMinute: number;
  /** Renders at once over all processes. */
  parallel: number;
  /** Slots that this process knows of. */
  slots: () => number;
  admission: TrialAdmission;
  times?: Partial<LeaseTimes>;
}

/** All trial renders queue as one account: there are never more than a few. */
const QUEUED_AS = 'trial';

/** Never more than a quarter of the slots, and at least one. Pure. */
export const trialSlotsOf = (parallel: number, slots: number): number =>
  Math.min(parallel, Math.max(1, Math.floor(slots / 4)));

const timedOperations = (
  { timed }: Store,
  { count, take, renew, release }: TrialOperations,
): TrialOperations => ({
  count: (...of) => timed('trial_count', count(...of)),
  take: (...of) => timed('trial_take', take(...of)),
  renew: leases => timed('trial_renew', renew(leases)),
  release: id => timed('trial_release', release(id)),
});

/**
 * A place whose process was killed is free again when its lease has expired; one whose admission or
 * release had no answer as well, which is why nothing is tried again here. `nowMs` is monotonic.
 */
export function trialLeases(
  store: Store,
  config: TrialConfig,
  log: Log,
  nowMs = () => performance.now(),
): TrialLeases {
  const { pepper, perMinute, parallel, slots, admission } = config;
  const times = { ...LEASE_TIMES, ...config.times };
  const operations = timedOperations(store, trialOperations(store, times.leaseMs));
  const renewals = createRenewals(
    times,
    leases => store.limited(operations.renew(leases)),
    log,
    nowMs,
    () => {},
  );
  /** Request ids of the leases that are not given back. */
  const open = new Map<string, string>();
  const taken = noTrialSlot();
  /** Calls that wait for the database. */
  let asking = 0;

  const hash = (client: string) =>
    createHmac('sha256', pepper).update(`trial ${client}`).digest('base64url');

  async function asked<T>(operation: () => Promise<T>): Promise<T> {
    try {
      store.primary.throwIfMissing();
      return await store.limited(operation());
    } catch (error) {
      throw databaseUnreachable(error);
    }
  }

  const trialSlots = () => trialSlotsOf(parallel, slots());

  /**
   * Those who ask count as well: a flood that waits for a place would ask hundreds of times for
   * each one that comes free.
   */
  function throwIfTaken(): void {
    if (open.size + asking >= trialSlots()) throw taken;
  }

  function enter(client: string): () => void {
    throwIfTaken();
    return admission.enter(client);
  }

  async function admit(caller: TrialCaller): Promise<Lease> {
    throwIfTaken();
    asking += 1;
    try {
      return await ask(caller);
    } finally {
      asking -= 1;
    }
  }

  async function ask({ requestId, client }: TrialCaller): Promise<Lease> {
    const clientHash = hash(client);
    const countedMs = nowMs();
    const { counted, nextInMs } = await asked(() =>
      operations.count(clientHash, requestId, perMinute),
    );
    // From the sending on, so that nobody is refused for longer than the database would.
    if (nextInMs > 0) admission.usedUp(client, nextInMs - (nowMs() - countedMs));
    if (!counted) throw tooManyCalls(perMinute);
    const id = randomUUID();
    const sentMs = nowMs();
    if (!(await asked(() => operations.take(id, trialSlots())))) {
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
        'a trial place could not be given back and will expire',
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
