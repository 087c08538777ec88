import { once } from 'node:events';
import { expect } from 'chai';
import WebSocket from 'ws';
import { silentLog } from '../../common/log.ts';
import { createMetrics } from '../../common/operations.ts';
import { signTicket } from '../../common/ticket.ts';
import { createGateway, type Gateway } from '../../worker/gateway/gateway.ts';
import type { Slot, Slots } from '../../worker/slots.ts';
import { eventually } from '../support/eventually.ts';
import { workerStatus } from '../support/fake-slots.ts';

const SECRET = 'the secret of the pool';
const CLAIMS = 8;
/** Far too short for the regular words, of which there is one a second, to be as many. */
const LIMIT_MS = 4_000;

/** Slots whose numbers never seem to change: each claim comes in the turn in which another slot was given back and the next one opened. */
function unchangingSlots(): Slots {
  const guard = { port: 1, admit: () => {}, onDenied: () => {}, onRefused: () => {}, close: async () => {} };
  const chrome = { pipe: { route: () => {}, forward: () => {} } };
  const claim = () => ({ number: 1, chrome, guard, sessionId: 'S', frameId: 'F', state: 'claimed', onEnd: undefined }) as unknown as Slot;
  return { claim, release: async () => {}, drain: async () => {}, claimed: () => [] } as unknown as Slots;
}

describe('the status of a worker', () => {
  let gateway: Gateway;
  const sockets: WebSocket[] = [];

  beforeEach(async () => {
    gateway = createGateway({
      config: { host: '127.0.0.1', port: 0 },
      pool: 'default',
      secret: SECRET,
      slots: unchangingSlots(),
      watchdog: { killedRecently: () => false },
      status: () => workerStatus(2),
      log: silentLog,
      metrics: createMetrics({ processDefaults: false }),
    });
    await gateway.start();
  });

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.terminate();
    await gateway.stop(AbortSignal.abort());
  });

  async function open(purpose: 'slot' | 'status'): Promise<WebSocket> {
    const ticket = signTicket(SECRET, { pool: 'default', purpose, renderId: '', egress: 'public', maxMs: 10_000 });
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.port()}/v1/${purpose}?ticket=${ticket}`);
    sockets.push(socket);
    await once(socket, 'open');
    return socket;
  }

  it('is told after each claim, also when the numbers are what they were before it', async () => {
    const status = await open('status');
    let words = 0;
    status.on('message', () => words++);
    for (let i = 0; i < CLAIMS; i++) await open('slot');
    await eventually(() => expect(words).to.be.at.least(CLAIMS), LIMIT_MS);
  });
});
