// WebSockets to the workers' gateways, with chrome-remote-interface. A socket is opened with a slot
// and kept for the next one after a clean end. A new socket costs both ends a millisecond of CPU
// together, and the render a handshake.
import CDP from 'chrome-remote-interface';
import type { Service } from '../../common/lifecycle.ts';
import { END, OPEN, PING, PING_MS, type PingAnswer, SLOT_ENDS_MS } from '../../common/protocol.ts';

/**
 * A socket is closed when no slot was opened on it for this long. It may be dead: the library does
 * not report the worker's pings, and nothing else is sent on it meanwhile.
 */
const KEPT_MS = 2 * PING_MS;

/** Command ids grow with each slot, and a worker accepts at most nine digits. */
const AGE_MS = 24 * 60 * 60_000;

/** A kept socket closed while a slot was requested on it; its worker may be reachable. */
export class KeptSocketLost extends Error {
  override name = 'KeptSocketLost';
}

export interface Connection {
  /**
   * Rejects with an error for which `isErrorResponse` holds when the worker responded with an error, and
   * with another one when the socket closed.
   */
  send(method: string, params?: object): Promise<unknown>;
  on(event: string, listener: (...params: never[]) => void): void;
  off(event: string, listener: (...params: never[]) => void): void;
  /** Another slot can be opened on it; known once its first slot was opened. */
  keeps: boolean;
  /** It has command ids left for another slot. */
  isYoung(): boolean;
  /** Closes it after `ms`, unless called again before. */
  closeAfter(ms: number | undefined): void;
  close(): void;
  /** Settles when it is closed, by either side. */
  readonly closed: Promise<void>;
}

export interface Connections extends Service {
  /**
   * Opens a slot, on a kept socket to this worker or a new one, and returns the id of its main
   * frame and whether its page is sealed. Rejects with KeptSocketLost, or when the worker cannot be reached or rejects:
   * `isErrorResponse`, or a message with the status of its answer. With `signal` aborted the socket is
   * closed, and its slot with it.
   */
  open(
    worker: string,
    ticket: string,
    signal: AbortSignal,
  ): Promise<{ connection: Connection; frameId: string; sealed: boolean }>;
  /** Ends the slot after a render that succeeded, and keeps the socket once the worker has confirmed the end. */
  giveBack(worker: string, connection: Connection): void;
  /** Closes the kept sockets to this worker after one of them failed. */
  drop(worker: string): void;
}

/** The worker answered a command with an error. */
export const isErrorResponse = (error: unknown): error is Error =>
  error instanceof Error && 'response' in error;

type Client = CDP.Client & {
  send(method: string, params?: object): Promise<unknown>;
  on(event: string, listener: (...params: never[]) => void): void;
  off(event: string, listener: (...params: never[]) => void): void;
};

/**
 * The library fetches and decorates the whole protocol for each connection; an empty description
 * saves that, commands go through `send`. The cast: its types ask for a whole description.
 */
const connect = async (target: string) =>
  (await CDP({ target, local: true, protocol: { domains: [] } as never })) as Client;

/** `onClosed` is called once, whichever side closed it. */
function wrap(client: Client, onClosed: (connection: Connection) => void): Connection {
  const bornMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const closed = Promise.withResolvers<void>();
  let isClosed = false;
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(timer);
    closed.resolve();
    onClosed(connection);
    client.close().catch(() => {}); // which is no 'disconnect' to the library
  };
  const connection: Connection = {
    send: (method, params) => client.send(method, params),
    on: (event, listener) => client.on(event, listener),
    off: (event, listener) => client.off(event, listener),
    keeps: false,
    isYoung: () => performance.now() - bornMs < AGE_MS,
    closeAfter: ms => {
      clearTimeout(timer);
      timer = ms === undefined ? undefined : setTimeout(close, ms).unref();
    },
    close,
    closed: closed.promise,
  };
  client.on('disconnect', close);
  return connection;
}

export interface ConnectionsOptions {
  /** Where to connect to for a worker's address (default: there). */
  reach?: (worker: string) => string;
  keptMs?: number;
}

export function createConnections({
  reach = worker => worker,
  keptMs = KEPT_MS,
}: ConnectionsOptions = {}): Connections {
  /** Last used, first reused, so that surplus sockets expire. */
  const kept = new Map<string, Connection[]>();
  /** Connections whose slots are ending. */
  const leaving = new Set<Connection>();
  let stopped = false;

  function forget(worker: string, connection: Connection): void {
    const others = kept.get(worker)?.filter(each => each !== connection) ?? [];
    if (others.length > 0) kept.set(worker, others);
    else kept.delete(worker);
  }

  function take(worker: string): Connection | undefined {
    for (let last = kept.get(worker)?.at(-1); last; last = kept.get(worker)?.at(-1)) {
      forget(worker, last);
      last.closeAfter(undefined);
      if (last.isYoung()) return last;
      last.close();
    }
    return undefined;
  }

  function keep(worker: string, connection: Connection): void {
    if (stopped) return connection.close();
    kept.set(worker, [...(kept.get(worker) ?? []), connection]);
    connection.closeAfter(keptMs);
  }

  async function connectTo(worker: string, ticket: string): Promise<Connection> {
    const client = await connect(`${reach(worker).replace(/\/$/, '')}/v1/slot?ticket=${ticket}`);
    return wrap(client, connection => {
      leaving.delete(connection);
      forget(worker, connection);
    });
  }

  return {
    name: 'connections to the workers',
    async open(worker, ticket, signal) {
      const known = take(worker);
      const connecting = known ? Promise.resolve(known) : connectTo(worker, ticket);
      const opened = connecting.then(async connection => {
        const answer = (await (known
          ? known.send(OPEN, { ticket })
          : connection.send(PING))) as PingAnswer;
        connection.keeps = answer.keeps ?? false;
        return { connection, frameId: answer.frameId, sealed: answer.sealed ?? false };
      });
      const aborted = Promise.withResolvers<never>();
      const onAbort = () => aborted.reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        return await Promise.race([opened, aborted.promise]);
      } catch (error) {
        opened.catch(() => {});
        if (known && isErrorResponse(error)) keep(worker, known);
        // A result that arrives later is not used: the slot must be released.
        else connecting.then(connection => connection.close()).catch(() => {});
        if (known && !isErrorResponse(error) && !signal.aborted)
          throw new KeptSocketLost((error as Error).message, { cause: error });
        throw error;
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
    giveBack(worker, connection) {
      if (!connection.keeps) return connection.close();
      leaving.add(connection);
      connection.closeAfter(SLOT_ENDS_MS);
      connection
        .send(END, { succeeded: true })
        .then(() => leaving.delete(connection) && keep(worker, connection), connection.close);
    },
    drop(worker) {
      for (const connection of kept.get(worker) ?? []) connection.close();
    },
    start: async () => {},
    async stop() {
      stopped = true;
      for (const connection of [...leaving, ...[...kept.values()].flat()]) connection.close();
    },
  };
}
