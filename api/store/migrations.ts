// Brings the database to the schema of this release: idempotent steps that only add, done by one
// replica while the others wait.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import type { Log } from '../../common/log.ts';
import { consoleIndexes, oauthIndexes } from './console-collections.ts';
import {
  type AccountDocument,
  KEY_HASH_INDEX,
  type MetaDocument,
  type TrialLimitDocument,
} from './documents.ts';
import { isDuplicate } from './failures.ts';
import { storedPdfIndexes } from './stored-pdfs.ts';

interface Migration {
  version: number;
  what: string;
  run(db: Db): Promise<void>;
}

const MIGRATIONS: Migration[] = [
  {
    version: 1,
    what: 'unique names of accounts',
    run: async db => {
      await db
        .collection<AccountDocument>('accounts')
        .createIndex({ name: 1 }, { unique: true, name: 'name' });
    },
  },
  {
    version: 2,
    what: 'the end of trial callers’ counts',
    run: async db => {
      await db
        .collection<TrialLimitDocument>('limits')
        .createIndex({ expires: 1 }, { expireAfterSeconds: 0, name: 'expires' });
    },
  },
  {
    version: 3,
    what: 'hashes of keys',
    run: async db => {
      await db
        .collection<AccountDocument>('accounts')
        .createIndex({ 'keys.hash': 1 }, { name: KEY_HASH_INDEX });
    },
  },
  {
    version: 4,
    what: 'people, sessions, teams, the logs of renders and of who did what',
    run: consoleIndexes,
  },
  {
    version: 5,
    what: 'customers of the payment provider',
    run: async db => {
      await db.collection<AccountDocument>('accounts').createIndexes([
        {
          key: { 'billing.customer': 1 },
          name: 'customer',
          partialFilterExpression: { 'billing.customer': { $exists: true } },
        },
        {
          key: { 'billing.syncedAt': 1 },
          name: 'synced',
          partialFilterExpression: { 'billing.syncedAt': { $exists: true } },
        },
      ]);
    },
  },
  { version: 6, what: 'PDFs that are kept for links', run: storedPdfIndexes },
  { version: 7, what: 'apps that render in the name of people', run: oauthIndexes },
];

/**
 * What this release needs. A database that is further on belongs to a newer release and is good,
 * since migrations only add.
 */
export const SCHEMA_VERSION = MIGRATIONS.at(-1)!.version;

/**
 * How long a replica may be silent in the middle of a step before another takes over; steps may run
 * twice at once without harm.
 */
const GUARD_MS = 60_000;
const LOOK_AGAIN_MS = 200;

const schemaVersion = async (meta: Collection<MetaDocument>) =>
  (await meta.findOne({ _id: 'schema' }))?.version ?? 0;

/** Takes or renews the guard. False while another replica has it. Its time is the server's. */
async function takeGuard(meta: Collection<MetaDocument>, owner: string): Promise<boolean> {
  const free = {
    $or: [{ $eq: ['$owner', owner] }, { $lte: [{ $ifNull: ['$until', new Date(0)] }, '$$NOW'] }],
  };
  const until = { $add: ['$$NOW', GUARD_MS] };
  try {
    const guard = await meta.findOneAndUpdate(
      { _id: 'migration' },
      [
        {
          $set: {
            owner: { $cond: [free, owner, '$owner'] },
            until: { $cond: [free, until, '$until'] },
          },
        },
      ],
      { upsert: true, returnDocument: 'after' },
    );
    return guard?.owner === owner;
  } catch (error) {
    if (isDuplicate(error)) return false; // two replicas met at the very first start
    throw error;
  }
}

/**
 * Resolves when the schema is at least this release's, whoever brought it there. Rejects with
 * `signal`'s reason when that aborts.
 */
export async function migrate(db: Db, log: Log, signal?: AbortSignal): Promise<void> {
  const meta = db.collection<MetaDocument>('meta');
  const owner = randomUUID();
  for (;;) {
    const version = await schemaVersion(meta);
    if (version >= SCHEMA_VERSION) return;
    if (!(await takeGuard(meta, owner))) {
      await sleep(LOOK_AGAIN_MS, undefined, signal && { signal });
      continue;
    }
    const next = MIGRATIONS.find(migration => migration.version > version)!;
    log.info({ version: next.version, what: next.what }, 'migrating the database');
    await next.run(db);
    await meta.updateOne({ _id: 'schema' }, { $max: { version: next.version } }, { upsert: true });
    if (next.version === SCHEMA_VERSION)
      await meta.updateOne({ _id: 'migration', owner }, { $set: { until: new Date(0) } });
  }
}
