import { expect } from 'chai';
import { REQUESTS_BEYOND_PLAN } from '../../../api/accounts/account-requests.ts';
import { eventually } from '../../support/eventually.ts';
import { type HttpFixture, httpFixture, renderHead } from '../../support/http-fixture.ts';
import { type LeaseFixture, leaseFixture, until } from '../../support/lease-fixture.ts';

const GOOD = JSON.stringify({ html: '<p>Hello</p>' });

describe('open requests of an account', () => {
  let fixture: LeaseFixture;
  let http: HttpFixture;
  before(async () => {
    fixture = await leaseFixture();
  });
  beforeEach(async () => {
    http = await httpFixture(fixture);
  });
  afterEach(async () => {
    await http?.close();
    await fixture.reset();
  });
  after(() => fixture?.close());

  /** A request whose body has begun to arrive. */
  async function begun(key: string) {
    const connection = await http.open();
    connection.send(`${renderHead(key, GOOD.length)}${GOOD.slice(0, 5)}`);
    return connection;
  }
  /** Opens as many requests as the account may have. */
  async function fill(key: string, parallel: number) {
    const all = await Promise.all(
      Array.from({ length: parallel + REQUESTS_BEYOND_PLAN }, () => begun(key)),
    );
    await until(() => http.budget.used() === all.length * 3 * GOOD.length);
    return all;
  }

  it('are limited to the concurrency limit plus eight, and the next is rejected before its body is read', async () => {
    const { text } = await fixture.account('starter');
    const open = await fill(text, 2);
    const connection = await http.open();
    connection.send(renderHead(text, GOOD.length));
    const answer = await connection.answer();
    expect(answer.status).to.equal(429);
    expect(answer.json().error).to.include({
      code: 'concurrency_limit',
      message:
        "Your account has 10 requests in progress. Your plan's concurrency limit is 2. Try again when a request has finished.",
    });
    expect(answer.headers).to.include({
      'retry-after': '2',
      'x-concurrency-limit': '2',
      connection: 'keep-alive',
    });
    // Not counted as a failure of the service.
    expect(http.earlyFailures).to.deep.equal([]);

    open[0]!.send(GOOD.slice(5));
    expect((await open[0]!.answer()).status).to.equal(200);
    connection.send(`${GOOD}${renderHead(text, GOOD.length)}${GOOD}`);
    expect((await connection.answer()).status).to.equal(200);
  });

  it('limit the reads of an account as well', async () => {
    const { text } = await fixture.account('starter');
    const open = await fill(text, 2);
    const read = `GET /v1/account HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${text}\r\n\r\n`;
    const connection = await http.open();
    connection.send(read);
    const answer = await connection.answer();
    expect(answer.status).to.equal(429);
    expect(answer.json().error.code).to.equal('concurrency_limit');
    expect(answer.headers).to.include({ 'retry-after': '2', 'x-concurrency-limit': '2' });
    open[0]!.send(GOOD.slice(5));
    await open[0]!.answer();
    connection.send(read);
    expect((await connection.answer()).status).to.equal(200);
  });

  it('do not affect the requests of another account', async () => {
    const { text } = await fixture.account('free');
    await fill(text, 1);
    const other = await fixture.account('free');
    const connection = await begun(other.text);
    connection.send(GOOD.slice(5));
    expect((await connection.answer()).status).to.equal(200);
  });

  it('end when the client disconnects', async () => {
    const { text } = await fixture.account('free');
    const open = await fill(text, 1);
    for (const { socket } of open) socket.destroy();
    await until(() => http.budget.used() === 0);
    const connection = await begun(text);
    connection.send(GOOD.slice(5));
    expect((await connection.answer()).status).to.equal(200);
  });

  it('follow a larger plan within about a second of the upgrade', async () => {
    const { id, text } = await fixture.account('free');
    const open = await fill(text, 1);
    await fixture.store.accounts.updateOne({ _id: id }, { $set: { plan: 'scale' } });
    await eventually(async () => {
      const connection = await begun(text);
      connection.send(GOOD.slice(5));
      expect((await connection.answer()).status).to.equal(200);
    });
    for (const { socket } of open) socket.destroy();
  });
});
