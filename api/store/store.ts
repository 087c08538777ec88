// The connection to MongoDB: client, collections, time limits, and a start that waits for a database
// that is down. Only this folder imports the driver; other folders import its types from here.

import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientSession, type Collection, MongoClient } from 'mongodb';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import { type ConsoleCollections, consoleCollections, keepRenders } from './console-collections.ts';
import type {
  AccountDocument,
  DeletedAccountDocument,
  MetaDocument,
  TrialLimitDocument,
} from './documents.ts';
import { isDatabaseUnavailable, isTimeout, withinMs } from './failures.ts';
import { abortIdleTransactions } from './idle-transactions.ts';
import { type JobCollections, jobCollections } from './job-documents.ts';
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
 * Measures an operation until the driver has its result, even if the caller has stopped waiting.
 * Returns the same promise.
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
    'Connections to MongoDB. Connections being opened count as idle.',
    ['state'],
    gauge => {
      gauge.set({ state: 'in_use' }, inUse);
      gauge.set({ state: 'idle' }, open - inUse);
    },
  );
  metrics.gauge(
    'pressroom_mongodb_waiting_operations',
    'Operations waiting for a free connection to MongoDB.',
    [],
    gauge => gauge.set(waiting),
  );
}

export function storeMetrics(metrics: Metrics, client: MongoClient): Timed {
  const durations = metrics.histogram(
    'pressroom_mongodb_operation_duration_seconds',
    'Duration of MongoDB operations including a retry, by outcome. A timeout is an operation without an answer within its time limit.',
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

export type {
  AnyBulkWriteOperation,
  ClientSession,
  Collection,
  Document,
  Filter,
} from 'mongodb';
export { Binary } from 'mongodb';
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
export type {
  BatchDocument,
  BatchPlace,
  JobDocument,
  JobError,
  JobStatus,
  LoggedAttempt,
  OutboxDocument,
  StoredContent,
} from './job-documents.ts';
export type { ServerState } from './server-state.ts';
export type { StoredPdfChunk, StoredPdfDocument } from './stored-pdfs.ts';

export interface StoreConfig {
  /** `mongodb://` or `mongodb+srv://`. The database in it is used, `pressroom` by default. */
  uri: string;
  /** Time limit of one operation: on the server, of its write concern, and for its caller. */
  operationTimeoutMs: number;
}

export interface Store extends Service {
  /**
   * Connects, checks the server and migrates. Waits while MongoDB is down, and logs it. Rejects for
   * an unsuitable server (too old, no replica set, login rejected). `signal` aborts the wait.
   */
  start(signal?: AbortSignal): Promise<void>;
  readonly accounts: Collection<AccountDocument>;
  readonly deletedAccounts: Collection<DeletedAccountDocument>;
  readonly meta: Collection<MetaDocument>;
  readonly trialLimits: Collection<TrialLimitDocument>;
  /** The collections of the dashboard. */
  readonly console: ConsoleCollections;
  /** The collections of asynchronous renders. */
  readonly asynchronous: JobCollections;
  readonly operationTimeoutMs: number;
  /** Options of each operation. */
  readonly limits: { maxTimeMS: number };
  /** Whether an operation can be sent at all. */
  readonly primary: Pick<Primary, 'missingMs' | 'throwIfMissing' | 'there'>;
  /**
   * Waits for an operation for at most `operationTimeoutMs`, then rejects with DatabaseTimeout. The
   * operation continues.
   */
  limited<T>(operation: Promise<T>): Promise<T>;
  /**
   * Runs `work` in one transaction, and again after a conflict with another write, for at most two
   * minutes. Every operation of `work` must be given the session. What `work` throws aborts the
   * transaction.
   */
  transaction<T>(work: (session: ClientSession) => Promise<T>): Promise<T>;
  /** Aborts transactions whose process died. Returns their number. */
  abortIdleTransactions(): Promise<number>;
  /** Records the duration of an operation in the metrics. */
  readonly timed: Timed;
  /** Sets the retention of the render log. Rejects when the database user may not change it. */
  keepRenders(keepMs: number): Promise<void>;
  /** The current state of the server and its replica set. */
  serverState(): Promise<ServerState>;
  /** Resolves when a primary answered in time. */
  ping(timeoutMs: number): Promise<void>;
}

const describeMembers = (members: Record<string, string>) =>
  Object.entries(members)
    .map(([host, state]) => `${host}: ${state}`)
    .join('; ');

const APP_NAME = 'pressroom';
const RETRY_MS = 1_000;
const HEARTBEAT_MS = 1_000;

function createClient({ uri, operationTimeoutMs }: StoreConfig): MongoClient {
  try {
    return new MongoClient(uri, {
      appName: APP_NAME,
      // An election can roll back a write that only one member has, and a lease with it.
      writeConcern: { w: 'majority', wtimeoutMS: operationTimeoutMs },
      readPreference: 'primary',
      retryWrites: true,
      ignoreUndefined: true,
      serverSelectionTimeoutMS: operationTimeoutMs,
      connectTimeoutMS: operationTimeoutMs,
      // How soon an idle client finds a recovered server, and how much later than
      // `connectTimeoutMS` it detects a frozen one.
      heartbeatFrequencyMS: HEARTBEAT_MS,
      waitQueueTimeoutMS: operationTimeoutMs,
      // Longer than maxTimeMS, so that the server's own timeout error arrives first. This limit is
      // for a server that no longer responds.
      socketTimeoutMS: operationTimeoutMs + 1_000,
    });
  } catch (error) {
    throw new Error(`MONGODB_URI is invalid: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Does not connect until `start`. Throws for an invalid URI. Command-line tools omit `metrics`. */
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
        if (waiting) log.info({ members: primary.members() }, 'MongoDB is responding');
        return;
      } catch (error) {
        const never = neverStarts(error, client.options, db.databaseName, primary.incompatible());
        if (never) throw never;
        // More helpful than the driver's message, which is only that the client was closed.
        if (signal?.aborted) throw new Error(describeMembers(primary.members()), { cause: error });
        if (!isDatabaseUnavailable(error)) throw error;
        log.warn(
          { members: primary.members(), reason: (error as Error).message },
          'MongoDB is not responding, waiting for it',
        );
        await sleep(RETRY_MS, undefined, signal && { signal }).catch(() => undefined);
      }
    }
  }

  async function start(signal?: AbortSignal): Promise<void> {
    // The driver accepts no signal; closing the client ends its waits.
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
    deletedAccounts: db.collection<DeletedAccountDocument>('deleted_accounts'),
    meta: db.collection<MetaDocument>('meta'),
    trialLimits: db.collection<TrialLimitDocument>('limits'),
    console: consoleCollections(db),
    asynchronous: jobCollections(db),
    operationTimeoutMs,
    limits,
    primary,
    limited: operation => withinMs(operationTimeoutMs, operation),
    transaction: work =>
      client.withSession(session => session.withTransaction(() => work(session), {})),
    abortIdleTransactions: () =>
      withinMs(operationTimeoutMs, abortIdleTransactions(client.db('admin'), APP_NAME, limits)),
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
