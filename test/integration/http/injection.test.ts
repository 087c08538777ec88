import { expect } from 'chai';
import { type HttpFixture, httpFixture } from '../../support/http-fixture.ts';
import { type LeaseFixture, leaseFixture } from '../../support/lease-fixture.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const BODY = JSON.stringify({ html: '<p>Hello</p>' });
const HEADERS = [
  'X-Request-Id',
  'Authorization',
  'X-Forwarded-For',
  'Content-Type',
  'Traceparent',
  'Cookie',
  'X-Anything',
];
/** Ways to hide a header inside the value of another. */
const HIDDEN = [
  'a\rX-Evil: 1',
  'a\nX-Evil: 1',
  'a\r\rX-Evil: 1',
  'a\r\n X-Evil: 1',
  'a\r\n\tX-Evil: 1',
  'a\0\r',
  '\rX-Evil: 1',
  '\0',
];
/** What other parsers might decode to line breaks. */
const ENCODED = [
  'a%0d%0aX-Evil: 1',
  'a\\r\\nX-Evil: 1',
  'a\u0085X-Evil: 1',
  'åäöX-Evil: 1',
  '<script>',
  '__proto__',
  "'; --",
  '{jndi:ldap://x}',
];

describe('what a caller writes into headers and names', () => {
  let fixture: LeaseFixture;
  let http: HttpFixture;
  let key: string;
  before(async () => {
    fixture = await leaseFixture();
    http = await httpFixture(fixture);
    key = (await fixture.account('free')).text;
  });
  after(async () => {
    await http?.close();
    await fixture?.reset();
    await fixture?.close();
  });

  /** One call with the header `name` as it is given, in bytes; all others are right. */
  async function call(name: string, value: string) {
    const right = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Content-Length': String(BODY.length),
    };
    const lines = Object.entries({ Host: 'x', ...right, [name]: value }).map(
      ([each, text]) => `${each}: ${text}`,
    );
    const connection = await http.open();
    connection.send(
      Buffer.from(`POST /v1/render HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${BODY}`, 'latin1'),
    );
    const answer = await connection.answer();
    connection.socket.destroy();
    return answer;
  }

  for (const name of HEADERS) {
    it(`refuses the call when ${name} has a line break or a NUL in it`, async () => {
      for (const value of HIDDEN) {
        const answer = await call(name, value);
        expect([400, 401], JSON.stringify(value)).to.include(answer.status);
        expect(answer.headers, JSON.stringify(value)).to.not.have.property('x-evil');
        expect(answer.json().error.request_id)
          .to.match(UUID)
          .and.to.equal(answer.headers['x-request-id']);
        expect(answer.body.toString()).to.not.contain('X-Evil');
      }
    });

    it(`puts nothing of ${name} into the answer`, async () => {
      for (const value of ENCODED) {
        const answer = await call(name, value);
        expect(answer.headers['x-request-id']).to.match(UUID);
        expect(JSON.stringify(answer.headers), value)
          .to.not.contain('Evil')
          .and.to.not.contain(value);
        expect(answer.body.toString('latin1'), value)
          .to.not.contain('Evil')
          .and.to.not.contain('jndi');
      }
    });

    it(`refuses ${name} of a million characters by the envelope`, async () => {
      const answer = await call(name, 'a'.repeat(1_000_000));
      expect(answer.status).to.equal(400);
      expect(answer.headers).to.include({
        connection: 'close',
        'content-type': 'application/json; charset=utf-8',
      });
      expect(answer.json().error.message).to.contain('larger than 16 KiB');
    });
  }

  it('shows a field’s name with line breaks in the message only, and escaped', async () => {
    const body = JSON.stringify({
      html: 'x',
      'a\r\nX-Evil: 1\u2028': 1,
      extra_http_headers: { 'X-A\r\nX-Evil': 'x', 'X-B': 'a\r\nX-Evil: 1' },
    });
    const answer = await http.ask(http.head(key, Buffer.byteLength(body)), body);
    expect(answer.status).to.equal(400);
    expect(answer.headers).to.not.have.property('x-evil');
    expect(answer.json().error.message)
      .to.contain('`a\\r\\nX-Evil: 1')
      .and.to.not.match(/[\r\n]/);
  });
});
