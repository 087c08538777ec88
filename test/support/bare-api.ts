// An API process reduced to its frames: it is sent the status of one worker, claims, and announces
// what a test wants.
import { once } from 'node:events';
import WebSocket from 'ws';
import { WAITING, type Waiting, type WorkerStatus } from '../../common/protocol.ts';
import { signTicket } from '../../common/ticket.ts';
import { LIGHT_SECRET, type LightWorker } from './light-pool.ts';

export interface BareApi {
  /** The last status. */
  status(): WorkerStatus;
  /** Called at each status from now on. */
  onStatus(listener: (status: WorkerStatus) => void): void;
  announce(waiting: Partial<Waiting> | undefined): void;
  /** Claims a slot on a socket of its own; undefined when it is refused. */
  claim(): Promise<WebSocket | undefined>;
  close(): void;
}

/**
 * Without `api` it is one of the release before, which announces nothing and names itself in no
 * ticket.
 */
export async function startBareApi(worker: LightWorker, api?: string): Promise<BareApi> {
  const sockets: WebSocket[] = [];
  const connect = (purpose: 'slot' | 'status') => {
    const name = api === undefined ? {} : { api };
    const ticket = signTicket(LIGHT_SECRET, {
      pool: 'default',
      purpose,
      renderId: '',
      egress: 'public',
      maxMs: 60_000,
      ...name,
    });
    const socket = new WebSocket(`${worker.address}/v1/${purpose}?ticket=${ticket}`);
    sockets.push(socket);
    return socket;
  };
  const link = connect('status');
  const listeners: ((status: WorkerStatus) => void)[] = [];
  let last: WorkerStatus;
  link.on('message', data => {
    last = JSON.parse(String(data));
    for (const listener of listeners) listener(last);
  });
  await once(link, 'message');
  return {
    status: () => last,
    onStatus: listener => void listeners.push(listener),
    announce: waiting => {
      const params = waiting && {
        waitedMs: 0,
        count: 1,
        trial: false,
        account: 'x',
        held: 0,
        ...waiting,
      };
      link.send(JSON.stringify({ method: WAITING, params }));
    },
    claim: () =>
      new Promise(resolve => {
        const socket = connect('slot');
        socket.once('open', () => resolve(socket));
        socket.once('error', () => resolve(undefined));
      }),
    close: () => {
      for (const socket of sockets) socket.terminate();
    },
  };
}
