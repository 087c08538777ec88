// A minimal API process: receives the status reports of one worker, claims slots and announces
// queued renders.
import { once } from 'node:events';
import WebSocket from 'ws';
import { WAITING, type Waiting, type WorkerStatus } from '../../common/protocol.ts';
import { signTicket } from '../../common/ticket.ts';
import { LIGHT_SECRET, type LightWorker } from './light-pool.ts';

export interface BareApi {
  /** The last status report. */
  status(): WorkerStatus;
  /** Calls the listener for each later status report. */
  onStatus(listener: (status: WorkerStatus) => void): void;
  announce(waiting: Partial<Waiting> | undefined): void;
  /** Claims a slot on a new connection. Resolves with undefined when the worker rejects it. */
  claim(): Promise<WebSocket | undefined>;
  close(): void;
}

/**
 * Without `api` it acts like the previous release, which announces nothing and sends no API name
 * in its tickets.
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
