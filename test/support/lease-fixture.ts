// Fixture of the lease tests: a mongod with fail points, a store, replicas of the lease adapter and
// accounts with keys.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Document, MongoClient } from 'mongodb';
import { pino } from 'pino';
import type { Caller } from '../../api/accounts/accepted-keys.ts';
import { Accounts } from '../../api/accounts/accounts.ts';
import { hashKeyByEach } from '../../api/accounts/keys.ts';
import { parsePlans } from '../../api/accounts/plans.ts';
import { type LeaseRules, leaseOperations } from '../../api/leases/lease-operations.ts';
import { LEASE_TIMES, type LeaseTimes, MongoLeases } from '../../api/leases/mongo-leases.ts';
import { type AccountDocument, connectStore, type Store } from '../../api/store/store.ts';
import type { ApiError } from '../../common/contract/errors.ts';
import { silentLog } from '../../common/log.ts';
import { createMetrics } from '../../common/operations.ts';
import { freshMongod } from './servers/mongod.ts';

export const PEPPERS = ['a pepper for tests'];
export const plans = parsePlans([]);
const never = new AbortController().signal;

/** The production times, shortened so that a test can wait for them. */
export const QUICK: Partial<LeaseTimes> = {
  leaseMs: 1_500,
  renewEveryMs: 150,
  clockDifferenceMs: 200,
  settleWithinMs: 250,
  settleForMs: 5_000,
};

/** Polls until the condition holds. The test's own time limit applies. */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await sleep(10);
}

/** Returns the rejection of a call. Fails when the call succeeds. */
export const rejectionOf = (call: Promise<unknown>): Promise<ApiError> =>
  call.then(
    () => expect.fail('the call was not rejected'),
    error => error,
  );

/** `reset` clears the fail points and stops the replicas after a test. `close` ends everything. */
export async function leaseFixture() {
  const mongod = await freshMongod();
  const admin = await MongoClient.connect(mongod.uri);
  const stores: Store[] = [];
  /** Another store of the same database, which the fixture stops. */
  async function connect(operationTimeoutMs: number, uri = mongod.uriFor('leases')) {
    const connected = connectStore({ uri, operationTimeoutMs }, silentLog);
    await connected.start();
    stores.push(connected);
    return connected;
  }
  const store = await connect(700);
  const lines: Document[] = [];
  const log = pino(
    { level: 'info' },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const open: MongoLeases[] = [];
  const accounts = new Accounts(store, { plans, peppers: PEPPERS });
  let accountCount = 0;

  const clearFailPoints = () =>
    admin.db('admin').command({ configureFailPoint: 'failCommand', mode: 'off' });

  return {
    store,
    connect,
    mongod,
    lines,
    log,
    clearFailPoints,
    /** The connection string through a link on this port. */
    uriThrough: (port: number) =>
      `${mongod.uriFor('leases').replace(`:${mongod.port}/`, `:${port}/`)}&directConnection=true`,
    /** Sets a fail point for these commands on the connections of Pressroom. */
    failCommands: (commands: string | string[], data: Document, mode: unknown = 'alwaysOn') =>
      admin.db('admin').command({
        configureFailPoint: 'failCommand',
        mode,
        data: { failCommands: [commands].flat(), appName: 'pressroom', ...data },
      }),
    /** The MongoDB operations without the adapter. */
    operations: (from = store, rules: Partial<LeaseRules> = {}) =>
      leaseOperations(from, {
        plans,
        pastDueGraceMs: 60_000,
        billing: 'manual',
        ...LEASE_TIMES,
        ...rules,
      }),
    async replica(
      times: Partial<LeaseTimes> = {},
      from = store,
      metrics = createMetrics({ processDefaults: false }),
      nowMs?: () => number,
    ): Promise<MongoLeases> {
      const config = {
        plans,
        pastDueGraceMs: 60_000,
        billing: 'manual' as const,
        dashboardUrl: 'http://localhost/app',
        retryAfterS: () => 7,
        times,
        metrics,
      };
      const leases = new MongoLeases(from, config, log, nowMs);
      await leases.start();
      open.push(leases);
      return leases;
    },
    /** Blocks writes to the document of the account with an open transaction while `work` runs. */
    async whileLocked(accountId: string, work: () => Promise<void>): Promise<void> {
      const session = admin.startSession();
      try {
        session.startTransaction();
        await admin
          .db('leases')
          .collection<{ _id: string }>('accounts')
          .updateOne({ _id: accountId }, { $set: { held: true } }, { session });
        await work();
      } finally {
        await session.endSession();
      }
    },
    async account(plan: string, settings: Partial<AccountDocument> = {}) {
      accountCount += 1;
      const name = `account ${accountCount}`;
      const { id } = await accounts.createAccount(name, { plan });
      const { text, key } = await accounts.createKey(name, { name: 'key' });
      if (Object.keys(settings).length > 0)
        await store.accounts.updateOne({ _id: id }, { $set: settings });
      const caller: Caller = {
        accountId: id,
        keyHash: hashKeyByEach(text, PEPPERS),
        clientIp: '192.0.2.1',
        requestId: `request-${accountCount}`,
      };
      const read = async () => (await store.accounts.findOne({ _id: id }))!;
      return {
        id,
        name,
        key,
        text,
        accounts,
        caller,
        read,
        leaseCount: async () => (await read()).leases.length,
        usage: async () => (await read()).usage.count,
      };
    },
    async reset() {
      await clearFailPoints();
      for (const leases of open.splice(0)) await leases.stop(AbortSignal.timeout(3_000));
      lines.length = 0;
    },
    async close() {
      for (const each of stores) await each.stop(never);
      await admin.close();
      await mongod.stop();
    },
  };
}
export type LeaseFixture = Awaited<ReturnType<typeof leaseFixture>>;
export type TestAccount = Awaited<ReturnType<LeaseFixture['account']>>;
