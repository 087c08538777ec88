// A slot's CDP session: opens the socket to a worker with chrome-remote-interface, sends typed commands, tells when and why it is over. Adapter of the slot port.
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import CDP from 'chrome-remote-interface';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import {
  EGRESS_DENIED,
  type EgressDenied,
  END,
  oncePerTurn,
  PING,
  PING_MS,
  type PingAnswer,
  SLOT_ENDED,
  SLOT_ENDS_MS,
  type SlotEnded,
  STILL,
} from '../../common/protocol.ts';
import { type OpenSlot, SlotLost, SlotRefused, type SlotSession, WorkerUnreachable } from '../dispatch/slot-port.ts';
import { type MessageSocket, sendInPieces } from './large-texts.ts';

const HANDSHAKE_MS = 1_000;

interface Events extends ProtocolMapping.Events {
  [EGRESS_DENIED]: [EgressDenied];
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

export interface Session extends SlotSession {
  /** Rejects with CommandFailed, or SlotLost when the slot ends first. It has no deadline of its own: the conversation has one for all. */
  command<M extends keyof Commands>(method: M, ...params: Params<M>): Promise<Commands[M]['returnType']>;
  on<E extends keyof Events>(event: E, listener: (...params: Events[E]) => void): void;
}

type Client = CDP.Client & {
  send(method: string, params?: object): Promise<unknown>;
  on(event: string, listener: (...params: never[]) => void): void;
};

/** The library fetches and decorates the whole protocol for each connection; an empty description saves that, commands go through `send`. */
async function connect(target: string): Promise<Client> {
  const client = (await CDP({ target, local: true, protocol: { domains: [] } as never })) as Client & {
    _ws: MessageSocket & { _socket: Socket };
  };
  // The library does not hand out its socket.
  const { _ws: socket } = client;
  client.send = sendInPieces({ send: client.send.bind(client) }, socket, oncePerTurn(socket._socket));
  return client;
}

/** Opens slots; `reach` tells where to connect to for a worker's address. See the slot port for the errors. */
export const openSession =
  (reach = (worker: string) => worker): OpenSlot<Session> =>
  (worker, ticket, signal) =>
    open(worker, `${reach(worker).replace(/\/$/, '')}/v1/slot?ticket=${ticket}`, signal);

async function open(worker: string, url: string, signal: AbortSignal): Promise<Session> {
  signal.throwIfAborted();
  const interrupted = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => interrupted.reject(new WorkerUnreachable(`${worker} did not answer within ${HANDSHAKE_MS} ms`)),
    HANDSHAKE_MS,
  );
  const onAbort = () => interrupted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const connecting = connect(url);
  const opening = connecting.then(async client => {
    const { frameId } = (await client.send(PING)) as PingAnswer;
    return { client, frameId };
  });
  try {
    const { client, frameId } = await Promise.race([opening, interrupted.promise]);
    return wrap(client, worker, frameId);
  } catch (error) {
    // Whatever comes of it later is not ours any more: the slot must go back.
    connecting.then(client => client.close()).catch(() => {});
    opening.catch(() => {});
    if (signal.aborted) throw signal.reason;
    if (error instanceof WorkerUnreachable) throw error;
    if (/\b503\b/.test((error as Error).message)) throw new SlotRefused(`${worker} has no free slot`);
    throw new WorkerUnreachable(`${worker}: ${(error as Error).message}`, { cause: error });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

function wrap(client: Client, worker: string, frameId: string): Session {
  const over = Promise.withResolvers<Awaited<SlotSession['ended']>>();
  let abandoned: Promise<void> | undefined;
  let end: Awaited<SlotSession['ended']> | undefined;
  let heardMs = performance.now();
  let sentMs = heardMs;
  /** Only one ping is on its way: what is sent into a silence could keep the slot alive at the other end. */
  let pinged = false;

  const send = (method: string, params?: object) => {
    sentMs = performance.now();
    return client.send(method, params);
  };
  const finish = (how: Awaited<SlotSession['ended']>) => {
    if (end) return;
    end = how;
    clearInterval(pinging);
    over.resolve(how);
    client.close().catch(() => {});
  };
  /** The worker's word that the page is gone, or its word that the socket is, or the time after which it must have ended by itself. */
  async function abandon(): Promise<void> {
    if (!end) {
      clearInterval(pinging);
      const surely = new AbortController();
      const limit = sleep(SLOT_ENDS_MS, undefined, { signal: surely.signal }).catch(() => {});
      await Promise.race([send(END).catch(() => {}), over.promise, limit]);
      surely.abort();
    }
    finish({ reason: 'closed', message: 'the render was given up' });
  }
  client.on('event', () => {
    heardMs = performance.now();
  });
  client.on(SLOT_ENDED, (told: SlotEnded) => finish(told));
  client.on('disconnect', () => finish({ reason: 'closed', message: 'the connection to the worker was lost' }));
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

  return {
    worker,
    frameId,
    ended: over.promise,
    close: () => finish({ reason: 'closed', message: 'the render is over' }),
    abandon: () => {
      abandoned ??= abandon();
      return abandoned;
    },
    on: (event, listener) => {
      client.on(event, (...params: unknown[]) => {
        try {
          listener(...(params as Parameters<typeof listener>));
        } catch (error) {
          // Thrown into the library it would end the process, and with it every other render.
          finish({ reason: 'refused', message: `an event of the page could not be read: ${(error as Error).message}` });
        }
      });
    },
    command: async (method, ...[params]) => {
      if (end) throw new SlotLost(end.reason, end.message);
      try {
        return (await send(method, params as object | undefined)) as never;
      } catch (error) {
        // The socket closes in the same turn in which the worker's last word arrives: `end` knows why.
        if (end) throw new SlotLost((end as SlotEnded).reason, (end as SlotEnded).message);
        if ((error as Error).name === 'ProtocolError' || 'response' in (error as object))
          throw new CommandFailed((error as Error).message, { cause: error });
        throw new SlotLost('closed', (error as Error).message);
      }
    },
  };
}
