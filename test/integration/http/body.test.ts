// @proves connection-errors, payload_too_large, overloaded, body-size, bytes-in-flight

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { HELD_PER_BODY_BYTE } from '../../../api/http/body.ts';
import { createByteBudget } from '../../../api/http/byte-budget.ts';
import {
  type HttpFixture,
  type HttpRigOptions,
  httpFixture,
  renderHead,
} from '../../support/http-fixture.ts';
import {
  type LeaseFixture,
  leaseFixture,
  type TestAccount,
  until,
} from '../../support/lease-fixture.ts';
import { reserveForOthers } from '../../support/reserved-budget.ts';

const GOOD = JSON.stringify({ html: '<p>Hello</p>' });
const MIB = 2 ** 20;

describe('the body of a request', () => {
  let fixture: LeaseFixture;
  let http: HttpFixture;
  let account: TestAccount;
  before(async () => {
    fixture = await leaseFixture();
  });
  beforeEach(async () => {
    account = await fixture.account('scale');
  });
  afterEach(async () => {
    await http?.close();
    await fixture.reset();
  });
  after(() => fixture?.close());

  /** A connection on which the head of a render call has been sent. */
  async function calling(headers: string[], options: HttpRigOptions = {}, key = account.text) {
    http = await httpFixture(fixture, options);
    const connection = await http.open();
    const head = [
      'POST /v1/render HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${key}`,
      ...headers,
      '',
      '',
    ];
    connection.send(head.join('\r\n'));
    return connection;
  }
  const JSON_TYPE = 'Content-Type: application/json';
  const CHUNKED = 'Transfer-Encoding: chunked';
  const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'a'.repeat(bytes)}\r\n`;

  it('may come in chunks', async () => {
    const connection = await calling([JSON_TYPE, CHUNKED]);
    connection.send(`5\r\n${GOOD.slice(0, 5)}\r\n`);
    connection.send(`${(GOOD.length - 5).toString(16)}\r\n${GOOD.slice(5)}\r\n0\r\n\r\n`);
    expect((await connection.answer()).status).to.equal(200);
  });

  it('may follow another on the same connection, after an error too', async () => {
    const connection = await calling([JSON_TYPE, 'Content-Length: 1']);
    connection.send('{');
    const refused = await connection.answer();
    expect(refused.status).to.equal(400);
    expect(refused.json().error.message).to.contain('line 1, column 2');
    connection.send(`${renderHead(account.text, GOOD.length)}${GOOD}`);
    expect((await connection.answer()).status).to.equal(200);
  });

  it('is refused by its announced length before any of it is read', async () => {
    const connection = await calling([JSON_TYPE, `Content-Length: ${MIB + 1}`], {
      body: { maxBytes: MIB, silentMs: 5_000, totalMs: 5_000 },
    });
    const answer = await connection.answer();
    expect(answer.status).to.equal(400);
    expect(answer.json().error.code).to.equal('payload_too_large');
    expect(answer.json().error.message).to.contain(String(MIB));
    expect(answer.headers['connection']).to.equal('close');
  });

  it('is refused as soon as its chunks are over the limit', async () => {
    const connection = await calling([JSON_TYPE, CHUNKED], {
      body: { maxBytes: 1_000, silentMs: 5_000, totalMs: 5_000 },
    });
    connection.send(chunk(1_001));
    const answer = await connection.answer();
    expect(answer.json().error.code).to.equal('payload_too_large');
    expect(answer.headers['connection']).to.equal('close');
    await connection.closed;
    expect(http.budget.used()).to.equal(0);
  });

  it('is read and thrown away for a while, so that a caller who sends first and reads then has the answer', async () => {
    const connection = await calling([JSON_TYPE, `Content-Length: ${8 * MIB}`], {
      body: { maxBytes: MIB, silentMs: 5_000, totalMs: 5_000 },
    });
    connection.socket.pause();
    for (let sent = 0; sent < 8; sent += 1)
      if (!connection.send(Buffer.alloc(MIB, 'a'))) await once(connection.socket, 'drain');
    connection.socket.resume();
    expect((await connection.answer()).json().error.code).to.equal('payload_too_large');
    await connection.closed;
    expect(connection.failures).to.deep.equal([]);
  });

  it('is thrown away as long as it keeps coming, so that a caller on a slow line has the answer', async () => {
    const connection = await calling([JSON_TYPE, 'Content-Length: 2000'], {
      body: { maxBytes: 1_000, silentMs: 5_000, totalMs: 5_000 },
    });
    expect((await connection.answer()).json().error.code).to.equal('payload_too_large');
    // Twice as long as a silent caller is waited for.
    for (let sent = 0; sent < 2_000; sent += 100) {
      expect(connection.socket.writable, `open after ${sent} bytes`).to.equal(true);
      connection.send('a'.repeat(100));
      await sleep(200);
    }
    await connection.closed;
    expect(connection.failures).to.deep.equal([]);
  });

  it('that never ends is cut off after 10 MiB more', async () => {
    const connection = await calling([JSON_TYPE, `Content-Length: ${1_000 * MIB}`], {
      body: { maxBytes: MIB, silentMs: 5_000, totalMs: 5_000 },
    });
    let sent = 0;
    const block = Buffer.alloc(MIB, 'a');
    const pump = () => {
      while (!connection.socket.destroyed && connection.socket.write(block)) sent += 1;
    };
    connection.socket.on('drain', pump);
    pump();
    expect((await connection.answer()).json().error.code).to.equal('payload_too_large');
    await connection.closed;
    expect(sent).to.be.lessThan(60);
  });

  it('is thrown away when it is small and the caller is refused, and the connection goes on', async () => {
    const connection = await calling([JSON_TYPE, `Content-Length: ${GOOD.length}`], {}, 'nokey');
    const answer = await connection.answer();
    expect(answer.status).to.equal(401);
    expect(answer.headers['connection']).to.equal('keep-alive');
    connection.send(GOOD.slice(0, 5));
    connection.send(`${GOOD.slice(5)}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect((await connection.answer()).body.toString()).to.equal('{"status":"ok"}');
  });

  it('ends the connection when it is larger, or comes in chunks, and the caller is refused', async () => {
    for (const length of [`Content-Length: ${64 * 1_024 + 1}`, CHUNKED]) {
      const connection = await calling([JSON_TYPE, length], {}, 'nokey');
      const answer = await connection.answer();
      expect(answer.status).to.equal(401);
      expect(answer.headers['connection']).to.equal('close');
      await http.close();
    }
  });

  it('is not asked for when the caller waits for 100 Continue and is refused', async () => {
    const connection = await calling(
      [JSON_TYPE, 'Content-Length: 1000', 'Expect: 100-continue'],
      {},
      'nokey',
    );
    const answer = await connection.answer();
    expect(answer.status).to.equal(401);
    expect(answer.headers['connection']).to.equal('close');
    await connection.closed;
  });

  it('is asked for with 100 Continue', async () => {
    const connection = await calling([
      JSON_TYPE,
      `Content-Length: ${GOOD.length}`,
      'Expect: 100-continue',
    ]);
    expect((await connection.answer()).status).to.equal(100);
    connection.send(GOOD);
    expect((await connection.answer()).status).to.equal(200);
  });

  it('is refused with an expectation that nobody can meet', async () => {
    const connection = await calling([JSON_TYPE, 'Content-Length: 1', 'Expect: miracles']);
    const answer = await connection.answer();
    expect(answer.status).to.equal(400);
    expect(answer.json().error).to.include({ code: 'validation_error' });
    expect(answer.json().error.message).to.contain('`Expect`');
  });

  it('is given up when nothing comes', async () => {
    const connection = await calling([JSON_TYPE, `Content-Length: ${GOOD.length}`], {
      body: { maxBytes: MIB, silentMs: 100, totalMs: 5_000 },
    });
    connection.send(GOOD.slice(0, 5));
    const answer = await connection.answer();
    expect(answer.status).to.equal(400);
    expect(answer.json().error).to.include({ code: 'validation_error' });
    expect(answer.json().error.message).to.contain('nothing came for 0.1 s');
    connection.socket.end();
    await connection.closed;
  });

  it('is given up when it takes too long, though something comes all the time', async () => {
    const connection = await calling([JSON_TYPE, 'Content-Length: 1000'], {
      body: { maxBytes: MIB, silentMs: 200, totalMs: 500 },
    });
    const drip = setInterval(() => connection.send(' '), 20);
    const answer = await connection.answer().finally(() => clearInterval(drip));
    expect(answer.json().error.message).to.contain('it took more than 0.5 s');
  });

  it('that breaks off cancels the call', async () => {
    const connection = await calling([JSON_TYPE, 'Content-Length: 1000']);
    connection.send('{');
    await until(() => http.budget.used() === 1_000 * HELD_PER_BODY_BYTE);
    connection.socket.destroy();
    await until(() => http.budget.used() === 0);
    expect(http.lines.find(({ msg }) => msg === 'request')).to.include({ code: 'client_closed' });
  });

  it('is refused before it is read when the process holds too much already', async () => {
    const budget = createByteBudget(9_500 + 500 * HELD_PER_BODY_BYTE);
    reserveForOthers(budget, 9_500);
    const connection = await calling([JSON_TYPE, 'Content-Length: 501'], { budget });
    const answer = await connection.answer();
    expect(answer.status).to.equal(502);
    expect(answer.json().error).to.include({ code: 'render_failed', reason: 'overloaded' });
    expect(Number(answer.headers['retry-after'])).to.be.at.least(1);
    expect(budget.used()).to.equal(9_500);
  });

  it('is refused while it is read when its chunks are more than the process may hold', async () => {
    const budget = createByteBudget(40_000 * HELD_PER_BODY_BYTE);
    reserveForOthers(budget, 31_000 * HELD_PER_BODY_BYTE);
    const connection = await calling([JSON_TYPE, CHUNKED], { budget });
    connection.send(chunk(8_000));
    await until(() => budget.used() > 31_000 * HELD_PER_BODY_BYTE);
    connection.send(chunk(2_000));
    expect((await connection.answer()).json().error).to.include({ reason: 'overloaded' });
    connection.socket.end();
    await connection.closed;
    await until(() => budget.used() === 31_000 * HELD_PER_BODY_BYTE);
  });

  const refused: [string, string[], string | Buffer, string][] = [
    ['that is missing', [], '', 'body is missing'],
    ['that is empty', [JSON_TYPE, CHUNKED], '0\r\n\r\n', 'body is missing'],
    ['of another type', ['Content-Type: text/plain', 'Content-Length: 2'], '{}', '`Content-Type`'],
    [
      'that is compressed',
      [JSON_TYPE, 'Content-Encoding: gzip', 'Content-Length: 2'],
      '{}',
      '`Content-Encoding`',
    ],
    [
      'that is not UTF-8',
      [JSON_TYPE, 'Content-Length: 3'],
      Buffer.from([0x22, 0xff, 0x22]),
      'UTF-8',
    ],
    ['that is no JSON', [JSON_TYPE, 'Content-Length: 9'], '{"html" }', 'line 1, column 9'],
    ['that the contract refuses', [JSON_TYPE, 'Content-Length: 2'], '{}', '`html`'],
  ];
  for (const [what, headers, body, words] of refused) {
    it(`${what} is refused with a sentence`, async () => {
      const connection = await calling(headers);
      connection.send(body);
      const answer = await connection.answer();
      expect(answer.status).to.equal(400);
      expect(answer.json().error.code).to.equal('validation_error');
      expect(answer.json().error.message).to.contain(words);
    });
  }
});
