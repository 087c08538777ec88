// Measures admissions and settlements with the API's lease adapter on a separate mongod, for
// several kinds of accounts.
import { MongoClient } from 'mongodb';
import type { Caller } from '../api/accounts/accepted-keys.ts';
import { Accounts } from '../api/accounts/accounts.ts';
import { hashKeyByEach } from '../api/accounts/keys.ts';
import { parsePlans } from '../api/accounts/plans.ts';
import { MongoLeases } from '../api/leases/mongo-leases.ts';
import { connectStore, KEY_HASH_INDEX } from '../api/store/store.ts';
import { silentLog } from '../common/log.ts';
import { createMetrics } from '../common/operations.ts';
import { processOf } from '../test/support/processes.ts';
import { freshMongod } from '../test/support/servers/mongod.ts';
import { load, type Round } from './load.ts';
import type { AtEnd } from './script.ts';

export const CALLERS = 32;
const ACCOUNTS = 1_000;
const KEYS = 50;
const PEPPERS = ['a pepper for the bench'];
/** The setting of the API. */
const OPERATION_TIMEOUT_MS = 5_000;
/** The index created by the migrations. */
const INDEX = { name: KEY_HASH_INDEX, fields: { 'keys.hash': 1 } } as const;
const STOP_MS = 5_000;

/** Many accounts; one account; one with many keys; the same without the index on key hashes. */
type LeaseKind = 'many' | 'hot' | 'keys' | 'keys without index';
/** `plain`: two updates of small documents, the minimum cost of two acknowledged writes. */
export type Kind = LeaseKind | 'plain';

export interface PairRound extends Round {
  mongodCpuMs: number;
  /** CPU time of the whole process: adapter, driver and callers. */
  nodeCpuMs: number;
}

/** Returns a function that runs pairs with CALLERS callers. */
export async function openLeases(
  atEnd: AtEnd,
): Promise<(kind: Kind, pairs: number) => Promise<PairRound>> {
  const mongod = await freshMongod({ onDisk: true, extraArgs: [] });
  atEnd(mongod.stop);
  const plans = parsePlans([`crowd=${CALLERS}`]);
  const metrics = createMetrics();
  const store = connectStore(
    { uri: mongod.uriFor('admission'), operationTimeoutMs: OPERATION_TIMEOUT_MS },
    silentLog,
    metrics,
  );
  await store.start();
  atEnd(() => store.stop(AbortSignal.timeout(STOP_MS)));
  // A slow settlement must be measured instead of being deferred.
  const times = { settleWithinMs: OPERATION_TIMEOUT_MS };
  const config = {
    plans,
    pastDueGraceMs: 0,
    billing: 'manual' as const,
    dashboardUrl: '',
    retryAfterS: () => 1,
    metrics,
    times,
  };
  const leases = new MongoLeases(store, config, silentLog);
  await leases.start();
  atEnd(() => leases.stop(AbortSignal.timeout(STOP_MS)));
  const accounts = new Accounts(store, { plans, peppers: PEPPERS });

  /** Uses the last key of the account. */
  async function account(name: string, keys = 1): Promise<Caller> {
    const { id } = await accounts.createAccount(name, { plan: 'crowd' });
    let text = '';
    for (let nth = 0; nth < keys; nth++)
      ({ text } = await accounts.createKey(name, { name: `key ${nth}` }));
    return {
      accountId: id,
      keyHash: hashKeyByEach(text, PEPPERS),
      clientIp: '192.0.2.1',
      requestId: name,
    };
  }
  const many: Caller[] = [];
  await load(ACCOUNTS, CALLERS, async nth => void many.push(await account(`account ${nth}`)));
  const [hot, keys] = [[await account('hot')], [await account('with many keys', KEYS)]];
  const callers: Record<LeaseKind, Caller[]> = { many, hot, keys, 'keys without index': keys };

  const client = await MongoClient.connect(mongod.uriFor('admission'), {
    writeConcern: { w: 'majority' },
  });
  atEnd(() => client.close());
  const plain = client.db().collection<{ _id: number; writes: number }>('plain');
  await plain.insertMany(Array.from({ length: ACCOUNTS }, (_, _id) => ({ _id, writes: 0 })));

  async function pairs(count: number, pair: (nth: number) => Promise<void>): Promise<PairRound> {
    const mongodCpuMs = () => processOf(mongod.pid)!.ownMs;
    const [mongodMs, own] = [mongodCpuMs(), process.cpuUsage()];
    const round = await load(count, CALLERS, pair);
    const { user, system } = process.cpuUsage(own);
    return {
      ...round,
      mongodCpuMs: (mongodCpuMs() - mongodMs) / count,
      nodeCpuMs: (user + system) / 1_000 / count,
    };
  }

  const leasesOf = (of: Caller[]) => async (nth: number) => {
    const lease = await leases.admit(of[nth % of.length]!);
    const usage = await leases.settle(lease);
    if (usage === undefined) throw new Error('a render was not counted in time');
  };
  const plainWrites = async (nth: number) => {
    for (let write = 0; write < 2; write++)
      await plain.findOneAndUpdate({ _id: nth % ACCOUNTS }, { $inc: { writes: 1 } });
  };

  return async (kind, count) => {
    if (kind === 'plain') return pairs(count, plainWrites);
    if (kind !== 'keys without index') return pairs(count, leasesOf(callers[kind]));
    await store.accounts.dropIndex(INDEX.name);
    try {
      return await pairs(count, leasesOf(callers[kind]));
    } finally {
      await store.accounts.createIndex(INDEX.fields, { name: INDEX.name });
    }
  };
}
