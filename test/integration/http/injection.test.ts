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
/** Header values that try to smuggle a second header. */
const SMUGGLED = [
  'a\rX-Evil: 1',
  'a\nX-Evil: 1',
  'a\r\rX-Evil: 1',
  'a\r\n X-Evil: 1',
  'a\r\n\tX-Evil: 1',
  'a\0\r',
  '\rX-Evil: 1',
  '\0',
];
/** Values that another parser might decode to line breaks. */
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

describe('header injection', () => {
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

  /** Sends a valid request except for the header `name`, whose value is sent byte for byte. */
  async function call(name: string, value: string) {
    const valid = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Content-Length': String(BODY.length),
    };
    const lines = Object.entries({ Host: 'x', ...valid, [name]: value }).map(
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
    it(`rejects a request with a line break or NUL in ${name}`, async () => {
      for (const value of SMUGGLED) {
        const answer = await call(name, value);
        expect([400, 401], JSON.stringify(value)).to.include(answer.status);
        expect(answer.headers, JSON.stringify(value)).to.not.have.property('x-evil');
        expect(answer.json().error.request_id)
          .to.match(UUID)
          .and.to.equal(answer.headers['x-request-id']);
        expect(answer.body.toString()).to.not.contain('X-Evil');
      }
    });

    it(`does not reflect ${name} in the response`, async () => {
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

    it(`responds with an error object to ${name} of a million characters`, async () => {
      const answer = await call(name, 'a'.repeat(1_000_000));
      expect(answer.status).to.equal(400);
      expect(answer.headers).to.include({
        connection: 'close',
        'content-type': 'application/json; charset=utf-8',
      });
      expect(answer.json().error.message).to.contain('larger than 16 KiB');
    });
  }

  it('escapes line breaks of a field name in the error message', async () => {
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
