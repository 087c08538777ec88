// @proves render-memory

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import WebSocket from 'ws';
import { chromeProcesses } from '../../fault/harness/chrome-processes.ts';
import { errorOf, evaluate, startWorker, type TestWorker } from '../../support/worker.ts';

/** Of this process's own worker: others may run beside it. */
const renderers = () => chromeProcesses(process.pid).filter(({ kind }) => kind === 'renderer');

/** What the gateway answers to a plain upgrade with this path. */
const upgrade = (port: number, path: string) =>
  new Promise<number>((resolve, reject) => {
    const call = request({
      port,
      host: '127.0.0.1',
      path,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'MDEyMzQ1Njc4OWFiY2RlZg==',
      },
    });
    call.on('response', response => resolve(response.resume().statusCode!));
    call.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve(101);
    });
    call.on('error', reject);
    call.end();
  });

const rss = (pid: number) => {
  try {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }));
  } catch {
    return 0;
  }
};

describe('a worker', () => {
  let worker: TestWorker;
  before(async () => {
    worker = await startWorker({ PRESSROOM_RENDER_MEMORY: '300MiB' });
  });
  after(() => worker.stop());
  afterEach(() => worker.until({ busy: 0, ready: 2, chrome: 'up' }));

  it('has its slots open before anyone asks, and says so to whoever watches', async () => {
    await worker.until({ ready: 2 });
    const socket = new WebSocket(
      `${worker.address}/v1/status?ticket=${worker.ticket({ purpose: 'status' })}`,
    );
    const [told] = await once(socket, 'message');
    expect(JSON.parse(String(told))).to.include({
      protocol: 1,
      pool: 'default',
      capacity: 2,
      ready: 2,
      busy: 0,
      draining: false,
      chrome: 'up',
    });
    const changed = new Promise<void>(resolve =>
      socket.on('message', data => JSON.parse(String(data)).busy === 1 && resolve()),
    );
    const session = await worker.open();
    await changed;
    session.close();
    socket.close();
    await once(socket, 'close');
  });

  it('gives each claim a context and a process of its own, and destroys them after it', async () => {
    const before = renderers().length;
    const first = await worker.open();
    await evaluate(first, 'window.mark = 1; document.title = "mine"');
    const second = await worker.open();
    expect(await evaluate(second, 'typeof window.mark + document.title')).to.equal('undefined');
    first.close();
    second.close();
    await worker.until({ busy: 0, ready: 2 });
    const third = await worker.open();
    expect(await evaluate(third, 'typeof window.mark')).to.equal('undefined');
    third.close();
    await worker.until({ busy: 0, ready: 2 });
    expect(renderers().length).to.be.at.most(before + 1);
  });

  it('answers 503 when it is full, and serves again when a slot comes back', async () => {
    const sessions = [await worker.open(), await worker.open()];
    expect(await errorOf(worker.open())).to.include({ name: 'SlotRefused' });
    for (const session of sessions) session.close();
    await worker.until({ busy: 0, ready: 2 });
    (await worker.open()).close();
  });

  describe('lets in', () => {
    const port = () => worker.worker.port();
    const refused: [string, () => string, number][] = [
      ['nobody without a ticket', () => '/v1/slot', 401],
      ['nobody with half a ticket', () => `/v1/slot?ticket=${worker.ticket().slice(0, 40)}`, 401],
      [
        'nobody with a ticket of another secret',
        () =>
          `/v1/slot?ticket=${worker.ticket().replace(/.$/, last => (last === 'A' ? 'Q' : 'A'))}`,
        401,
      ],
      ['nobody with a changed ticket', () => `/v1/slot?ticket=x${worker.ticket().slice(1)}`, 401],
      ['nobody of another pool', () => `/v1/slot?ticket=${worker.ticket({ pool: 'other' })}`, 401],
      [
        'nobody to a slot with a ticket for the status',
        () => `/v1/slot?ticket=${worker.ticket({ purpose: 'status' })}`,
        401,
      ],
      [
        'nobody to the status with a ticket for a slot',
        () => `/v1/status?ticket=${worker.ticket()}`,
        401,
      ],
      ['nobody elsewhere', () => `/json/version?ticket=${worker.ticket()}`, 404],
      ['nobody to Chrome’s own paths', () => '/devtools/browser', 404],
      ['nobody with a path that is no address', () => '//', 404],
      ['nobody with another such path', () => 'http://[', 404],
    ];
    for (const [who, path, status] of refused)
      it(who, async () => {
        expect(await upgrade(port(), path())).to.equal(status);
      });

    it('a ticket once only', async () => {
      const path = `/v1/slot?ticket=${worker.ticket()}`;
      expect(await upgrade(port(), path)).to.equal(101);
      expect(await upgrade(port(), path)).to.equal(401);
    });

    it('no plain request', async () => {
      const status = await new Promise(resolve =>
        request({ port: port(), host: '127.0.0.1' }, response =>
          resolve(response.resume().statusCode),
        ).end(),
      );
      expect(status).to.equal(426);
    });
  });

  it('takes a slot back from a socket that dies in the handshake', async () => {
    const socket = connect(worker.worker.port(), '127.0.0.1');
    socket.on('error', () => {}).resume();
    await once(socket, 'connect');
    socket.write(
      `GET /v1/slot?ticket=${worker.ticket()} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    await once(socket, 'close');
    await worker.until({ busy: 0, ready: 2 });
  });

  it('refuses a method outside the list, and the slot goes on', async () => {
    const session = await worker.open();
    const refused = await errorOf(session.command('Browser.close'));
    expect(refused).to.include({ name: 'CommandFailed' });
    expect(refused!.message).to.include('Browser.close');
    expect(
      await errorOf(session.command('Page.navigate', { url: 'file:///etc/passwd' })),
    ).to.include({ name: 'CommandFailed' });
    expect(await evaluate(session, '6 * 7')).to.equal(42);
    session.close();
  });

  for (const [what, frame] of [
    ['garbage', 'what?'],
    ['a binary frame', Buffer.from([1, 2, 3])],
  ] as const)
    it(`ends a slot whose client sends ${what}, and no other`, async () => {
      const neighbour = await worker.open();
      const socket = new WebSocket(`${worker.address}/v1/slot?ticket=${worker.ticket()}`);
      await once(socket, 'open');
      const told = once(socket, 'message');
      const closed = once(socket, 'close');
      socket.send(frame);
      expect(JSON.parse(String((await told)[0]))).to.have.nested.property(
        'params.reason',
        'refused',
      );
      expect((await closed)[0]).to.equal(4_000);
      expect(await evaluate(neighbour, '1 + 1')).to.equal(2);
      neighbour.close();
    });

  it('ends a slot at its deadline, also when the page hangs', async () => {
    const session = await worker.open({ maxMs: 600 });
    session.command('Runtime.evaluate', { expression: 'while (true) {}' }).catch(() => {});
    expect(await session.ended).to.include({ reason: 'deadline' });
    expect(await errorOf(session.command('Page.printToPDF', {}))).to.include({
      name: 'SlotLost',
      end: 'deadline',
    });
  });

  it('tells when the page’s process crashes, and keeps the others', async () => {
    const neighbour = await worker.open();
    const session = await worker.open();
    session.command('Page.navigate', { url: 'about:blank' }).catch(() => {});
    await evaluate(session, 'window.big = new Array(4e6).fill(7).map(String).join(""); 1');
    const largest = renderers()
      .map(({ pid }) => pid)
      .sort((a, b) => rss(b) - rss(a))[0]!;
    process.kill(largest, 'SIGKILL');
    expect(await session.ended).to.include({ reason: 'renderer_crashed' });
    expect(await evaluate(neighbour, '2 + 2')).to.equal(4);
    neighbour.close();
  });

  it('ends a page that uses too much memory, and no other', async () => {
    const neighbour = await worker.open();
    const session = await worker.open();
    session
      .command('Runtime.evaluate', {
        expression: 'const all = []; for (;;) all.push(new Uint8Array(1 << 22).fill(1))',
      })
      .catch(() => {});
    expect(await session.ended).to.include({ reason: 'memory' });
    expect(await evaluate(neighbour, '3 + 3')).to.equal(6);
    neighbour.close();
  });

  it('starts Chrome again when it dies, and tells those whose slot went with it', async () => {
    const session = await worker.open();
    await worker.killChromes();
    expect(await session.ended).to.include({ reason: 'chrome_died' });
    await worker.until({ chrome: 'up', ready: 2 });
    const next = await worker.open();
    expect(await evaluate(next, '1')).to.equal(1);
    next.close();
  });

  it('ends a slot whose page closes itself', async () => {
    const session = await worker.open();
    session.command('Runtime.evaluate', { expression: 'window.close()' }).catch(() => {});
    expect(await session.ended).to.include({
      reason: 'renderer_crashed',
      message: 'the page closed itself',
    });
  });

  it('lets a page open no windows, which would have renderers of their own', async () => {
    const session = await worker.open();
    expect(
      await evaluate(
        session,
        '[1, 2, 3].map(() => window.open("about:blank", "_blank")).every(opened => opened === null)',
      ),
    ).to.equal(true);
    session.close();
  });

  it('gives a Chrome no port, and its user is not root', () => {
    const lines = execFileSync('ps', ['-eo', 'user,args'], { encoding: 'utf8' })
      .split('\n')
      .filter(
        line => line.includes(`pressroom-chrome-${process.pid}-`) && !line.includes('/bin/sh'),
      );
    expect(lines.length).to.be.greaterThan(0);
    for (const line of lines) {
      expect(line).to.not.include('remote-debugging-port');
      expect(line).to.not.include('--no-sandbox ');
      expect(line).to.not.match(/^root /);
    }
  });
});
