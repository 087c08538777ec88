// A slot's CDP session: sends typed commands over its connection, tells when and why it is over. Adapter of the slot port.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import {
  EGRESS_DENIED,
  EGRESS_REFUSED,
  type EgressDenied,
  type EgressRefused,
  END,
  type PageEvent,
  PING,
  PING_MS,
  SLOT_ENDED,
  SLOT_ENDS_MS,
  type SlotEnded,
  STILL,
} from '../../common/protocol.ts';
import { type Connection, type Connections, isRefusal, KeptSocketLost } from './connections.ts';
import { type OpenSlot, SlotLost, SlotRefused, type SlotSession, WorkerUnreachable } from './slot-port.ts';

const HANDSHAKE_MS = 1_000;

interface Events extends Pick<ProtocolMapping.Events, PageEvent> {
  [EGRESS_DENIED]: [EgressDenied];
  [EGRESS_REFUSED]: [EgressRefused];
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

/** Rejects with CommandFailed, or SlotLost when the slot ends first. It has no deadline of its own: the conversation has one for all. */
export type Command = <M extends keyof Commands>(method: M, ...params: Params<M>) => Promise<Commands[M]['returnType']>;

export interface Session extends SlotSession {
  command: Command;
  on<E extends keyof Events>(event: E, listener: (...params: Events[E]) => void): void;
}

/** Opens slots; see the slot port for the errors. */
export const openSession =
  (connections: Connections): OpenSlot<Session> =>
  async (worker, ticket, signal) => {
    signal.throwIfAborted();
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new WorkerUnreachable(`${worker} did not answer within ${HANDSHAKE_MS} ms`)), HANDSHAKE_MS);
    const onAbort = () => limit.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const { connection, frameId } = await connections.open(worker, ticket, limit.signal);
      return wrap(connection, worker, frameId, () => connections.giveBack(worker, connection));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (isRefusal(error) || /\b503\b/.test((error as Error).message)) throw new SlotRefused(`${worker} has no free slot`);
      connections.drop(worker);
      if (error instanceof WorkerUnreachable) throw error;
      // With a new socket the worker may well serve: it is not left alone for as long as one that cannot be reached.
      if (error instanceof KeptSocketLost) throw new SlotRefused(`${worker} closed a socket that was kept`, { cause: error });
      throw new WorkerUnreachable(`${worker}: ${(error as Error).message}`, { cause: error });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  };

/** `giveBack` is called instead of closing the connection when nothing is left to be said on it. */
function wrap(connection: Connection, worker: string, frameId: string, giveBack: () => void): Session {
  const over = Promise.withResolvers<Awaited<SlotSession['ended']>>();
  let abandoned: Promise<void> | undefined;
  let end: Awaited<SlotSession['ended']> | undefined;
  /** The worker has ended the slot, and closes the socket when the page is gone. */
  let ending = false;
  let heardMs = performance.now();
  let sentMs = heardMs;
  /** Only one ping is on its way: what is sent into a silence could keep the slot alive at the other end. */
  let pinged = false;

  /** Commands that have no answer yet. */
  let asked = 0;
  const listeners: [string, (...params: never[]) => void][] = [];

  const hear = (event: string, listener: (...params: never[]) => void) => {
    listeners.push([event, listener]);
    connection.on(event, listener);
  };
  const send = (method: string, params?: object) => {
    sentMs = performance.now();
    asked++;
    const answer = connection.send(method, params);
    const answered = () => {
      asked--;
    };
    answer.then(answered, answered);
    return answer;
  };
  const finish = (how: Awaited<SlotSession['ended']>, part = connection.close) => {
    if (end) return;
    end = how;
    clearInterval(pinging);
    for (const [event, listener] of listeners) connection.off(event, listener);
    over.resolve(how);
    part();
  };
  /** The worker's word that the page is gone, or the end of the socket, or the time after which it must have ended by itself. */
  async function abandon(): Promise<void> {
    const [ended, surely] = [end, new AbortController()];
    if (ended && !ending) return;
    clearInterval(pinging);
    const limit = sleep(SLOT_ENDS_MS, undefined, { signal: surely.signal }).catch(() => {});
    // A refusal says that there is no slot any more.
    const gone = ended ? connection.closed : send(END).catch(error => (isRefusal(error) ? undefined : connection.closed));
    await Promise.race([gone, limit]);
    surely.abort();
    finish({ reason: 'closed', message: 'the render was given up' });
    connection.close();
  }
  hear('event', () => {
    heardMs = performance.now();
  });
  hear(SLOT_ENDED, (told: SlotEnded) => {
    ending = true;
    finish(told, () => connection.closeAfter(SLOT_ENDS_MS));
  });
  hear('disconnect', () => finish({ reason: 'closed', message: 'the connection to the worker was lost' }));
  const pinging = setInterval(() => {
    const silentMs = performance.now() - Math.max(heardMs, sentMs);
    if (pinged && silentMs > SLOT_ENDS_MS) finish({ reason: 'silent', message: `the worker was silent for ${Math.round(silentMs)} ms` });
    if (pinged || end) return;
    pinged = true;
    send(PING).then(
      () => {
        heardMs = performance.now();
        pinged = false;
      },
      () => {},
    );
  }, PING_MS);

  async function ask(method: string, params?: object): Promise<never> {
    if (end) throw new SlotLost(end.reason, end.message);
    try {
      return (await send(method, params)) as never;
    } catch (error) {
      // The socket closes in the same turn in which the worker's last word arrives: `end` knows why.
      if (end) throw new SlotLost((end as SlotEnded).reason, (end as SlotEnded).message);
      if (isRefusal(error)) throw new CommandFailed(error.message, { cause: error });
      throw new SlotLost('closed', (error as Error).message);
    }
  }

  return {
    worker,
    frameId,
    ended: over.promise,
    // An answer that is still to come could be taken for one of the next slot's.
    close: () => finish({ reason: 'closed', message: 'the render is over' }, asked === 0 ? giveBack : connection.close),
    abandon: () => {
      abandoned ??= abandon();
      return abandoned;
    },
    on: (event, listener) => {
      hear(event, (...params: unknown[]) => {
        try {
          listener(...(params as Parameters<typeof listener>));
        } catch (error) {
          // Thrown into the library it would end the process, and with it every other render.
          finish({ reason: 'refused', message: `an event of the page could not be read: ${(error as Error).message}` });
        }
      });
    },
    command: (method, ...[params]) => ask(method, params),
  };
}
