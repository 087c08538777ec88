// Tracks whether MongoDB has a reachable primary, as reported by the driver's monitors, and logs
// when it has none.
import { type MongoClient, MongoCompatibilityError, type ServerDescription } from 'mongodb';
import type { Log } from '../../common/log.ts';
import { isLoginRejected, NoPrimary } from './failures.ts';

/**
 * With MongoDB's defaults an election takes at most 12 s. Until then, operations wait for the next
 * primary.
 */
const ELECTION_MS = 12_000;
/** A planned change of the primary is shorter and is not logged. */
const LOG_AFTER_MS = 1_000;
const LOG_EVERY_MS = 10_000;

const STATES: Record<string, string> = {
  Unknown: 'has not responded yet',
  RSPrimary: 'is the primary',
  PossiblePrimary: 'has not responded yet',
  RSSecondary: 'is a secondary',
  RSArbiter: 'is an arbiter',
  RSOther: 'is starting up, recovering or hidden',
  RSGhost: 'is starting up, or its replica set was never initiated (rs.initiate)',
};

function describeState({ type, error }: ServerDescription): string {
  if (isLoginRejected(error)) return 'rejected the login';
  return error ? error.message.slice(0, 200) : (STATES[type] ?? type);
}

function statesOf(
  servers: readonly ServerDescription[],
  { hosts, replicaSet }: MongoClient['options'],
): Record<string, string> {
  if (servers.length > 0)
    return Object.fromEntries(servers.map(server => [server.address, describeState(server)]));
  // The driver drops servers that are not members of the replica set.
  const state = replicaSet
    ? `is not a member of the replica set \`${replicaSet}\``
    : 'is not a member of a replica set';
  return Object.fromEntries(hosts.map(host => [String(host), state]));
}

/** `nowMs` is monotonic. */
export function findPrimary(client: MongoClient, log: Log, nowMs = () => performance.now()) {
  let servers: ServerDescription[] = [];
  let missingSinceMs: number | undefined;
  let watching = false;
  let logged = false;
  let timer: NodeJS.Timeout | undefined;
  let loginLoggedMs = Number.NEGATIVE_INFINITY;
  let primaryFound = Promise.withResolvers<void>();

  /**
   * How long there has been no primary, by the monotonic clock; 0 while there is one. Operations
   * started in this time were not sent.
   */
  const missingMs = () => (missingSinceMs === undefined ? 0 : nowMs() - missingSinceMs);

  /** The state of each member, for the log. */
  const members = () => statesOf(servers, client.options);

  function logMissing(): void {
    const electing = missingMs() < ELECTION_MS;
    const line = {
      missingMs: Math.round(missingMs()),
      calls: electing ? 'wait' : 'are rejected',
      members: members(),
    };
    log[electing ? 'warn' : 'error'](line, 'MongoDB has no reachable primary');
    logged = true;
    timer = setTimeout(logMissing, LOG_EVERY_MS);
  }

  function logRejectedLogin(server: ServerDescription): void {
    if (nowMs() - loginLoggedMs < LOG_EVERY_MS) return;
    loginLoggedMs = nowMs();
    log.error(
      { member: server.address, user: client.options.credentials?.username },
      'MongoDB rejected the login; the user or password has changed',
    );
  }

  function update(): void {
    const hasPrimary = servers.some(server => server.isWritable);
    if (hasPrimary && logged)
      log.info({ missingMs: Math.round(missingMs()) }, 'MongoDB has a primary again');
    if (hasPrimary) {
      clearTimeout(timer);
      timer = undefined;
      logged = false;
      missingSinceMs = undefined;
      primaryFound.resolve();
    } else {
      if (missingSinceMs === undefined) primaryFound = Promise.withResolvers();
      missingSinceMs ??= nowMs();
      if (watching) timer ??= setTimeout(logMissing, LOG_AFTER_MS);
    }
    const rejecting = watching && servers.find(({ error }) => isLoginRejected(error));
    if (rejecting) logRejectedLogin(rejecting);
  }

  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    servers = [...newDescription.servers.values()];
    update();
  });
  return {
    missingMs,
    /** Throws NoPrimary when an operation started now would most likely reach its time limit. */
    throwIfMissing: (): void => {
      if (missingMs() >= ELECTION_MS) throw new NoPrimary(missingMs());
    },
    /** Resolves when there is a primary. Rejects with the signal's reason when it aborts first. */
    there: (signal: AbortSignal): Promise<void> => {
      const aborted = Promise.withResolvers<never>();
      const onAbort = () => aborted.reject(signal.reason);
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
      return Promise.race([primaryFound.promise, aborted.promise]).finally(() =>
        signal.removeEventListener('abort', onAbort),
      );
    },
    members,
    /** The driver's message about a server that is too old or too new for it. */
    incompatible: (): string | undefined =>
      servers.find(({ error }) => error instanceof MongoCompatibilityError)?.error?.message,
    /** Starts logging the loss and the return of the primary. */
    watch: (): void => {
      watching = true;
      update();
    },
    stop: (): void => {
      watching = false;
      clearTimeout(timer);
    },
  };
}
export type Primary = ReturnType<typeof findPrimary>;
