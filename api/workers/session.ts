// A slot's CDP session: sends typed commands over its connection, reports when and why it is over.
// Adapter of the slot port.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import {
  EGRESS_DENIED,
  EGRESS_REFUSED,
  EGRESS_TIMED_OUT,
  type EgressDenied,
  type EgressTarget,
  END,
  type PageEvent,
  PING,
  PING_MS,
  SLOT_ENDED,
  SLOT_ENDS_MS,
  type SlotEnded,
  STILL,
} from '../../common/protocol.ts';
import {
  type Connection,
  type Connections,
  isErrorResponse,
  KeptSocketLost,
} from './connections.ts';
import {
  type OpenSlot,
  SlotLost,
  SlotRejected,
  type SlotSession,
  WorkerUnreachable,
} from './slot-port.ts';

const HANDSHAKE_MS = 1_000;

interface Events extends Pick<ProtocolMapping.Events, PageEvent> {
  [EGRESS_DENIED]: [EgressDenied];
  [EGRESS_REFUSED]: [EgressTarget];
  [EGRESS_TIMED_OUT]: [EgressTarget];
  [SLOT_ENDED]: [SlotEnded];
}
interface Commands extends ProtocolMapping.Commands {
  [STILL]: { paramsType: []; returnType: Record<string, never> };
}
type Params<M extends keyof Commands> = Commands[M]['paramsType'];

/** Chrome answered a command with an error; `message` is Chrome's own. */
export class CommandFailed extends Error {
  override name = 'CommandFailed';
}

/**
 * Rejects with CommandFailed, or SlotLost when the slot ends first. It has no deadline of its own:
 * the page session has one for all.
 */
export type Command = <M extends keyof Commands>(
  method: M,
  ...params: Params<M>
) => Promise<Commands[M]['returnType']>;

export interface Session extends SlotSession {
  /** No script of a document runs in the page, and nothing is loaded. */
  readonly sealed: boolean;
  command: Command;
  on<E extends keyof Events>(event: E, listener: (...params: Events[E]) => void): void;
}

/** Opens slots; see the slot port for the errors. */
export const openSession =
  (connections: Connections): OpenSlot<Session> =>
  async (worker, ticket, signal) => {
    signal.throwIfAborted();
    const limit = new AbortController();
    const timer = setTimeout(
      () =>
        limit.abort(new WorkerUnreachable(`${worker} did not respond within ${HANDSHAKE_MS} ms`)),
      HANDSHAKE_MS,
    );
    const onAbort = () => limit.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const { connection, ...page } = await connections.open(worker, ticket, limit.signal);
      return new CdpSession(connection, { worker, ...page }, () =>
        connections.giveBack(worker, connection),
      );
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (isErrorResponse(error) || /\b503\b/.test((error as Error).message))
        throw new SlotRejected(`${worker} has no free slot`);
      connections.drop(worker);
      if (error instanceof WorkerUnreachable) throw error;
      // A new socket may work: the worker is not blocked for as long as an unreachable one.
      if (error instanceof KeptSocketLost)
        throw new SlotRejected(`${worker} closed a socket that was kept`, { cause: error });
      throw new WorkerUnreachable(`${worker}: ${(error as Error).message}`, { cause: error });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  };

type End = Awaited<SlotSession['ended']>;

class CdpSession implements Session {
  readonly worker: string;
  readonly frameId: string;
  readonly sealed: boolean;
  readonly ended: Promise<End>;
  readonly #connection: Connection;
  readonly #giveBack: () => void;
  readonly #over = Promise.withResolvers<End>();
  readonly #listeners: [string, (...params: never[]) => void][] = [];
  readonly #pinging: NodeJS.Timeout;
  #abandoned: Promise<void> | undefined;
  #end: End | undefined;
  /** The worker has ended the slot, and closes the socket when the page is gone. */
  #ending = false;
  #receivedMs = performance.now();
  #sentMs = this.#receivedMs;
  /**
   * At most one ping is pending: more of them could keep the slot alive at the other end although
   * nothing arrives here.
   */
  #pinged = false;
  /** Commands without a response yet. */
  #unanswered = 0;

  /**
   * `giveBack` is called instead of closing the connection when nothing is left to be sent on it.
   */
  constructor(
    connection: Connection,
    { worker, frameId, sealed }: Pick<Session, 'worker' | 'frameId' | 'sealed'>,
    giveBack: () => void,
  ) {
    this.worker = worker;
    this.frameId = frameId;
    this.sealed = sealed;
    this.ended = this.#over.promise;
    this.#connection = connection;
    this.#giveBack = giveBack;
    this.#listen('event', () => {
      this.#receivedMs = performance.now();
    });
    this.#listen(SLOT_ENDED, (end: SlotEnded) => {
      this.#ending = true;
      this.#finish(end, () => connection.closeAfter(SLOT_ENDS_MS));
    });
    this.#listen('disconnect', () =>
      this.#finish({ reason: 'closed', message: 'the connection to the worker was lost' }),
    );
    this.#pinging = setInterval(() => this.#ping(), PING_MS);
  }

  readonly command: Command = async (method, ...[params]) => {
    if (this.#end) throw new SlotLost(this.#end.reason, this.#end.message);
    // The cast: the protocol's types give each method its result.
    try {
      return (await this.#send(method, params)) as never;
    } catch (error) {
      // The socket closes in the same turn in which the worker's last message arrives: `#end` has
      // the reason.
      const end = this.#end as End | undefined;
      if (end) throw new SlotLost(end.reason, end.message);
      if (isErrorResponse(error)) throw new CommandFailed(error.message, { cause: error });
      throw new SlotLost('closed', (error as Error).message);
    }
  };

  on<E extends keyof Events>(event: E, listener: (...params: Events[E]) => void): void {
    this.#listen(event, (...params: unknown[]) => {
      try {
        listener(...(params as Events[E]));
      } catch (error) {
        // Thrown into the library, it would end the process and every other render.
        this.#finish({
          reason: 'refused',
          message: `an event of the page could not be read: ${(error as Error).message}`,
        });
      }
    });
  }

  close(): void {
    // A late response could be mistaken for one of the next slot.
    const part = this.#unanswered === 0 ? this.#giveBack : this.#connection.close;
    this.#finish({ reason: 'closed', message: 'the render is over' }, part);
  }

  abandon(): Promise<void> {
    this.#abandoned ??= this.#abandon();
    return this.#abandoned;
  }

  /**
   * Waits for the worker's message that the page is gone, or the end of the socket, or the time
   * after which it must have ended by itself.
   */
  async #abandon(): Promise<void> {
    const [ended, surely] = [this.#end, new AbortController()];
    if (ended && !this.#ending) return;
    clearInterval(this.#pinging);
    const limit = sleep(SLOT_ENDS_MS, undefined, { signal: surely.signal }).catch(() => {});
    const { closed } = this.#connection;
    // An error response means that the slot no longer exists.
    const gone = ended
      ? closed
      : this.#send(END).catch(error => (isErrorResponse(error) ? undefined : closed));
    await Promise.race([gone, limit]);
    surely.abort();
    this.#finish({ reason: 'closed', message: 'the render was aborted' });
    this.#connection.close();
  }

  #listen(event: string, listener: (...params: never[]) => void): void {
    this.#listeners.push([event, listener]);
    this.#connection.on(event, listener);
  }

  #send(method: string, params?: object): Promise<unknown> {
    this.#sentMs = performance.now();
    this.#unanswered++;
    const answer = this.#connection.send(method, params);
    const answered = () => {
      this.#unanswered--;
    };
    answer.then(answered, answered);
    return answer;
  }

  #finish(end: End, part = this.#connection.close): void {
    if (this.#end) return;
    this.#end = end;
    clearInterval(this.#pinging);
    for (const [event, listener] of this.#listeners) this.#connection.off(event, listener);
    this.#over.resolve(end);
    part();
  }

  #ping(): void {
    const silentMs = performance.now() - Math.max(this.#receivedMs, this.#sentMs);
    if (this.#pinged && silentMs > SLOT_ENDS_MS)
      this.#finish({
        reason: 'silent',
        message: `no message from the worker for ${Math.round(silentMs)} ms`,
      });
    if (this.#pinged || this.#end) return;
    this.#pinged = true;
    this.#send(PING).then(
      () => {
        this.#receivedMs = performance.now();
        this.#pinged = false;
      },
      () => {},
    );
  }
}
