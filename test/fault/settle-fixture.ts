// The fixture of the settle runs: a fresh mongod, one account with a plan of 32, and the lease
// adapters of several API processes.
import { pino } from 'pino';
import type { Caller } from '../../api/accounts/accepted-keys.ts';
import { Accounts } from '../../api/accounts/accounts.ts';
import { hashKeyByEach } from '../../api/accounts/keys.ts';
import { EXPIRED_KEPT } from '../../api/accounts/lease-rules.ts';
import { parsePlans } from '../../api/accounts/plans.ts';
import { leaseOperations } from '../../api/leases/lease-operations.ts';
import { LEASE_TIMES, type LeaseTimes, MongoLeases } from '../../api/leases/mongo-leases.ts';
import { connectStore } from '../../api/store/store.ts';
import { silentLog } from '../../common/log.ts';
import { createMetrics } from '../../common/operations.ts';
import { freshMongod } from '../support/servers/mongod.ts';
import type { Bounds } from './account-look.ts';

/** The concurrency limit of the plan, and the number of callers. */
export const CAP = 32;

const PEPPERS = ['a pepper of the settle runs'];
/** The time limit of a database operation in an API process. */
const OPERATION_TIMEOUT_MS = 5_000;
/** Far in the future, so that no new month resets the count during a run. */
const PERIOD = '2999-12';

export type SettleFixture = Awaited<ReturnType<typeof settleFixture>>;

export async function settleFixture(overrides: Partial<LeaseTimes> = {}) {
  const times = { ...LEASE_TIMES, ...overrides };
  const plans = parsePlans([`crowd=${CAP}`]);
  const mongod = await freshMongod();
  const closing: (() => Promise<void>)[] = [mongod.stop];
  const close = async () => {
    for (const each of closing.splice(0).reverse()) await each();
  };
  /** Counts the adapters' log lines by message. */
  const logged = new Map<string, number>();
  const log = pino(
    { level: 'warn' },
    {
      write(line: string) {
        const { msg } = JSON.parse(line) as { msg: string };
        logged.set(msg, (logged.get(msg) ?? 0) + 1);
      },
    },
  );

  async function connect() {
    const store = connectStore(
      { uri: mongod.uri, operationTimeoutMs: OPERATION_TIMEOUT_MS },
      silentLog,
    );
    await store.start();
    closing.push(() => store.stop(new AbortController().signal));
    return store;
  }

  const rules = { plans, pastDueGraceMs: 0, billing: 'manual' as const };
  const metrics = () => createMetrics({ processDefaults: false });
  /** The leases of one API process. Without `start` it renews none, like a disconnected process. */
  const leasesOn = (store: Awaited<ReturnType<typeof connect>>) =>
    new MongoLeases(
      store,
      { ...rules, dashboardUrl: '', retryAfterS: () => 1, metrics: metrics(), times },
      log,
    );

  try {
    const stores = [await connect(), await connect()] as const;
    const processes = stores.map(leasesOn);
    for (const leases of processes) {
      await leases.start();
      closing.push(() => leases.stop(AbortSignal.timeout(OPERATION_TIMEOUT_MS)));
    }
    const [store] = stores;
    const accounts = new Accounts(store, { plans, peppers: PEPPERS });
    const { id } = await accounts.createAccount('crowd', { plan: 'crowd' });
    const { text } = await accounts.createKey('crowd', { name: 'key' });
    await store.accounts.updateOne({ _id: id }, { $set: { usage: { period: PERIOD, count: 0 } } });
    const caller: Caller = {
      accountId: id,
      keyHash: hashKeyByEach(text, PEPPERS),
      clientIp: '192.0.2.1',
      requestId: 'settle run',
    };
    const expiredKept = Math.max(EXPIRED_KEPT.atLeast, EXPIRED_KEPT.perConcurrentRender * CAP);
    const bounds: Bounds = { cap: CAP, expiredKept, keepExpiredMs: times.keepExpiredMs };
    const operations = leaseOperations(store, { ...rules, ...times });
    return { store, processes, leasesOn, operations, caller, times, bounds, logged, close };
  } catch (error) {
    await close();
    throw error;
  }
}
