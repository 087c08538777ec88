// Leases on MongoDB: the port of leases.ts over the atomic operations of lease-operations.ts, with renewal and background writes.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../common/contract/errors.ts';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import type { Caller } from '../accounts/accepted-keys.ts';
import { databaseUnreachable, subscriptionInactive, unauthorized } from '../accounts/account-errors.ts';
import type { ServedRules } from '../accounts/account-rules.ts';
import { addressIsAllowed } from '../accounts/allowed-ips.ts';
import type { Plan } from '../accounts/plans.ts';
import { isServerAnswer, type Store, withinMs } from '../store/store.ts';
import { createFullAccounts } from './cap-cache.ts';
import { leaseMetrics } from './lease-metrics.ts';
import { type Admission, type LeaseOperations, leaseKeyOf, leaseOperations } from './lease-operations.ts';
import type { Lease, Leases, Member } from './leases.ts';
import { createRenewals } from './renewals.ts';
import { createRetryQueue, type RetriedWrite } from './retry-queue.ts';

export interface LeaseTimes {
  leaseMs: number;
  renewEveryMs: number;
  clockDifferenceMs: number;
  /** An expired lease is kept this long for a late settlement, which is why settling is tried a minute less. */
  keepExpiredMs: number;
  /** The longest that a finished PDF waits for its count. */
  settleWithinMs: number;
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

/** A settlement is some hundred bytes: enough for minutes without a database at full load, and no danger to the memory. */
const MAX_RETRIED_WRITES = 50_000;

export interface LeaseConfig extends ServedRules {
  plans: readonly Plan[];
  /** Where a customer mends the subscription. */
  dashboardUrl: string;
  /** After how many seconds a place is likely to be free: the Retry-After of a refused call. */
  retryAfterS: () => number;
  metrics: Metrics;
  times?: Partial<LeaseTimes>;
}

export interface MongoLeases extends Leases<Caller | Member>, Service {
  /** Running renders that hold a lease, and writes that still wait for the database. */
  counts(): { held: number; waiting: number };
}

const timedOperations = ({ timed }: Store, { admit, admitMember, renew, settle, release }: LeaseOperations): LeaseOperations => ({
  admit: (...of) => timed('admit', admit(...of)),
  admitMember: (...of) => timed('admit', admitMember(...of)),
  renew: leases => timed('renew', renew(leases)),
  settle: (...of) => timed('settle', settle(...of)),
  release: (...of) => timed('release', release(...of)),
});

/** `nowMs` is monotonic. Start it before the first admission, stop it after the last render: stopping flushes what is not written yet. */
export function mongoLeases(store: Store, config: LeaseConfig, log: Log, nowMs = () => performance.now()): MongoLeases {
  const times = { ...LEASE_TIMES, ...config.times };
  const operations = timedOperations(store, leaseOperations(store, { ...config, ...times }));
  const background = createRetryQueue(log, MAX_RETRIED_WRITES, nowMs);
  const renewals = createRenewals(
    times,
    leases => store.limited(operations.renew(leases)),
    log,
    nowMs,
    why => meters.lost(why),
  );
  /** The leases that are neither settled nor released. */
  const open = new Map<string, string>();
  const full = createFullAccounts();
  const stopping = new AbortController();
  const meters = leaseMetrics(config.metrics, { held: () => open.size, waiting: background.waiting });

  /** `needed` resolves when what took the lease, or should have released it, can no longer arrive. */
  function releaseLater(accountId: string, leaseId: string, requestId: string, needed: Promise<boolean>): void {
    background.add({
      what: 'release',
      attempt: async () => {
        if (!(await needed)) return;
        // A frozen server does what was sent to it when it wakes up, however late: only then there is something to release.
        await store.primary.there(stopping.signal);
        await store.limited(operations.release(accountId, leaseId));
      },
      forMs: times.leaseMs,
      fields: { requestId, accountId, leaseId },
    });
  }

  /** Whether a command whose answer did not come may have been sent, told when it no longer waits at a working server: that is at most for its time limit. */
  async function arrived(operation: Promise<unknown>, sentMs: number): Promise<boolean> {
    const answered = await operation.then(() => true, isServerAnswer);
    if (!answered && store.primary.missingMs() >= nowMs() - sentMs) return false;
    if (!answered) await sleep(store.operationTimeoutMs);
    return true;
  }

  /** What an admission found, by which id, and when it was sent. */
  async function tryAdmit({ accountId, requestId }: Caller | Member, admission: (leaseId: string) => Promise<Admission | null>) {
    const id = randomUUID();
    const sentMs = nowMs();
    let operation: Promise<Admission | null> | undefined;
    try {
      store.primary.throwIfMissing();
      operation = admission(id);
      return { found: await store.limited(operation), id, sentMs };
    } catch (error) {
      if (operation) releaseLater(accountId, id, requestId, arrived(operation, sentMs));
      throw databaseUnreachable(error);
    }
  }

  async function admitWithKey(caller: Caller) {
    const { accountId, keyHash, clientIp } = caller;
    let networks = caller.allowedIps ?? [];
    const ask = () => tryAdmit(caller, id => operations.admit(accountId, id, keyHash, networks));
    let { found, id, sentMs } = await ask();
    // The key's networks are not those that the address was checked against: check it against these, and ask once more.
    if (found && !found.admitted && found.key && String(found.key.allowedIps) !== String(networks)) {
      networks = found.key.allowedIps;
      if (!addressIsAllowed(clientIp, networks)) throw unauthorized();
      ({ found, id, sentMs } = await ask());
    }
    if (!found || (!found.admitted && String(found.key?.allowedIps) !== String(networks))) throw unauthorized();
    return { found, id, sentMs };
  }

  async function admitMember(member: Member) {
    const { found, id, sentMs } = await tryAdmit(member, leaseId => operations.admitMember(member.accountId, leaseId, member.user));
    if (!found) throw new ApiError('not_found', 'There is no such account.');
    return { found, id, sentMs };
  }

  function close(id: string, accountId: string): void {
    open.delete(id);
    full.ended(accountId);
    renewals.drop(id);
  }

  async function admit(caller: Caller | Member): Promise<Lease> {
    const { accountId, requestId } = caller;
    const by = 'user' in caller ? leaseKeyOf(caller.user) : caller.keyHash[0]!;
    const cap = full.capOf(accountId, by, nowMs());
    if (cap !== undefined) throw concurrencyLimit(cap, config.retryAfterS());
    const { found, id, sentMs } = 'user' in caller ? await admitMember(caller) : await admitWithKey(caller);
    if (!found.admitted) {
      if (!found.served) throw subscriptionInactive(found.state, config.dashboardUrl);
      full.refused(accountId, by, found.limit, nowMs());
      throw concurrencyLimit(found.limit, config.retryAfterS());
    }
    open.set(id, requestId);
    full.admitted(accountId);
    return { id, accountId, intranet: found.intranet, lost: renewals.hold({ id, accountId, requestId }, sentMs) };
  }

  /** `repeated`: an attempt before may have counted it without an answer, and then the lease is gone since. It is kept longer than settling is tried. */
  function settled(usage: number | undefined, fields: RetriedWrite['fields'], repeated: boolean): void {
    if (usage !== undefined || repeated) return meters.settled();
    meters.uncounted('lease_gone');
    log.error(fields, 'a render could not be counted: its lease is gone');
  }

  async function settle({ id, accountId }: Lease): Promise<number | undefined> {
    const requestId = open.get(id);
    if (requestId === undefined) return undefined;
    close(id, accountId);
    const fields = { requestId, accountId, leaseId: id };
    const first = operations.settle(accountId, id);
    try {
      const usage = await withinMs(times.settleWithinMs, first);
      settled(usage, fields, false);
      return usage;
    } catch (error) {
      log.warn({ ...fields, reason: (error as Error).message }, 'a render is not counted yet, trying on');
      let tries = 0;
      background.add({
        what: 'settle',
        attempt: async () => {
          const repeated = tries++ > 0;
          settled(await (repeated ? store.limited(operations.settle(accountId, id)) : first), fields, repeated);
        },
        onGivenUp: () => meters.uncounted('given_up'),
        forMs: times.settleForMs,
        fields,
      });
      return undefined;
    }
  }

  async function release({ id, accountId }: Lease): Promise<void> {
    const requestId = open.get(id);
    if (requestId === undefined) return;
    close(id, accountId);
    const sentMs = nowMs();
    const first = operations.release(accountId, id);
    // A caller who reads the failure and asks again must find the place free.
    await withinMs(times.settleWithinMs, first).catch(() =>
      releaseLater(
        accountId,
        id,
        requestId,
        arrived(first, sentMs).then(() => true),
      ),
    );
  }

  return {
    name: 'leases',
    admit,
    settle,
    release,
    counts: () => ({ held: open.size, waiting: background.waiting() }),
    start: async () => renewals.start(),
    async stop(hurry) {
      renewals.stop();
      stopping.abort(new Error('the process ends while MongoDB is down'));
      for (const [id] of open) log.warn({ requestId: open.get(id), leaseId: id }, 'a render still ran at the end; its lease will expire');
      await background.flush(hurry);
    },
  };
}

const concurrencyLimit = (limit: number, retryAfterS: number) =>
  new ApiError(
    'concurrency_limit',
    `Your plan runs ${limit} ${limit === 1 ? 'render' : 'renders'} at once, and that many are running. Try again when one has finished.`,
    {
      retryAfterS,
      headers: { 'X-Concurrency-Limit': String(limit) },
    },
  );
