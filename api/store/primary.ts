// Whether MongoDB has a primary that answers, as the driver's monitors see it, and the log lines
// that tell an operator when it has none.
import { type MongoClient, MongoCompatibilityError, type ServerDescription } from 'mongodb';
import type { Log } from '../../common/log.ts';
import { isLoginRefused, NoPrimary } from './failures.ts';

export interface Primary {
  /**
   * For how long there has been none, by the monotonic clock; 0 while there is one. What was
   * started in this time was not sent.
   */
  missingMs(): number;
  /**
   * Throws NoPrimary when an operation that is started now would most likely only wait for its time
   * limit.
   */
  throwIfMissing(): void;
  /** Resolves when there is one. Rejects with the signal's reason when that aborts before. */
  there(signal: AbortSignal): Promise<void>;
  /** What each member says or does, in words for the log. */
  members(): Record<string, string>;
  /** The driver's sentence on a server that is too old or too new for it. */
  incompatible(): string | undefined;
  /** From now on the log tells when there is none, and when there is one again. */
  watch(): void;
  stop(): void;
}

/**
 * With MongoDB's defaults an election takes 12 s at most: so long a call may hope that its time
 * limit sees the next primary.
 */
const HOPEFUL_MS = 12_000;
/** A planned change of the primary is shorter, and nothing to wake up for. */
const SAY_AFTER_MS = 1_000;
const SAY_AGAIN_MS = 10_000;

const WORDS: Record<string, string> = {
  Unknown: 'has not answered yet',
  RSPrimary: 'is the primary',
  PossiblePrimary: 'has not answered yet',
  RSSecondary: 'is a secondary',
  RSArbiter: 'is an arbiter',
  RSOther: 'is starting up, recovering or hidden',
  RSGhost: 'is starting up, or its replica set was never initiated (rs.initiate)',
};

function inWords({ type, error }: ServerDescription): string {
  if (isLoginRefused(error)) return 'refuses the login';
  return error ? error.message.slice(0, 200) : (WORDS[type] ?? type);
}

/** `nowMs` is monotonic. */
export function findPrimary(
  client: MongoClient,
  log: Log,
  nowMs = () => performance.now(),
): Primary {
  const { hosts, replicaSet, credentials } = client.options;
  let servers: ServerDescription[] = [];
  let missingSinceMs: number | undefined;
  let watching = false;
  let said = false;
  let timer: NodeJS.Timeout | undefined;
  let refusalSaidMs = Number.NEGATIVE_INFINITY;
  let arrival = Promise.withResolvers<void>();

  const missingMs = () => (missingSinceMs === undefined ? 0 : nowMs() - missingSinceMs);

  function members(): Record<string, string> {
    if (servers.length > 0)
      return Object.fromEntries(servers.map(server => [server.address, inWords(server)]));
    // The driver forgets members that belong elsewhere.
    const words = `answers, but as no member of ${replicaSet ? `the replica set \`${replicaSet}\`` : 'a replica set'}`;
    return Object.fromEntries(hosts.map(host => [String(host), words]));
  }

  function sayMissing(): void {
    const hopeful = missingMs() < HOPEFUL_MS;
    const line = {
      missingMs: Math.round(missingMs()),
      calls: hopeful ? 'wait' : 'are refused at once',
      members: members(),
    };
    log[hopeful ? 'warn' : 'error'](line, 'MongoDB has no primary that answers');
    said = true;
    timer = setTimeout(sayMissing, SAY_AGAIN_MS);
  }

  function sayRefused(server: ServerDescription): void {
    if (nowMs() - refusalSaidMs < SAY_AGAIN_MS) return;
    refusalSaidMs = nowMs();
    log.error(
      { member: server.address, user: credentials?.username },
      'MongoDB refuses the login, its user or password has changed',
    );
  }

  function look(): void {
    const found = servers.some(server => server.isWritable);
    if (found && said)
      log.info({ missingMs: Math.round(missingMs()) }, 'MongoDB has a primary again');
    if (found) {
      clearTimeout(timer);
      timer = undefined;
      said = false;
      missingSinceMs = undefined;
      arrival.resolve();
    } else {
      if (missingSinceMs === undefined) arrival = Promise.withResolvers();
      missingSinceMs ??= nowMs();
      if (watching) timer ??= setTimeout(sayMissing, SAY_AFTER_MS);
    }
    const refusing = watching && servers.find(({ error }) => isLoginRefused(error));
    if (refusing) sayRefused(refusing);
  }

  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    servers = [...newDescription.servers.values()];
    look();
  });
  return {
    missingMs,
    throwIfMissing: () => {
      if (missingMs() >= HOPEFUL_MS) throw new NoPrimary(missingMs());
    },
    there: signal => {
      const aborted = Promise.withResolvers<never>();
      const onAbort = () => aborted.reject(signal.reason);
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
      return Promise.race([arrival.promise, aborted.promise]).finally(() =>
        signal.removeEventListener('abort', onAbort),
      );
    },
    members,
    incompatible: () =>
      servers.find(({ error }) => error instanceof MongoCompatibilityError)?.error?.message,
    watch: () => {
      watching = true;
      look();
    },
    stop: () => {
      watching = false;
      clearTimeout(timer);
    },
  };
}
