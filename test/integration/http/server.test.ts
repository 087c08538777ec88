// @proves connection-errors, unknown-endpoints, client-disconnect, half-closed-client

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import type { Route } from '../../../api/http/state.ts';
import { PDF, renderHead } from '../../support/http-fixture.ts';
import { httpSuite } from '../../support/http-suite.ts';
import { until } from '../../support/lease-fixture.ts';

const GOOD = JSON.stringify({ html: '<p>Hello</p>' });
const UUID = /^[0-9a-f-]{36}$/;

describe('the HTTP server', () => {
  const suite = httpSuite();

  describe('malformed requests', () => {
    const broken: [string, string, string][] = [
      ['bytes that are not HTTP', 'hello there\r\n\r\n', 'not valid HTTP/1.1'],
      [
        'headers over 16 KiB',
        `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(17_000)}\r\n\r\n`,
        'larger than 16 KiB',
      ],
      ['a request without Host', 'GET /healthz HTTP/1.1\r\n\r\n', '`Host` is missing'],
      [
        'a request with two hosts',
        'GET /healthz HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n',
        '`Host` appears more than once',
      ],
      [
        'an invalid method token',
        'F(O /v1/render HTTP/1.1\r\nHost: x\r\n\r\n',
        'not valid HTTP/1.1',
      ],
      ['an unknown method without a version', 'FOO /v1/render\r\n\r\n', 'not valid HTTP/1.1'],
      [
        'an unknown method with a target that is not a path',
        'FOO mailto:x HTTP/1.1\r\nHost: x\r\n\r\n',
        'request target',
      ],
      [
        'an unknown method with a line break in its target',
        'FOO /v1/ren\rder HTTP/1.1\r\nHost: x\r\n\r\n',
        'not valid HTTP/1.1',
      ],
      [
        'an unknown method of 65 characters',
        `${'F'.repeat(65)} /v1/render HTTP/1.1\r\nHost: x\r\n\r\n`,
        'not valid HTTP/1.1',
      ],
      [
        'a target with an unclosed IPv6 host',
        'GET http://[::1 HTTP/1.1\r\nHost: x\r\n\r\n',
        'request target',
      ],
      [
        'a target with an invalid host',
        'GET http://exa[mple/x HTTP/1.1\r\nHost: x\r\n\r\n',
        'request target',
      ],
      [
        'a line break hidden in a header',
        'GET / HTTP/1.1\r\nHost: x\r\nX-A: 1\rX-B: 2\r\n\r\n',
        'not valid HTTP/1.1',
      ],
      [
        'two Content-Length headers',
        'POST /v1/render HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
        'not valid HTTP/1.1',
      ],
      [
        'both Content-Length and chunked encoding',
        'POST /v1/render HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        'not valid HTTP/1.1',
      ],
    ];
    for (const [what, bytes, message] of broken) {
      it(`responds 400 to ${what}`, async () => {
        const connection = await suite.connect();
        connection.send(bytes);
        const answer = await connection.answer();
        expect(answer.status).to.equal(400);
        expect(answer.headers).to.include({
          connection: 'close',
          'content-type': 'application/json; charset=utf-8',
        });
        expect(answer.json().error).to.include({
          code: 'validation_error',
          request_id: answer.headers['x-request-id'],
        });
        expect(answer.json().error.request_id).to.match(UUID);
        expect(answer.json().error.message).to.contain(message);
        await connection.closed;
      });
    }

    const rejected: [string, string, number, string | undefined][] = [
      ['an unknown method on the render path', 'FOO /v1/render', 405, 'POST'],
      ['an unknown method on a read-only path', 'FOO /healthz?full', 405, 'GET, HEAD'],
      ['an unknown method with an absolute target', 'FOO http://localhost/v1/render', 405, 'POST'],
      ['a lower-case method', 'post /v1/render', 405, 'POST'],
      ['a method with the prefix of a known one', 'POSTS /v1/render', 405, 'POST'],
      ['an RTSP method', 'DESCRIBE /v1/render', 405, 'POST'],
      ['an unknown method on an unknown path', 'FOO /v1/nothing', 404, undefined],
      ['CONNECT', 'CONNECT example.com:443', 405, ''],
    ];
    for (const [what, line, status, allow] of rejected)
      it(`responds ${status} to ${what} (${line})`, async () => {
        const connection = await suite.connect();
        connection.send(
          `${line} HTTP/1.1\r\nHost: x\r\nContent-Length: ${GOOD.length}\r\n\r\n${GOOD}`,
        );
        const answer = await connection.answer();
        expect(answer.status).to.equal(status);
        expect(answer.headers['allow']).to.equal(allow);
        expect(answer.headers).to.include({
          connection: 'close',
          'content-type': 'application/json; charset=utf-8',
        });
        const code = status === 404 ? 'not_found' : 'method_not_allowed';
        expect(answer.json().error).to.include({
          code,
          request_id: answer.headers['x-request-id'],
        });
        expect(suite.http.lines.find(({ msg }) => msg === 'malformed request')).to.include({
          requestId: answer.headers['x-request-id'],
          status,
          code,
        });
        await connection.closed;
      });

    it('responds 400 when the headers do not end in time', async () => {
      const connection = await suite.connect({
        server: { headersTimeoutMs: 100, checkEveryMs: 20 },
      });
      connection.send('GET / HTTP/1.1\r\nX-Slow: ');
      expect((await connection.answer()).json().error.message).to.contain('did not arrive in time');
      await connection.closed;
    });

    it('responds 400 to an invalid chunk and cancels the request', async () => {
      const { text } = await suite.fixture.account('free');
      const connection = await suite.connect();
      connection.send(
        `POST /v1/render HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${text}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{"\r\n`,
      );
      await until(() => suite.http.budget.used() > 0);
      connection.send('nonsense\r\n');
      expect((await connection.answer()).json().error.code).to.equal('validation_error');
      await connection.closed;
      await until(() => suite.http.budget.used() === 0);
    });
  });

  /** The bytes of a render request; its render runs until `finish` is called. */
  async function call() {
    const { text, usage } = await suite.fixture.account('scale');
    const began = Promise.withResolvers<AbortSignal>();
    const finish = Promise.withResolvers<void>();
    suite.http.state.during = signal => {
      began.resolve(signal);
      signal.addEventListener('abort', () => finish.reject(signal.reason));
      return finish.promise;
    };
    const bytes = `${renderHead(text, GOOD.length)}${GOOD}`;
    return { bytes, began: began.promise, finish: finish.resolve, usage };
  }

  describe('malformed pipelined requests', () => {
    const rejected: [string, string, number][] = [
      ['garbage', 'nonsense\r\n\r\n', 400],
      ['an unknown method', '\r\nFOO /v1/render HTTP/1.1\r\nHost: x\r\n\r\n', 405],
      ['a request without Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
    ];
    for (const [what, bytes, status] of rejected)
      it(`responds ${status} to ${what} after the response of the request before it`, async () => {
        const connection = await suite.connect();
        const render = await call();
        connection.send(`${render.bytes}${bytes}`);
        await render.began;
        await until(() => suite.http.lines.some(({ msg }) => msg === 'malformed request'));
        connection.send('nonsense\r\n\r\n');
        render.finish();
        expect((await connection.answer()).headers['content-type']).to.equal('application/pdf');
        expect((await connection.answer()).status).to.equal(status);
        await connection.closed;
        expect(await render.usage()).to.equal(1);
      });

    it('ignores all requests after the malformed one', async () => {
      const connection = await suite.connect();
      const render = await call();
      render.finish();
      connection.send(`GET /healthz HTTP/1.1\r\n\r\n${render.bytes}`);
      expect((await connection.answer()).status).to.equal(400);
      await connection.closed;
      await until(() => suite.http.server.connections() === 0);
      expect(suite.http.lines.filter(({ msg }) => msg === 'request')).to.deep.equal([]);
      expect(await render.usage()).to.equal(0);
    });

    it('closes the connection of a client that keeps sending requests', async () => {
      const connection = await suite.connect();
      const render = await call();
      connection.send(`${render.bytes}GET /healthz HTTP/1.1\r\n\r\n`);
      const signal = await render.began;
      // Without a limit, each would be buffered until the first response is sent.
      connection.send('GET /healthz HTTP/1.1\r\n\r\n'.repeat(10_000));
      await once(signal, 'abort');
      await connection.closed;
      expect(await render.usage()).to.equal(0);
    });

    it('closes the connection and cancels its renders on CONNECT', async () => {
      const connection = await suite.connect();
      const render = await call();
      connection.send(`${render.bytes}${render.bytes}CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n`);
      await connection.closed;
      await until(() => suite.http.budget.used() === 0);
      expect(await render.usage()).to.equal(0);
    });
  });

  /** The next response that is not interim. */
  async function finalAnswer(connection: Awaited<ReturnType<typeof suite.connect>>) {
    for (;;) {
      const answer = await connection.answer();
      if (answer.status !== 100) return answer;
    }
  }

  describe('half-closed connections', () => {
    it('responds to a client that closes its half after the body', async () => {
      const connection = await suite.connect();
      const render = await call();
      connection.socket.end(render.bytes);
      await render.began;
      // The server probes the client with interim responses.
      expect((await connection.answer()).status).to.equal(100);
      expect((await connection.answer()).status).to.equal(100);
      render.finish();
      const answer = await finalAnswer(connection);
      expect(answer.status).to.equal(200);
      expect(answer.body.toString()).to.equal(PDF.toString());
      await connection.closed;
      expect(await render.usage()).to.equal(1);
    });

    it('responds to each pipelined request of a half-closed client', async () => {
      const connection = await suite.connect();
      connection.socket.end(
        ['/healthz', '/readyz', '/nothing']
          .map(path => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
          .join(''),
      );
      for (const status of [200, 200, 404])
        expect((await finalAnswer(connection)).status).to.equal(status);
      await connection.closed;
    });

    const disconnects: [string, (socket: Socket) => void][] = [
      ['closes the connection', socket => socket.destroy()],
      ['resets the connection', socket => socket.resetAndDestroy()],
      [
        'closes its half and later the whole connection',
        socket => socket.end() && setTimeout(() => socket.destroy(), 50),
      ],
    ];
    for (const [what, disconnect] of disconnects)
      it(`cancels the renders of a client that ${what}`, async () => {
        const connection = await suite.connect();
        const render = await call();
        // The second request is pipelined behind the first.
        connection.send(render.bytes + render.bytes);
        const signal = await render.began;
        const startMs = performance.now();
        disconnect(connection.socket);
        await once(signal, 'abort');
        expect(performance.now() - startMs).to.be.below(3_000);
        await until(() => suite.http.budget.used() === 0);
        expect(await render.usage()).to.equal(0);
      });

    it('ends a started stream of a half-closed client because it cannot be probed', async () => {
      const ended = Promise.withResolvers<void>();
      const stream: Route = {
        method: 'get',
        path: '/stream',
        handle: [
          ctx => {
            ctx.respond = false;
            ctx.res
              .once('close', ended.resolve)
              .writeHead(200, { 'Content-Type': 'text/event-stream' })
              .write(': begun\n\n');
          },
        ],
      };
      const connection = await suite.connect({
        console: { routes: [stream], renders: undefined as never },
      });
      connection.send('GET /stream HTTP/1.1\r\nHost: x\r\n\r\n');
      expect((await connection.answer()).status).to.equal(200);
      connection.socket.end();
      await ended.promise;
      await connection.closed;
    });

    it('cancels the render of a half-closed HTTP/1.0 client, which accepts no interim responses', async () => {
      const connection = await suite.connect();
      const render = await call();
      connection.send(render.bytes.replace('HTTP/1.1', 'HTTP/1.0'));
      const signal = await render.began;
      connection.socket.end();
      await once(signal, 'abort');
      await connection.closed;
      expect(connection.socket.bytesRead).to.equal(0);
      expect(await render.usage()).to.equal(0);
    });
  });

  it('closes a connection without a response when no byte arrives', async () => {
    const connection = await suite.connect({ server: { headersTimeoutMs: 100, checkEveryMs: 20 } });
    await connection.closed;
    expect(connection.socket.bytesRead).to.equal(0);
  });
});
