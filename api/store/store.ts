// The connection to MongoDB: client, collections, time limits, and a start that waits for a
// database which is still down. This folder alone imports the driver; the other rooms take the
// types that stand here.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Collection, MongoClient } from 'mongodb';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import { type ConsoleCollections, consoleCollections, keepRenders } from './console-collections.ts';
import type { AccountDocument, MetaDocument, TrialLimitDocument } from './documents.ts';
import { isDatabaseUnavailable, isTimeout, withinMs } from './failures.ts';
import { migrate } from './migrations.ts';
import { findPrimary, type Primary } from './primary.ts';
import { checkServer, neverStarts } from './server-check.ts';
import { type ServerState, serverState } from './server-state.ts';

export type OperationName =
  | 'admit'
  | 'renew'
  | 'settle'
  | 'release'
  | 'read_key'
  | 'ping'
  | 'trial_count'
  | 'trial_take'
  | 'trial_renew'
  | 'trial_release';

/**
 * Takes the time of an operation until the driver knows its end, also when nobody waits for it any
 * more. Gives back the same promise.
 */
export type Timed = <T>(name: OperationName, operation: Promise<T>) => Promise<T>;

const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function countConnections(metrics: Metrics, client: MongoClient): void {
  let open = 0;
  let inUse = 0;
  let waiting = 0;
  client.on('connectionCreated', () => open++);
  client.on('connectionClosed', () => open--);
  client.on('connectionCheckedIn', () => inUse--);
  client.on('connectionCheckOutStarted', () => waiting++);
  client.on('connectionCheckOutFailed', () => waiting--);
  client.on('connectionCheckedOut', () => {
    waiting--;
    inUse++;
  });
  metrics.gauge(
    'pressroom_mongodb_connections',
    'Connections to MongoDB; those that are being opened count as idle.',
    ['state'],
    gauge => {
      gauge.set({ state: 'in_use' }, inUse);
      gauge.set({ state: 'idle' }, open - inUse);
    },
  );
  metrics.gauge(
    'pressroom_mongodb_waiting_operations',
    'Operations that wait for a free connection to MongoDB.',
    [],
    gauge => gauge.set(waiting),
  );
}

export function storeMetrics(metrics: Metrics, client: MongoClient): Timed {
  const durations = metrics.histogram(
    'pressroom_mongodb_operation_duration_seconds',
    'How long MongoDB took, a repetition included; a timeout is an operation without an answer in its time.',
    ['operation', 'outcome'],
    BUCKETS_S,
  );
  countConnections(metrics, client);
  return (name, operation) => {
    const startMs = performance.now();
    const ended = (outcome: 'ok' | 'timeout' | 'error') =>
      durations.observe({ operation: name, outcome }, (performance.now() - startMs) / 1_000);
    operation.then(
      () => ended('ok'),
      error => ended(isTimeout(error) ? 'timeout' : 'error'),
    );
    return operation;
  };
}

export type { AnyBulkWriteOperation, Collection, Document } from 'mongodb';
export * from './console-documents.ts';
export * from './documents.ts';
export {
  DatabaseTimeout,
  duplicatesOf,
  isDatabaseUnavailable,
  isDuplicate,
  isServerAnswer,
  NoPrimary,
  repeatedOnce,
  upserted,
  withinMs,
} from './failures.ts';
export type { ServerState } from './server-state.ts';
export type { StoredPdfChunk, StoredPdfDocument } from './stored-pdfs.ts';

export interface StoreConfig {
  /** `mongodb://` or `mongodb+srv://`; the database is the one it names, else `pressroom`. */
  uri: string;
  /**
   * The longest that one operation may take, on the server, in the acknowledgement of its write,
   * and in the caller's eyes.
   */
  operationTimeoutMs: number;
}

export interface Store extends Service {
  /**
   * Connects, checks the server, migrates. While MongoDB is down it waits and says so in the log; a
   * server that will never do (too old, no replica set, login refused) rejects. `signal` ends the
   * waiting.
   */
  start(signal?: AbortSignal): Promise<void>;
  readonly accounts: Collection<AccountDocument>;
  readonly meta: Collection<MetaDocument>;
  readonly trialLimits: Collection<TrialLimitDocument>;
  /** What the dashboard keeps. */
  readonly console: ConsoleCollections;
  readonly operationTimeoutMs: number;
  /** For `maxTimeMS` etc. of each operation. */
  readonly limits: { maxTimeMS: number };
  /** Whether an operation can be sent at all. */
  readonly primary: Pick<Primary, 'missingMs' | 'throwIfMissing' | 'there'>;
  /**
   * Waits for an operation at most `operationTimeoutMs`, then rejects with DatabaseTimeout; the
   * operation itself goes on.
   */
  limited<T>(operation: Promise<T>): Promise<T>;
  /** Tells the metrics how long an operation took. */
  readonly timed: Timed;
  /** How long the log of renders lives. Rejects when the user of the database may not change it. */
  keepRenders(keepMs: number): Promise<void>;
  /** What the server says of itself and of its set, as of now. */
  serverState(): Promise<ServerState>;
  /** Resolves when a primary answered in time. */
  ping(timeoutMs: number): Promise<void>;
}

const inWords = (members: Record<string, string>) =>
  Object.entries(members)
    .map(([host, words]) => `${host}: ${words}`)
    .join('; ');

const LOOK_AGAIN_MS = 1_000;
const HEARTBEAT_MS = 1_000;

function createClient({ uri, operationTimeoutMs }: StoreConfig): MongoClient {
  try {
    return new MongoClient(uri, {
      appName: 'pressroom',
      // A write that one member alone has seen can be rolled back by an election, and a lease with
      // it.
      writeConcern: { w: 'majority', wtimeoutMS: operationTimeoutMs },
      readPreference: 'primary',
      retryWrites: true,
      ignoreUndefined: true,
      serverSelectionTimeoutMS: operationTimeoutMs,
      connectTimeoutMS: operationTimeoutMs,
      // How soon a server that is back is found when nothing is sent to it, and how much later than
      // `connectTimeoutMS` a frozen one is noticed.
      heartbeatFrequencyMS: HEARTBEAT_MS,
      waitQueueTimeoutMS: operationTimeoutMs,
      // The server gives up first (maxTimeMS), so that its answer says why; this is for a server
      // that has stopped talking.
      socketTimeoutMS: operationTimeoutMs + 1_000,
    });
  } catch (error) {
    throw new Error(`The address of MongoDB is wrong: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/**
 * Does not connect yet: `start` does. Throws when the address can not be read. Tools that no one
 * scrapes give no `metrics`.
 */
export function connectStore(config: StoreConfig, log: Log, metrics?: Metrics): Store {
  const { operationTimeoutMs } = config;
  const client = createClient(config);
  const timed: Timed = metrics ? storeMetrics(metrics, client) : (_name, operation) => operation;
  const primary = findPrimary(client, log);
  // The driver's own default name is `test`.
  const named = client.options.dbName !== 'test' || /\/test(\?|$)/.test(config.uri);
  const db = client.db(named ? undefined : 'pressroom');
  const limits = { maxTimeMS: operationTimeoutMs };

  async function untilItServes(signal?: AbortSignal): Promise<void> {
    for (let waiting = false; ; waiting = true) {
      try {
        signal?.throwIfAborted();
        await client.connect();
        await checkServer(db, operationTimeoutMs);
        await migrate(db, log, signal);
        if (waiting) log.info({ members: primary.members() }, 'MongoDB answers now');
        return;
      } catch (error) {
        const never = neverStarts(error, client.options, db.databaseName, primary.incompatible());
        if (never) throw never;
        // The driver's own words would only be that it was closed.
        if (signal?.aborted) throw new Error(inWords(primary.members()), { cause: error });
        if (!isDatabaseUnavailable(error)) throw error;
        log.warn(
          { members: primary.members(), reason: (error as Error).message },
          'MongoDB does not answer, waiting for it',
        );
        await sleep(LOOK_AGAIN_MS, undefined, signal && { signal }).catch(() => undefined);
      }
    }
  }

  async function start(signal?: AbortSignal): Promise<void> {
    // The driver knows no signal: closing it ends what it waits for.
    const close = () => void client.close().catch(() => undefined);
    signal?.addEventListener('abort', close);
    try {
      await untilItServes(signal);
      primary.watch();
    } catch (error) {
      await client.close();
      throw error;
    } finally {
      signal?.removeEventListener('abort', close);
    }
  }

  return {
    name: 'database',
    accounts: db.collection<AccountDocument>('accounts'),
    meta: db.collection<MetaDocument>('meta'),
    trialLimits: db.collection<TrialLimitDocument>('limits'),
    console: consoleCollections(db),
    operationTimeoutMs,
    limits,
    primary,
    limited: operation => withinMs(operationTimeoutMs, operation),
    timed,
    keepRenders: keepMs => withinMs(operationTimeoutMs, keepRenders(db, keepMs)),
    serverState: () => withinMs(operationTimeoutMs, serverState(db, operationTimeoutMs)),
    ping: async timeoutMs => {
      await withinMs(timeoutMs, timed('ping', db.command({ ping: 1, maxTimeMS: timeoutMs })));
    },
    start,
    stop: () => {
      primary.stop();
      return client.close();
    },
  };
}
