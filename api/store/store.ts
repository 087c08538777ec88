// The connection to MongoDB: client, collections, time limits, and a start that waits for a database which is still down.
// This folder alone imports the driver; the other rooms take the types that stand here.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Collection, MongoClient } from 'mongodb';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { AccountDocument, MetaDocument } from './documents.ts';
import { isDatabaseUnavailable, isLoginRefused, withinMs } from './failures.ts';
import { migrate } from './migrations.ts';
import { checkServer } from './server-check.ts';

export type { AnyBulkWriteOperation, Collection, Document } from 'mongodb';
export * from './documents.ts';
export { DatabaseTimeout, isDatabaseUnavailable, isDuplicate, isServerAnswer, withinMs } from './failures.ts';

export interface StoreConfig {
  /** `mongodb://` or `mongodb+srv://`; the database is the one it names, else `pressroom`. */
  uri: string;
  /** The longest that one operation may take, on the server, in the acknowledgement of its write, and in the caller's eyes. */
  operationTimeoutMs: number;
}

export interface Store extends Service {
  /**
   * Connects, checks the server, migrates. While MongoDB is down it waits and says so in the log; a server that will never do
   * (too old, no replica set, login refused) rejects. `giveUp` ends the waiting.
   */
  start(giveUp?: AbortSignal): Promise<void>;
  readonly accounts: Collection<AccountDocument>;
  readonly meta: Collection<MetaDocument>;
  readonly operationTimeoutMs: number;
  /** For `maxTimeMS` etc. of each operation. */
  readonly limits: { maxTimeMS: number };
  /** Waits for an operation at most `operationTimeoutMs`, then rejects with DatabaseTimeout; the operation itself goes on. */
  limited<T>(operation: Promise<T>): Promise<T>;
  /** Resolves when a primary answered in time. */
  ping(timeoutMs: number): Promise<void>;
}

const LOOK_AGAIN_MS = 1_000;

function createClient({ uri, operationTimeoutMs }: StoreConfig): MongoClient {
  try {
    return new MongoClient(uri, {
      appName: 'pressroom',
      // A write that one member alone has seen can be rolled back by an election, and a lease with it.
      writeConcern: { w: 'majority', wtimeoutMS: operationTimeoutMs },
      readPreference: 'primary',
      retryWrites: true,
      ignoreUndefined: true,
      serverSelectionTimeoutMS: operationTimeoutMs,
      connectTimeoutMS: operationTimeoutMs,
      waitQueueTimeoutMS: operationTimeoutMs,
      // The server gives up first (maxTimeMS), so that its answer says why; this is for a server that has stopped talking.
      socketTimeoutMS: operationTimeoutMs + 1_000,
    });
  } catch (error) {
    throw new Error(`The address of MongoDB is wrong: ${(error as Error).message}`, { cause: error });
  }
}

/** Does not connect yet: `start` does. Throws when the address can not be read. */
export function connectStore(config: StoreConfig, log: Log): Store {
  const { operationTimeoutMs } = config;
  const client = createClient(config);
  const hosts = client.options.hosts.map(String);
  // The driver's own default name is `test`.
  const named = client.options.dbName !== 'test' || /\/test(\?|$)/.test(config.uri);
  const db = client.db(named ? undefined : 'pressroom');

  async function start(giveUp?: AbortSignal): Promise<void> {
    for (let waiting = false; ; waiting = true) {
      try {
        await client.connect();
        await checkServer(db, operationTimeoutMs);
        await migrate(db, log, giveUp);
        if (waiting) log.info({ hosts }, 'MongoDB answers now');
        return;
      } catch (error) {
        if (giveUp?.aborted || !isDatabaseUnavailable(error)) {
          await client.close();
          throw isLoginRefused(error) ? new Error('MongoDB refused the user name or the password.', { cause: error }) : error;
        }
        log.warn({ hosts, reason: (error as Error).message }, 'MongoDB does not answer, waiting for it');
        await sleep(LOOK_AGAIN_MS, undefined, giveUp && { signal: giveUp }).catch(() => undefined);
      }
    }
  }

  return {
    name: 'database',
    accounts: db.collection<AccountDocument>('accounts'),
    meta: db.collection<MetaDocument>('meta'),
    operationTimeoutMs,
    limits: { maxTimeMS: operationTimeoutMs },
    limited: operation => withinMs(operationTimeoutMs, operation),
    ping: async timeoutMs => {
      await withinMs(timeoutMs, db.command({ ping: 1, maxTimeMS: timeoutMs }));
    },
    start,
    stop: () => client.close(),
  };
}
