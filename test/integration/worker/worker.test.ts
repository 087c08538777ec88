// @proves render-memory

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import WebSocket from 'ws';
import { RELEASE } from '../../../common/operations.ts';
import type { WorkerStatus } from '../../../common/protocol.ts';
import { chromeProcesses } from '../../fault/harness/chrome-processes.ts';
import { errorOf, evaluate, startWorker, type TestWorker } from '../../support/worker.ts';

/** Only of this process's own worker, since others may run at the same time. */
const renderers = () => chromeProcesses(process.pid).filter(({ kind }) => kind === 'renderer');

/** The status of an upgrade request with this path. */
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

  it('opens its slots in advance and reports them in its status', async () => {
    await worker.until({ ready: 2 });
    const socket = new WebSocket(
      `${worker.address}/v1/status?ticket=${worker.ticket({ purpose: 'status' })}`,
    );
    const [message] = await once(socket, 'message');
    const { sentAtMs, ...status } = JSON.parse(String(message)) as WorkerStatus;
    expect(Math.abs(Date.now() - sentAtMs!)).to.be.below(10_000);
    expect(status).to.include({
      protocol: 1,
      pool: 'default',
      capacity: 2,
      ready: 2,
      busy: 0,
      draining: false,
      chrome: 'up',
      release: RELEASE,
      sandbox: true,
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

  it('uses a separate context and process for each claim and destroys them afterwards', async () => {
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

  it('responds 503 when it is full, and accepts claims again after a release', async () => {
    const sessions = [await worker.open(), await worker.open()];
    expect(await errorOf(worker.open())).to.include({ name: 'SlotRejected' });
    for (const session of sessions) session.close();
    await worker.until({ busy: 0, ready: 2 });
    (await worker.open()).close();
  });

  describe('rejects', () => {
    const port = () => worker.worker.port();
    const rejected: [string, () => string, number][] = [
      ['a request without a ticket', () => '/v1/slot', 401],
      ['a truncated ticket', () => `/v1/slot?ticket=${worker.ticket().slice(0, 40)}`, 401],
      [
        'a ticket signed with another secret',
        () =>
          `/v1/slot?ticket=${worker.ticket().replace(/.$/, last => (last === 'A' ? 'Q' : 'A'))}`,
        401,
      ],
      ['a modified ticket', () => `/v1/slot?ticket=x${worker.ticket().slice(1)}`, 401],
      [
        'a ticket of another pool',
        () => `/v1/slot?ticket=${worker.ticket({ pool: 'other' })}`,
        401,
      ],
      [
        'a status ticket for a slot',
        () => `/v1/slot?ticket=${worker.ticket({ purpose: 'status' })}`,
        401,
      ],
      ['a slot ticket for the status', () => `/v1/status?ticket=${worker.ticket()}`, 401],
      ['another path', () => `/json/version?ticket=${worker.ticket()}`, 404],
      ['the paths of Chrome', () => '/devtools/browser', 404],
      ['an invalid path', () => '//', 404],
      ['an invalid URL as path', () => 'http://[', 404],
    ];
    for (const [who, path, status] of rejected)
      it(who, async () => {
        expect(await upgrade(port(), path())).to.equal(status);
      });

    it('a ticket that was used before', async () => {
      const path = `/v1/slot?ticket=${worker.ticket()}`;
      expect(await upgrade(port(), path)).to.equal(101);
      expect(await upgrade(port(), path)).to.equal(401);
    });

    it('a plain HTTP request', async () => {
      const status = await new Promise(resolve =>
        request({ port: port(), host: '127.0.0.1' }, response =>
          resolve(response.resume().statusCode),
        ).end(),
      );
      expect(status).to.equal(426);
    });
  });

  it('releases a slot when its socket closes during the handshake', async () => {
    const socket = connect(worker.worker.port(), '127.0.0.1');
    socket.on('error', () => {}).resume();
    await once(socket, 'connect');
    socket.write(
      `GET /v1/slot?ticket=${worker.ticket()} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    await once(socket, 'close');
    await worker.until({ busy: 0, ready: 2 });
  });

  it('rejects a method outside the allowlist and keeps the slot open', async () => {
    const session = await worker.open();
    const rejected = await errorOf(session.command('Browser.close'));
    expect(rejected).to.include({ name: 'CommandFailed' });
    expect(rejected!.message).to.include('Browser.close');
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
    it(`ends only the slot of a client that sends ${what}`, async () => {
      const neighbour = await worker.open();
      const socket = new WebSocket(`${worker.address}/v1/slot?ticket=${worker.ticket()}`);
      await once(socket, 'open');
      const message = once(socket, 'message');
      const closed = once(socket, 'close');
      socket.send(frame);
      expect(JSON.parse(String((await message)[0]))).to.have.nested.property(
        'params.reason',
        'refused',
      );
      expect((await closed)[0]).to.equal(4_000);
      expect(await evaluate(neighbour, '1 + 1')).to.equal(2);
      neighbour.close();
    });

  it('ends a slot at its deadline, even if the page hangs', async () => {
    const session = await worker.open({ maxMs: 3_000 });
    session.command('Runtime.evaluate', { expression: 'while (true) {}' }).catch(() => {});
    expect(await session.ended).to.include({ reason: 'deadline' });
    expect(await errorOf(session.command('Page.printToPDF', {}))).to.include({
      name: 'SlotLost',
      end: 'deadline',
    });
  });

  it('reports a crash of the page’s process without affecting other slots', async () => {
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

  it('ends only the page that exceeds its memory limit', async () => {
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

  it('restarts Chrome when it dies and reports the end of its slot', async () => {
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

  it('blocks popups, which would have their own renderers', async () => {
    const session = await worker.open();
    expect(
      await evaluate(
        session,
        '[1, 2, 3].map(() => window.open("about:blank", "_blank")).every(opened => opened === null)',
      ),
    ).to.equal(true);
    session.close();
  });

  it('runs Chrome without a port and not as root', () => {
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
