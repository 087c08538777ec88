import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { expect } from 'chai';
import { pino } from 'pino';
import { signTicket, TICKET_LIFE_MS } from '../../../common/ticket.ts';
import { readSamples } from '../../fault/harness/samples.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type PlainSlot,
  plainSlot,
  type RawSocket,
  rawSocket,
  upgradeTo,
} from '../../support/gateway-client.ts';
import { connectionsAt } from '../../support/listeners.ts';
import { evaluate, startWorker, TEST_SECRET, type TestWorker } from '../../support/worker.ts';

const REJECTED = 'rejected a connection';

describe('an unauthenticated client of the gateway', () => {
  const lines: string[] = [];
  const raws: RawSocket[] = [];
  let worker: TestWorker;
  let port: number;
  let neighbour: PlainSlot;

  before(async () => {
    worker = await startWorker(
      {},
      pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    );
    port = worker.worker.port();
    await worker.until({ ready: 2 });
    neighbour = await plainSlot(worker);
    // A render that runs during the whole test, with pings like those of an API.
    pinging = setInterval(() => void neighbour.command('Pressroom.ping').catch(() => {}), 1_000);
  });
  let pinging: NodeJS.Timeout;
  after(async () => {
    clearInterval(pinging);
    await neighbour.close();
    await worker.stop();
  });
  beforeEach(() => {
    lines.length = 0;
  });
  afterEach(async () => {
    for (const { socket } of raws.splice(0)) socket.destroy();
    expect(
      (await neighbour.command('Runtime.evaluate', { expression: '6 * 7' })).result,
    ).to.have.nested.property('result.value', 42);
    await worker.until({ busy: 1, ready: 1 });
    await eventually(() => expect(connectionsAt(port)).to.equal(1));
  });

  const rejections = () =>
    lines.map(line => JSON.parse(line)).filter(({ msg }) => msg === REJECTED);
  const rejected = async () =>
    readSamples(await worker.metrics.text()).by('pressroom_gateway_refused_total', 'reason');
  const opened = async (bytes: string) => {
    const raw = await rawSocket(port);
    raws.push(raw);
    raw.socket.write(bytes);
    return raw;
  };
  /** The first line of the response to these bytes, once the gateway has closed the connection. */
  const answer = async (bytes: string) => {
    const raw = await opened(bytes);
    await raw.ended;
    return raw.text().split('\r\n')[0];
  };

  describe('is rejected', () => {
    const signed = (nowMs: number) =>
      signTicket(
        TEST_SECRET,
        { pool: 'default', purpose: 'slot', renderId: 'r', egress: 'public', maxMs: 1_000 },
        nowMs,
      );
    const payload = Buffer.from('{"pool":').toString('base64url');
    const notJson = `${payload}.${createHmac('sha256', TEST_SECRET).update(payload).digest('base64url')}`;
    const tickets: [string, string, () => string][] = [
      ['with a signed ticket that is not JSON', 'malformed', () => notJson],
      ['without a ticket', 'malformed', () => ''],
      [
        'with a ticket signed with another secret',
        'signature',
        () => worker.ticket().replace(/\..*$/, `.${'A'.repeat(43)}`),
      ],
      ['with a modified ticket', 'signature', () => `e30${worker.ticket()}`],
      ['with the secret as the ticket', 'malformed', () => encodeURIComponent(TEST_SECRET)],
      ['with an expired ticket', 'expired', () => signed(Date.now() - 2 * TICKET_LIFE_MS)],
      ['with a ticket from the future', 'expired', () => signed(Date.now() + 2 * TICKET_LIFE_MS)],
      ['with a ticket of another pool', 'pool', () => worker.ticket({ pool: 'other' })],
      ['with a ticket for the status', 'purpose', () => worker.ticket({ purpose: 'status' })],
      ['with a ticket of 5,000 characters', 'malformed', () => 'a.'.repeat(2_500)],
    ];
    for (const [how, reason, ticket] of tickets)
      it(how, async () => {
        const text = ticket();
        expect(await answer(upgradeTo(`/v1/slot?ticket=${text}`))).to.equal(
          'HTTP/1.1 401 Unauthorized',
        );
        expect(rejections()).to.have.length(1);
        expect(rejections()[0]).to.include({ level: 40, code: 401, reason });
        expect(lines.join('')).to.not.include('ticket=').and.not.include(TEST_SECRET);
        if (text.length > 20) expect(lines.join('')).to.not.include(text.slice(-20));
      });

    it('with a ticket that a concurrent client uses', async () => {
      const ticket = worker.ticket();
      const both = await Promise.all(
        [1, 2].map(() => opened(upgradeTo(`/v1/slot?ticket=${ticket}`))),
      );
      await eventually(() =>
        expect(both.map(({ text }) => text().slice(9, 12)).sort()).to.deep.equal(['101', '401']),
      );
      expect(rejections()[0]).to.include({ reason: 'used' });
      await worker.until({ busy: 2 });
    });

    it('with the ticket of a finished render', async () => {
      const ticket = worker.ticket();
      const first = await opened(upgradeTo(`/v1/slot?ticket=${ticket}`));
      await once(first.socket, 'data');
      first.socket.destroy();
      await worker.until({ busy: 1, ready: 1 });
      expect(await answer(upgradeTo(`/v1/slot?ticket=${ticket}`))).to.equal(
        'HTTP/1.1 401 Unauthorized',
      );
    });

    const requests: [string, string, string][] = [
      [
        'with a request without an upgrade',
        'HTTP/1.1 426 Upgrade Required',
        'GET /v1/slot HTTP/1.1\r\nHost: x\r\n\r\n',
      ],
      [
        'at the paths of Chrome’s DevTools',
        'HTTP/1.1 426 Upgrade Required',
        'GET /json/version HTTP/1.1\r\nHost: x\r\n\r\n',
      ],
      [
        'with a WebSocket at the paths of Chrome’s DevTools',
        'HTTP/1.1 404 Not Found',
        upgradeTo('/devtools/browser'),
      ],
      [
        'at a path with dot segments',
        'HTTP/1.1 404 Not Found',
        upgradeTo('/v1/slot/../slot/?ticket=x'),
      ],
      [
        'with bytes that are not HTTP',
        'HTTP/1.1 400 Bad Request',
        '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      ],
      [
        'with 100 KB of headers',
        'HTTP/1.1 400 Bad Request',
        `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`,
      ],
      [
        'with a length and chunked encoding',
        'HTTP/1.1 400 Bad Request',
        'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      ],
      [
        'with a body that never ends',
        'HTTP/1.1 426 Upgrade Required',
        'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\nx',
      ],
    ];
    for (const [how, status, bytes] of requests)
      it(how, async () => {
        expect(await answer(bytes)).to.equal(status);
        expect(rejections()).to.have.length(1);
      });
  });

  it('cannot hold a rejected connection by keeping its own half open', async () => {
    await Promise.all(Array.from({ length: 50 }, () => answer(upgradeTo('/v1/slot?ticket=wrong'))));
    await eventually(() => expect(connectionsAt(port)).to.equal(1));
  });

  it('does not block other clients with 1,500 half-open connections, each closed and logged once', async () => {
    const before = await rejected();
    const kinds = [
      '',
      'GET /v1/sl',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nx',
      upgradeTo('/v1/slot?ticket=wrong'),
      upgradeTo('/v1/slot').slice(0, -2),
    ];
    const total = 1_500;
    for (let i = 0; i < total; i++) {
      await opened(kinds[i % kinds.length]!);
      if (i % 300 !== 299) continue;
      expect(connectionsAt(port)).to.be.at.most(512 + 50);
      const session = await worker.open();
      expect(await evaluate(session, '1 + 1')).to.equal(2);
      session.close();
      await worker.until({ busy: 1, ready: 1 });
    }
    await eventually(() => {
      worker.dropKept();
      expect(connectionsAt(port)).to.equal(1);
    }, 30_000);
    const after = await rejected();
    const more = Object.fromEntries(
      Object.keys(after).map(reason => [reason, after[reason]! - before[reason]!]),
    );
    expect(Object.values(more).reduce((sum, count) => sum + count, 0)).to.equal(total);
    expect(more.crowded).to.be.greaterThan(0);
    expect(rejections()).to.have.length(total);
  });

  it('loses its slot after the longest silence allowed to an API', async () => {
    await opened(upgradeTo(`/v1/slot?ticket=${worker.ticket()}`));
    await worker.until({ busy: 2 });
    await eventually(() => expect(worker.worker.status().busy).to.equal(1), 30_000);
    expect(lines.join('')).to.include('closed the connection of an API that did not respond');
  });
});
