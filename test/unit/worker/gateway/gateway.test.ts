import { once } from 'node:events';
import { expect } from 'chai';
import { pino } from 'pino';
import WebSocket from 'ws';
import { createMetrics } from '../../../../common/operations.ts';
import type { EgressDenied } from '../../../../common/protocol.ts';
import { signTicket } from '../../../../common/ticket.ts';
import type { SlotPage } from '../../../../worker/browser/slot-page.ts';
import type { SlotPool } from '../../../../worker/browser/slot-pool.ts';
import { Gateway } from '../../../../worker/gateway/gateway.ts';
import { eventually } from '../../../support/eventually.ts';
import { workerStatus } from '../../../support/fake-slots.ts';

const SECRET = 'the secret of the pool';
const CLAIMS = 8;
/** Too short for as many periodic status messages, which are sent once per second. */
const LIMIT_MS = 4_000;

/**
 * Slots whose numbers never change: each claim happens in the event-loop turn in which another
 * slot is released and the next one opens.
 */
function unchangingSlots(parts: FakeSlot): SlotPool {
  const claim = () => {
    const { admit, onDenied, route, forward } = parts;
    const guard = { port: 1, admit, onDenied, onUnreachable: () => {}, close: async () => {} };
    return {
      slot: 1,
      pipe: { route, unroute: () => {}, forward, command: async () => ({}) },
      guard,
      sessionId: 'S',
      frameId: 'F',
      claimed: true,
      onEnd: undefined,
    } as unknown as SlotPage;
  };
  const release = async (page: SlotPage) => {
    page.claimed = false;
    parts.released();
  };
  return { claim, release, drain: async () => {}, endRenders: () => {} } as unknown as SlotPool;
}

const fakeSlot = () => ({
  admit: () => {},
  onDenied: (_listener: (denied: EgressDenied) => void) => {},
  route: (_sessionId: string, _listener: (frame: Buffer) => void) => {},
  forward: () => {},
  released: () => {},
});
type FakeSlot = ReturnType<typeof fakeSlot>;

describe('the gateway of a worker', () => {
  let gateway: Gateway;
  let parts: FakeSlot;
  const lines: string[] = [];
  const sockets: WebSocket[] = [];

  beforeEach(async () => {
    parts = fakeSlot();
    lines.length = 0;
    gateway = new Gateway({
      config: { host: '127.0.0.1', port: 0 },
      pool: 'default',
      secret: SECRET,
      slots: unchangingSlots(parts),
      status: () => workerStatus(2),
      log: pino({}, { write: (line: string) => void lines.push(line) }),
      metrics: createMetrics({ processDefaults: false }),
    });
    await gateway.start();
  });

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.terminate();
    await gateway.stop(AbortSignal.abort());
  });

  function connect(purpose: 'slot' | 'status'): WebSocket {
    const ticket = signTicket(SECRET, {
      pool: 'default',
      purpose,
      renderId: '',
      egress: 'public',
      maxMs: 10_000,
    });
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.port()}/v1/${purpose}?ticket=${ticket}`);
    sockets.push(socket);
    socket.on('error', () => {});
    return socket;
  }
  async function open(purpose: 'slot' | 'status'): Promise<WebSocket> {
    const socket = connect(purpose);
    await once(socket, 'open');
    return socket;
  }

  it('sends its status after each claim, even when its numbers are unchanged', async () => {
    const status = await open('status');
    let messages = 0;
    status.on('message', () => messages++);
    for (let i = 0; i < CLAIMS; i++) await open('slot');
    await eventually(() => expect(messages).to.be.at.least(CLAIMS), LIMIT_MS);
  });

  const fail = () => {
    throw new Error('a bug');
  };
  const failures: [string, () => void, (socket: WebSocket) => void][] = [
    [
      'a slot begins',
      () => {
        parts.admit = fail;
      },
      () => {},
    ],
    [
      'a client sends a command',
      () => {
        parts.forward = fail;
      },
      socket => socket.send('{"id":1,"method":"Runtime.enable"}'),
    ],
    [
      'a page sends an event',
      () => {
        parts.route = (_sessionId, listener) => setTimeout(() => listener(undefined as never), 50);
      },
      () => {},
    ],
    [
      'a frame in another process sends an event',
      () => {
        const attached = {
          method: 'Target.attachedToTarget',
          params: { sessionId: 'of the frame', targetInfo: { type: 'iframe' } },
          sessionId: 'S',
        };
        parts.route = (sessionId, listener) => {
          const frame = sessionId === 'S' && Buffer.from(JSON.stringify(attached));
          setTimeout(() => listener(frame as Buffer), 50);
        };
      },
      () => {},
    ],
    [
      'the guard denies a connection',
      () => {
        parts.onDenied = listener =>
          setTimeout(() => listener({ reason: 'name', atMs: 1n } as never), 50);
      },
      () => {},
    ],
  ];
  for (const [when, breaks, act] of failures)
    it(`closes only one connection and its slot, and logs the error, when a handler fails as ${when}`, async () => {
      const other = await open('slot');
      breaks();
      let released = 0;
      parts.released = () => released++;
      const socket = connect('slot');
      socket.once('open', () => act(socket));
      await once(socket, 'close');
      await eventually(() => expect(released).to.be.at.least(1));
      expect(lines.join(''))
        .to.include('"level":50')
        .and.match(/a bug|TypeError/);
      other.send('{"id":7,"method":"Pressroom.ping"}');
      const [answer] = await once(other, 'message');
      expect(JSON.parse(String(answer))).to.deep.include({ id: 7 });
    });
});
