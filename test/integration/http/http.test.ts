// @proves POST /v1/render, unknown-endpoints, api-reference, X-Request-Id, X-Usage-Count
// @proves order-of-errors, render_failed, database, internal, not_found, method_not_allowed
// @proves client-disconnect

import { once } from 'node:events';
import { expect } from 'chai';
import { type HttpFixture, httpFixture, PDF, renderHead } from '../../support/http-fixture.ts';
import { type LeaseFixture, leaseFixture, until } from '../../support/lease-fixture.ts';

const GOOD = JSON.stringify({ html: '<p>private content</p>' });
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('the HTTP API', () => {
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

  const post = (key: string, body: string, path = '/v1/render') =>
    http.ask(http.head(key, Buffer.byteLength(body)).replace('/v1/render', path), body);

  describe('POST /v1/render', () => {
    it('responds with the PDF and its headers and counts the render', async () => {
      const { text, usage } = await fixture.account('free', {
        usage: { period: '2999-01', count: 41 },
      });
      const { status, headers, body } = await post(text, GOOD);
      expect(status).to.equal(200);
      expect(body).to.deep.equal(PDF);
      expect(headers).to.include({
        'content-type': 'application/pdf',
        'content-disposition': 'inline; filename="render.pdf"',
        'x-usage-count': '42',
        'x-pdf-pages': '3',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        connection: 'keep-alive',
      });
      expect(headers['server-timing']).to.match(
        /^admit;dur=1\.3, print;dur=20\.0, other;dur=[\d.]+$/,
      );
      expect(headers['x-request-id']).to.match(UUID);
      expect(await usage()).to.equal(42);
    });

    it('omits X-Usage-Count when the database does not return the count in time', async () => {
      const { text } = await fixture.account('free');
      http.state.during = async () =>
        void (await fixture.failCommands('findAndModify', { errorCode: 11602 }));
      const { status, headers } = await post(text, GOOD);
      expect(status).to.equal(200);
      expect(headers).to.not.have.property('x-usage-count');
      await fixture.clearFailPoints();
    });

    it('generates the request ID of an error and ignores the one of the client', async () => {
      const head = `${http.head('nokey', GOOD.length)}\nX-Request-Id: mine`;
      const answer = await http.ask(head, GOOD);
      const { error } = answer.json();
      expect(answer.status).to.equal(401);
      expect(answer.headers).to.include({
        'content-type': 'application/json; charset=utf-8',
        'www-authenticate': 'Bearer',
        'x-content-type-options': 'nosniff',
      });
      expect(error.request_id).to.match(UUID).and.to.equal(answer.headers['x-request-id']);
      expect(Object.keys(error)).to.deep.equal(['code', 'message', 'request_id', 'doc_url']);
      expect(error.doc_url).to.match(/^http:\/\/.*\/docs\/guides\/errors#unauthorized$/);
    });

    it('checks the key before the subscription, the body and the concurrency limit', async () => {
      const unpaid = await fixture.account('free', { state: 'unpaid' });
      const busy = await fixture.account('free', {
        leases: [{ id: 'other', key: 'k', expires: new Date(Date.now() + 60e3) }],
      });
      const answers = await Promise.all([
        post('nokey', '{'),
        post(unpaid.text, '{'),
        post(busy.text, '{'),
        post(busy.text, GOOD),
      ]);
      expect(answers.map(answer => answer.json().error.code)).to.deep.equal([
        'unauthorized',
        'subscription_inactive',
        'validation_error',
        'concurrency_limit',
      ]);
      expect(answers.map(({ status }) => status)).to.deep.equal([401, 403, 400, 429]);
      expect(answers[3]!.headers).to.include({ 'retry-after': '7', 'x-concurrency-limit': '1' });
    });

    it('rejects a revoked key on the next request and before the body on the one after', async () => {
      const { text, accounts, name, key } = await fixture.account('free');
      expect((await post(text, GOOD)).status).to.equal(200);
      await accounts.revokeKey(name, key.id);
      expect((await post(text, GOOD)).status).to.equal(401);
      expect((await post(text, '{')).status).to.equal(401);
    });

    it('checks the IP allowlist of a key against the address that a trusted proxy forwards', async () => {
      const { id, text } = await fixture.account('free');
      await fixture.store.accounts.updateOne(
        { _id: id },
        { $set: { 'keys.0.allowedIps': ['198.51.100.0/24'] } },
      );
      const from = (forwarded: string) =>
        http.ask(`${http.head(text, GOOD.length)}\nX-Forwarded-For: ${forwarded}`, GOOD);
      expect((await from('198.51.100.7')).status).to.equal(200);
      expect((await from('198.51.100.7, 203.0.113.1')).status).to.equal(401);
    });

    it('responds 502 internal without details to an unexpected error', async () => {
      const { text, usage } = await fixture.account('free');
      http.state.during = async () => {
        throw new TypeError('secret detail');
      };
      const answer = await post(text, GOOD);
      expect(answer.status).to.equal(502);
      expect(answer.json().error).to.include({ code: 'render_failed', reason: 'internal' });
      expect(answer.body.toString()).to.not.contain('secret');
      expect(http.lines.find(({ msg }) => msg === 'unexpected error')).to.include({
        requestId: answer.headers['x-request-id'],
      });
      expect(await usage()).to.equal(0);
    });

    it('responds 502 database when the database does not answer', async () => {
      const { text } = await fixture.account('free');
      await fixture.failCommands('find', { errorCode: 11602 });
      const answer = await post(text, GOOD);
      expect(answer.status).to.equal(502);
      expect(answer.json().error).to.include({ code: 'render_failed', reason: 'database' });
      expect(answer.headers['retry-after']).to.equal('1');
    });

    it('cancels the render and counts nothing when the client disconnects', async () => {
      const free = await fixture.account('free');
      const began = Promise.withResolvers<AbortSignal>();
      http.state.during = async signal => {
        began.resolve(signal);
        await once(signal, 'abort');
        throw signal.reason;
      };
      const connection = await http.open();
      connection.send(`${renderHead(free.text, GOOD.length)}${GOOD}`);
      const signal = await began.promise;
      connection.socket.destroy();
      await until(async () => (await free.leaseCount()) === 0);
      expect(signal.aborted).to.equal(true);
      expect(await free.usage()).to.equal(0);
      await until(() => http.lines.some(({ msg }) => msg === 'request'));
      expect(http.lines.find(({ msg }) => msg === 'request')).to.include({
        code: 'client_closed',
        accountId: free.id,
      });
      await until(() => http.budget.used() === 0);
    });

    it('does not abort a render after the response was sent', async () => {
      const { text } = await fixture.account('free');
      let seen: AbortSignal | undefined;
      http.state.during = async signal => {
        seen = signal;
      };
      await post(text, GOOD);
      await until(() => http.lines.some(({ msg }) => msg === 'request'));
      expect(seen?.aborted).to.equal(false);
    });
  });

  describe('other paths and methods', () => {
    const ask = (request: string) => http.ask(`${request} HTTP/1.1`);

    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']) {
      it(`responds 405 with Allow to ${method} on the render path`, async () => {
        const connection = await http.open();
        connection.send(`${method} /v1/render HTTP/1.1\r\nHost: x\r\n\r\n`);
        const [head] = await once(connection.socket, 'data');
        expect(String(head))
          .to.match(/^HTTP\/1.1 405 /)
          .and.to.match(/\r\nAllow: POST\r\n/);
        if (method !== 'HEAD')
          expect((await connection.answer()).json().error.code).to.equal('method_not_allowed');
      });
    }

    it('responds 405 with Allow to OPTIONS and POST on a read-only path', async () => {
      for (const request of ['OPTIONS /healthz', 'POST /healthz'])
        expect((await ask(request)).headers['allow']).to.equal('GET, HEAD');
    });

    for (const path of [
      '/v1/nothing',
      '/V1/render',
      '/v1/render/',
      '/v1//render',
      '/v1/%72ender/x',
      '/v1/%',
      '//',
      '/..',
    ]) {
      it(`responds 404 with an error object to ${path}`, async () => {
        const answer = await ask(`GET ${path}`);
        expect(answer.status).to.equal(404);
        expect(answer.json().error.code).to.equal('not_found');
        expect(answer.json().error.request_id).to.equal(answer.headers['x-request-id']);
      });
    }

    it('responds to HEAD as to GET but without a body', async () => {
      const connection = await http.open();
      connection.send('HEAD /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      const bytes = Buffer.concat(await connection.socket.toArray()).toString();
      expect(bytes)
        .to.match(/^HTTP\/1.1 200 /)
        .and.to.match(/\r\nContent-Length: 15\r\n/);
      expect(bytes).to.match(/\r\n\r\n$/);
    });

    it('redirects / to the documentation', async () => {
      expect(await ask('GET /')).to.have.property('status', 302);
      expect((await ask('GET /')).headers['location']).to.equal('/docs');
    });

    it('serves an OpenAPI document whose paths all exist', async () => {
      const answer = await ask('GET /openapi.json');
      expect(answer.headers).to.include({
        'content-type': 'application/json; charset=utf-8',
        'x-content-type-options': 'nosniff',
      });
      const { paths, servers } = JSON.parse(answer.body.toString()) as {
        paths: Record<string, object>;
        servers: { url: string }[];
      };
      expect(servers).to.deep.equal([{ url: 'http://localhost:8080' }]);
      const described = Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
      );
      expect(described).to.include('POST /v1/render');
      for (const request of described)
        expect((await ask(request)).status, request).to.not.be.oneOf([404, 405]);
    });

    it('serves the documentation with a policy that allows no external resources', async () => {
      const { status, headers, body } = await ask('GET /docs');
      expect(status).to.equal(200);
      expect(headers['content-type']).to.equal('text/html; charset=utf-8');
      expect(headers['content-security-policy'])
        .to.contain("default-src 'none'")
        .and.to.contain("style-src 'sha256-");
      expect(body.toString())
        .to.match(/^<!doctype html>/)
        .and.to.contain('http://localhost:8080/v1/render');
    });

    it('never copies request data into a response header', async () => {
      const answer = await ask('GET /v1/%0d%0aSet-Cookie:%20a=b?x=%0d%0aX-Evil:%201');
      expect(answer.status).to.equal(404);
      expect(answer.headers).to.not.have.any.keys('set-cookie', 'x-evil');
    });
  });

  it('logs one line per request without the query, the key and the body', async () => {
    const { id, text } = await fixture.account('free');
    await post(text, GOOD, '/v1/render?token=hidden');
    await until(() => http.lines.some(({ msg }) => msg === 'request'));
    const lines = http.lines.filter(({ msg }) => msg === 'request');
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({
      method: 'POST',
      path: '/v1/render',
      status: 200,
      bodyBytes: GOOD.length,
      bytes: PDF.length,
      accountId: id,
    });
    expect(lines[0]!['ms']).to.be.a('number');
    const all = JSON.stringify(http.lines);
    for (const secret of ['hidden', 'private content', text, text.slice(-12)])
      expect(all).to.not.contain(secret);
  });

  it('logs the code of an error', async () => {
    await post('nokey', GOOD);
    await until(() => http.lines.some(({ msg }) => msg === 'request'));
    expect(http.lines.find(({ msg }) => msg === 'request')).to.include({
      status: 401,
      code: 'unauthorized',
    });
  });
});
