// @proves connection-errors, payload_too_large, overloaded, body-size, bytes-in-flight

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { HELD_PER_BODY_BYTE } from '../../../api/http/body.ts';
import { createByteBudget } from '../../../api/http/byte-budget.ts';
import { type HttpFixtureOptions, renderHead } from '../../support/http-fixture.ts';
import { httpSuite } from '../../support/http-suite.ts';
import { type TestAccount, until } from '../../support/lease-fixture.ts';
import { reserveForOthers } from '../../support/reserved-budget.ts';

const GOOD = JSON.stringify({ html: '<p>Hello</p>' });
const MIB = 2 ** 20;

describe('request bodies', () => {
  const suite = httpSuite();
  let account: TestAccount;
  beforeEach(async () => {
    account = await suite.fixture.account('scale');
  });

  /** A connection that has sent the headers of a render request. */
  async function openRequest(
    headers: string[],
    options: HttpFixtureOptions = {},
    key = account.text,
  ) {
    await suite.serve(options);
    const connection = await suite.http.open();
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

  it('accepts a chunked body', async () => {
    const connection = await openRequest([JSON_TYPE, CHUNKED]);
    connection.send(`5\r\n${GOOD.slice(0, 5)}\r\n`);
    connection.send(`${(GOOD.length - 5).toString(16)}\r\n${GOOD.slice(5)}\r\n0\r\n\r\n`);
    expect((await connection.answer()).status).to.equal(200);
  });

  it('accepts another request on the same connection after an error', async () => {
    const connection = await openRequest([JSON_TYPE, 'Content-Length: 1']);
    connection.send('{');
    const rejected = await connection.answer();
    expect(rejected.status).to.equal(400);
    expect(rejected.json().error.message).to.contain('line 1, column 2');
    connection.send(`${renderHead(account.text, GOOD.length)}${GOOD}`);
    expect((await connection.answer()).status).to.equal(200);
  });

  it('rejects a body by its Content-Length before reading it', async () => {
    const connection = await openRequest([JSON_TYPE, `Content-Length: ${MIB + 1}`], {
      body: { maxBytes: MIB, silentMs: 5_000, totalMs: 5_000 },
    });
    const answer = await connection.answer();
    expect(answer.status).to.equal(400);
    expect(answer.json().error.code).to.equal('payload_too_large');
    expect(answer.json().error.message).to.contain(String(MIB));
    expect(answer.headers['connection']).to.equal('close');
  });

  it('rejects a chunked body as soon as it exceeds the limit', async () => {
    const connection = await openRequest([JSON_TYPE, CHUNKED], {
      body: { maxBytes: 1_000, silentMs: 5_000, totalMs: 5_000 },
    });
    connection.send(chunk(1_001));
    const answer = await connection.answer();
    expect(answer.json().error.code).to.equal('payload_too_large');
    expect(answer.headers['connection']).to.equal('close');
    await connection.closed;
    expect(suite.http.budget.used()).to.equal(0);
  });

  it('discards the rest of a rejected body so that a client that sends before it reads gets the response', async () => {
    const connection = await openRequest([JSON_TYPE, `Content-Length: ${8 * MIB}`], {
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

  it('keeps discarding the rest of a rejected body while bytes arrive slowly', async () => {
    const connection = await openRequest([JSON_TYPE, 'Content-Length: 2000'], {
      body: { maxBytes: 1_000, silentMs: 5_000, totalMs: 5_000 },
    });
    expect((await connection.answer()).json().error.code).to.equal('payload_too_large');
    // 4 s, twice the timeout for a silent client.
    for (let sent = 0; sent < 2_000; sent += 100) {
      expect(connection.socket.writable, `open after ${sent} bytes`).to.equal(true);
      connection.send('a'.repeat(100));
      await sleep(200);
    }
    await connection.closed;
    expect(connection.failures).to.deep.equal([]);
  });

  it('closes the connection after discarding 10 MiB of a rejected body', async () => {
    const connection = await openRequest([JSON_TYPE, `Content-Length: ${1_000 * MIB}`], {
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

  it('discards a small body after a 401 and keeps the connection open', async () => {
    const connection = await openRequest(
      [JSON_TYPE, `Content-Length: ${GOOD.length}`],
      {},
      'nokey',
    );
    const answer = await connection.answer();
    expect(answer.status).to.equal(401);
    expect(answer.headers['connection']).to.equal('keep-alive');
    connection.send(GOOD.slice(0, 5));
    connection.send(`${GOOD.slice(5)}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect((await connection.answer()).body.toString()).to.equal('{"status":"ok"}');
  });

  it('closes the connection after a 401 when the body is large or chunked', async () => {
    for (const length of [`Content-Length: ${64 * 1_024 + 1}`, CHUNKED]) {
      const connection = await openRequest([JSON_TYPE, length], {}, 'nokey');
      const answer = await connection.answer();
      expect(answer.status).to.equal(401);
      expect(answer.headers['connection']).to.equal('close');
      await suite.http.close();
    }
  });

  it('sends no 100 Continue with a 401', async () => {
    const connection = await openRequest(
      [JSON_TYPE, 'Content-Length: 1000', 'Expect: 100-continue'],
      {},
      'nokey',
    );
    const answer = await connection.answer();
    expect(answer.status).to.equal(401);
    expect(answer.headers['connection']).to.equal('close');
    await connection.closed;
  });

  it('sends 100 Continue to a client that expects it', async () => {
    const connection = await openRequest([
      JSON_TYPE,
      `Content-Length: ${GOOD.length}`,
      'Expect: 100-continue',
    ]);
    expect((await connection.answer()).status).to.equal(100);
    connection.send(GOOD);
    expect((await connection.answer()).status).to.equal(200);
  });

  it('rejects an unsupported Expect header', async () => {
    const connection = await openRequest([JSON_TYPE, 'Content-Length: 1', 'Expect: miracles']);
    const answer = await connection.answer();
    expect(answer.status).to.equal(400);
    expect(answer.json().error).to.include({ code: 'validation_error' });
    expect(answer.json().error.message).to.contain('`Expect`');
  });

  it('rejects a body when no bytes arrive in time', async () => {
    const connection = await openRequest([JSON_TYPE, `Content-Length: ${GOOD.length}`], {
      body: { maxBytes: MIB, silentMs: 100, totalMs: 5_000 },
    });
    connection.send(GOOD.slice(0, 5));
    const answer = await connection.answer();
    expect(answer.status).to.equal(400);
    expect(answer.json().error).to.include({ code: 'validation_error' });
    expect(answer.json().error.message).to.contain('no data for 0.1 s');
    connection.socket.end();
    await connection.closed;
  });

  it('rejects a body that exceeds the total time while bytes keep arriving', async () => {
    const connection = await openRequest([JSON_TYPE, 'Content-Length: 1000'], {
      body: { maxBytes: MIB, silentMs: 200, totalMs: 500 },
    });
    const timer = setInterval(() => connection.send(' '), 20);
    const answer = await connection.answer().finally(() => clearInterval(timer));
    expect(answer.json().error.message).to.contain('it took longer than 0.5 s');
  });

  it('cancels the request when the client disconnects during the body', async () => {
    const connection = await openRequest([JSON_TYPE, 'Content-Length: 1000']);
    connection.send('{');
    await until(() => suite.http.budget.used() === 1_000 * HELD_PER_BODY_BYTE);
    connection.socket.destroy();
    await until(() => suite.http.budget.used() === 0);
    expect(suite.http.lines.find(({ msg }) => msg === 'request')).to.include({
      code: 'client_closed',
    });
  });

  it('responds overloaded before reading a body that exceeds the remaining budget', async () => {
    const budget = createByteBudget(9_500 + 500 * HELD_PER_BODY_BYTE);
    reserveForOthers(budget, 9_500);
    const connection = await openRequest([JSON_TYPE, 'Content-Length: 501'], { budget });
    const answer = await connection.answer();
    expect(answer.status).to.equal(502);
    expect(answer.json().error).to.include({ code: 'render_failed', reason: 'overloaded' });
    expect(Number(answer.headers['retry-after'])).to.be.at.least(1);
    expect(budget.used()).to.equal(9_500);
  });

  it('responds overloaded while reading a chunked body that exceeds the remaining budget', async () => {
    const budget = createByteBudget(40_000 * HELD_PER_BODY_BYTE);
    reserveForOthers(budget, 31_000 * HELD_PER_BODY_BYTE);
    const connection = await openRequest([JSON_TYPE, CHUNKED], { budget });
    connection.send(chunk(8_000));
    await until(() => budget.used() > 31_000 * HELD_PER_BODY_BYTE);
    connection.send(chunk(2_000));
    expect((await connection.answer()).json().error).to.include({ reason: 'overloaded' });
    connection.socket.end();
    await connection.closed;
    await until(() => budget.used() === 31_000 * HELD_PER_BODY_BYTE);
  });

  const rejected: [string, string[], string | Buffer, string][] = [
    ['a missing body', [], '', 'body is missing'],
    ['an empty body', [JSON_TYPE, CHUNKED], '0\r\n\r\n', 'body is missing'],
    [
      'a body of another content type',
      ['Content-Type: text/plain', 'Content-Length: 2'],
      '{}',
      '`Content-Type`',
    ],
    [
      'a compressed body',
      [JSON_TYPE, 'Content-Encoding: gzip', 'Content-Length: 2'],
      '{}',
      '`Content-Encoding`',
    ],
    [
      'a body that is not UTF-8',
      [JSON_TYPE, 'Content-Length: 3'],
      Buffer.from([0x22, 0xff, 0x22]),
      'UTF-8',
    ],
    [
      'a body that is not valid JSON',
      [JSON_TYPE, 'Content-Length: 9'],
      '{"html" }',
      'line 1, column 9',
    ],
    ['a body that violates the schema', [JSON_TYPE, 'Content-Length: 2'], '{}', '`html`'],
  ];
  for (const [what, headers, body, message] of rejected) {
    it(`rejects ${what} with a message that names the problem`, async () => {
      const connection = await openRequest(headers);
      connection.send(body);
      const answer = await connection.answer();
      expect(answer.status).to.equal(400);
      expect(answer.json().error.code).to.equal('validation_error');
      expect(answer.json().error.message).to.contain(message);
    });
  }
});
