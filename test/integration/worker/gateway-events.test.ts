import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type WebSocket, WebSocketServer } from 'ws';
import { PAGE_EVENTS } from '../../../common/protocol.ts';
import { eventOf, sessionOf } from '../../../worker/browser/cdp-pipe.ts';
import { eventually } from '../../support/eventually.ts';
import { type PlainSlot, plainSlot } from '../../support/gateway-client.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns-server.ts';
import { startWorker, type TestWorker } from '../../support/worker.ts';

const MESSAGES = 500;
const MESSAGE_BYTES = 20_000;

describe('the page events that a worker sends to the API', () => {
  let server: Server;
  let worker: TestWorker;
  let slot: PlainSlot;
  let received: { events: string[]; bytes: number };
  let lines: unknown[];
  let dns: DnsServer;
  const port = () => (server.address() as AddressInfo).port;
  before(async () => {
    server = createServer(({ url }, response) => {
      const frame = `<iframe src="http://frame.localhost:${port()}/inner"></iframe>`;
      response
        .writeHead(200, { 'content-type': 'text/html', 'origin-agent-cluster': '?1' })
        .end(url === '/page' ? frame : '<script>console.log("inside")</script><img src=a.png>');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    new WebSocketServer({ server }).on('connection', (socket: WebSocket) => {
      for (let nth = 0; nth < MESSAGES; nth++) socket.send('x'.repeat(MESSAGE_BYTES));
    });
    dns = await startDnsServer();
    dns.set('frame.localhost', '127.0.0.1');
    worker = await startWorker({
      PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${port()}`,
      PRESSROOM_DNS_SERVERS: dns.address,
    });
  });
  beforeEach(async () => {
    // On a busy machine the next page may not be open when the last one has closed.
    await worker.until({ busy: 0, ready: 2 });
    slot = await plainSlot(worker, { egress: 'intranet' });
    received = { events: [], bytes: 0 };
    lines = [];
    slot.socket.on('message', (data: Buffer) => {
      const event = eventOf(data);
      if (event !== undefined) received.events.push(event);
      if (event === 'Runtime.consoleAPICalled')
        lines.push(JSON.parse(data.toString()).params.args[0].value);
      received.bytes += data.length;
    });
  });
  afterEach(() => slot?.close());
  after(async () => {
    await worker?.stop();
    server?.close();
    await dns?.close();
  });
  const evaluate = async (expression: string) => {
    const { result } = await slot.command('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    return (result!['result'] as { value: unknown }).value;
  };

  it('include only the events that the API reads', async () => {
    await slot.command('Runtime.enable');
    const { result } = await slot.command('Pressroom.ping');
    const html =
      '<p>a page</p><script>console.log("said")</script><iframe srcdoc="<p>inside</p>"></iframe>';
    await slot.command('Page.setDocumentContent', { frameId: result!['frameId'], html });
    await eventually(() =>
      expect(received.events).to.include.members([
        'Page.loadEventFired',
        'Page.frameNavigated',
        'Runtime.consoleAPICalled',
      ]),
    );
    expect(PAGE_EVENTS).to.include.members(received.events);
  });

  it('include only network events of a frame with a process of its own', async () => {
    const sessions = new Map<string, Set<string>>();
    slot.socket.on('message', (data: Buffer) => {
      const [event, session] = [eventOf(data), sessionOf(data)];
      if (event === undefined || session === undefined) return;
      sessions.set(session, (sessions.get(session) ?? new Set()).add(event));
    });
    await slot.command('Network.enable');
    await slot.command('Page.navigate', { url: `http://127.0.0.1:${port()}/page` });
    await eventually(() => {
      expect(sessions.size).to.equal(2);
      expect([...sessions.values()][1]).to.include.all.keys([
        'Network.requestWillBeSent',
        'Network.responseReceived',
        'Network.loadingFinished',
      ]);
    });
    // On a busy machine, Chrome may leave out the extra information of a new frame's first response.
    const others = [...[...sessions.values()][1]!].filter(event => !event.startsWith('Network.'));
    expect(others).to.deep.equal([]);
    // The worker replaces the session of a command with that of the page.
    const [, frameSession] = sessions.keys();
    const expression = { expression: 'location.href', returnByValue: true };
    const { result } = await slot.command('Runtime.evaluate', expression, {
      sessionId: frameSession,
    });
    expect(result).to.have.nested.property('result.value', `http://127.0.0.1:${port()}/page`);
  });

  it('exclude the messages of WebSockets', async () => {
    await slot.command('Network.enable');
    const all = `new Promise((done, fail) => {
      let received = 0;
      const socket = new WebSocket('ws://127.0.0.1:${port()}/');
      socket.onmessage = () => ++received === ${MESSAGES} && done(received);
      socket.onerror = () => fail(new Error('no WebSocket'));
    })`;
    expect(await evaluate(all)).to.equal(MESSAGES);
    expect(received.bytes).to.be.lessThan(MESSAGE_BYTES);
  });

  it('are truncated for console output in a loop, without affecting the page', async () => {
    await slot.command('Runtime.enable');
    expect(await evaluate('for (let i = 0; i < 10_000; i++) console.log(i); "done"')).to.equal(
      'done',
    );
    const calls = received.events.filter(event => event === 'Runtime.consoleAPICalled');
    expect(calls.length).to.be.within(5_000, 5_002);
    expect(lines.at(-1)).to.equal('console output was truncated');
  });
});
