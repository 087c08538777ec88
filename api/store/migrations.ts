// Migrates the database to the schema of this release: idempotent steps that only add, run by one
// replica while the others wait.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, CreateIndexesOptions, Db, IndexSpecification } from 'mongodb';
import type { Log } from '../../common/log.ts';
import { consoleIndexes, oauthIndexes } from './console-collections.ts';
import { KEY_HASH_INDEX, type MetaDocument, RESTRICTED_KEY_HASH_INDEX } from './documents.ts';
import { isDuplicate } from './failures.ts';
import { batchIndexes, jobIndexes } from './job-documents.ts';
import { storedPdfIndexes } from './stored-pdfs.ts';

interface Migration {
  version: number;
  what: string;
  run(db: Db): Promise<unknown>;
}

const index =
  (collection: string, key: IndexSpecification, options: CreateIndexesOptions) => (db: Db) =>
    db.collection(collection).createIndex(key, options);

const MIGRATIONS: Migration[] = [
  {
    version: 1,
    what: 'unique account names',
    run: index('accounts', { name: 1 }, { unique: true, name: 'name' }),
  },
  {
    version: 2,
    what: 'expiry of trial limits',
    run: index('limits', { expires: 1 }, { expireAfterSeconds: 0, name: 'expires' }),
  },
  {
    version: 3,
    what: 'index of key hashes',
    run: index('accounts', { 'keys.hash': 1 }, { name: KEY_HASH_INDEX }),
  },
  {
    version: 4,
    what: 'users, sessions, teams, render log and audit log',
    run: consoleIndexes,
  },
  {
    version: 5,
    what: 'Stripe customers',
    run: db =>
      db.collection('accounts').createIndexes([
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
      ]),
  },
  { version: 6, what: 'stored PDFs', run: storedPdfIndexes },
  { version: 7, what: 'OAuth consents and tokens', run: oauthIndexes },
  {
    version: 8,
    what: 'index of hashes of test keys and read-only keys',
    run: index(
      'accounts',
      { 'restrictedKeys.hash': 1 },
      { name: RESTRICTED_KEY_HASH_INDEX, sparse: true },
    ),
  },
  { version: 9, what: 'asynchronous renders', run: jobIndexes },
  { version: 10, what: 'batches of renders', run: batchIndexes },
  {
    version: 11,
    what: 'deleted accounts',
    run: index('deleted_accounts', { keptUntil: 1 }, { expireAfterSeconds: 0, name: 'end' }),
  },
  {
    version: 12,
    what: 'indexes for the deletion of accounts',
    run: async db => {
      for (const collection of ['batches', 'oauth_grants'])
        await db.collection(collection).createIndex({ account: 1 }, { name: 'of an account' });
    },
  },
];

/** The schema of this release. A newer one in the database is fine, since migrations only add. */
export const SCHEMA_VERSION = MIGRATIONS.at(-1)!.version;

/**
 * How long a replica may be unresponsive in a migration before another takes over. Two replicas may
 * run the same step concurrently.
 */
const LOCK_MS = 60_000;
const POLL_MS = 200;

const schemaVersion = async (meta: Collection<MetaDocument>) =>
  (await meta.findOne({ _id: 'schema' }))?.version ?? 0;

/** Takes or renews the lock by the server's clock. False while another replica holds it. */
async function takeLock(meta: Collection<MetaDocument>, owner: string): Promise<boolean> {
  const free = {
    $or: [{ $eq: ['$owner', owner] }, { $lte: [{ $ifNull: ['$until', new Date(0)] }, '$$NOW'] }],
  };
  const until = { $add: ['$$NOW', LOCK_MS] };
  try {
    const lock = await meta.findOneAndUpdate(
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
    return lock?.owner === owner;
  } catch (error) {
    if (isDuplicate(error)) return false; // another replica inserted the lock at the first start
    throw error;
  }
}

/**
 * Resolves when the schema is at least this release's, migrated by this or another replica. Rejects
 * with the signal's reason when it aborts.
 */
export async function migrate(db: Db, log: Log, signal?: AbortSignal): Promise<void> {
  const meta = db.collection<MetaDocument>('meta');
  const owner = randomUUID();
  let isNew: boolean | undefined;
  for (;;) {
    const version = await schemaVersion(meta);
    isNew ??= version === 0;
    if (version >= SCHEMA_VERSION) return;
    if (!(await takeLock(meta, owner))) {
      await sleep(POLL_MS, undefined, signal && { signal });
      continue;
    }
    const next = MIGRATIONS.find(migration => migration.version > version)!;
    // A new database has nothing to migrate that takes time.
    log[isNew ? 'debug' : 'info'](
      { version: next.version, what: next.what },
      'migrating the database',
    );
    await next.run(db);
    await meta.updateOne({ _id: 'schema' }, { $max: { version: next.version } }, { upsert: true });
    if (next.version === SCHEMA_VERSION)
      await meta.updateOne({ _id: 'migration', owner }, { $set: { until: new Date(0) } });
  }
}
