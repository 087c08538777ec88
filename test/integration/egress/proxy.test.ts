import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { type EgressFixture, egressFixture } from '../../support/egress-fixture.ts';

const LOOPBACK = '127.0.0.0/8';

describe('the egress guard as a proxy', () => {
  let fixture: EgressFixture;

  beforeEach(async () => {
    fixture = await egressFixture();
  });
  afterEach(() => fixture.close());

  /** A guard that allows one port of loopback. */
  const open = (port: number, config = {}) =>
    fixture.guard('intranet', [`${LOOPBACK}:${port}`, `[::1]:${port}`], config);

  describe('for plain HTTP', () => {
    it('forwards method, path, fields and body, with the host of the URL', async () => {
      const victim = await fixture.web(async (request, response) => {
        let body = '';
        for await (const chunk of request) body += chunk;
        response.end(
          JSON.stringify({
            method: request.method,
            url: request.url,
            headers: request.headers,
            body,
          }),
        );
      });
      const guard = await open(victim.port);
      fixture.dns.set('shop.example', '127.0.0.1');
      const answer = await fixture.get(
        guard.port,
        `http://shop.example:${victim.port}/a/../b?c=%20d`,
        {
          method: 'PUT',
          body: 'ten pages',
          headers: {
            Host: 'other.example',
            'X-Own': 'kept',
            'Proxy-Authorization': 'Basic c2VjcmV0',
            'Proxy-Connection': 'keep-alive',
            Connection: 'X-Private',
            'X-Private': 'dropped',
            TE: 'trailers',
            'Content-Length': '9',
          },
        },
      );
      const seen = JSON.parse(answer.body);
      expect([seen.method, seen.url, seen.body]).to.deep.equal([
        'PUT',
        '/a/../b?c=%20d',
        'ten pages',
      ]);
      expect(seen.headers).to.deep.equal({
        host: `shop.example:${victim.port}`,
        'x-own': 'kept',
        'content-length': '9',
        connection: 'keep-alive',
      });
    });

    it('forwards a body without a length, even for methods that usually have none', async () => {
      const victim = await fixture.web((request, response) => request.pipe(response));
      const guard = await open(victim.port);
      const answer = await fixture.get(guard.port, `http://127.0.0.1:${victim.port}/`, {
        method: 'DELETE',
        body: 'chunks',
        headers: { 'Transfer-Encoding': 'chunked' },
      });
      expect(answer.body).to.equal('chunks');
    });

    it('returns status, fields and repeated fields, without hop-by-hop fields', async () => {
      const victim = await fixture.web((_request, response) => {
        const fields = [
          'Set-Cookie',
          'a=1',
          'Set-Cookie',
          'b=2',
          'X-Own',
          'caf\xe9',
          'Connection',
          'X-Gone',
          'X-Gone',
          '1',
          'Proxy-Authenticate',
          'Basic',
        ];
        response.sendDate = false;
        response.writeHead(404, 'Nobody Home', [
          ...fields,
          'Keep-Alive',
          'timeout=9',
          'Content-Length',
          '2',
        ]);
        response.end(Buffer.from('no')); // a string would make Node write the head as UTF-8
      });
      const guard = await open(victim.port);
      const answer = await fixture.get(guard.port, `http://127.0.0.1:${victim.port}/`);
      expect([answer.status, answer.body]).to.deep.equal([404, 'no']);
      expect(answer.rawHeaders.slice(0, 8)).to.deep.equal([
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2',
        'X-Own',
        'caf\xe9',
        'Content-Length',
        '2',
      ]);
      expect(answer.headers).to.not.have.any.keys('x-gone', 'proxy-authenticate');
      expect(answer.headers['keep-alive']).to.not.equal('timeout=9');
    });

    it('streams a large response unchanged', async () => {
      const content = randomBytes(8 * 2 ** 20).toString('base64');
      const victim = await fixture.web((_request, response) => response.end(content));
      const guard = await open(victim.port);
      const { body } = await fixture.get(guard.port, `http://127.0.0.1:${victim.port}/`);
      const hash = (text: string) => createHash('sha256').update(text).digest('hex');
      expect(hash(body)).to.equal(hash(content));
      expect(guard.counts().bytes).to.be.within(content.length, content.length + 2_000);
    });

    it('reuses a connection only for the same host and port', async () => {
      const victim = await fixture.web();
      const guard = await open(victim.port);
      fixture.dns.set('one.example', '127.0.0.1');
      fixture.dns.set('two.example', '127.0.0.1');
      for (const host of ['one.example', 'one.example', 'one.example'])
        expect(await fixture.outcome(guard.port, `http://${host}:${victim.port}/`)).to.equal('200');
      expect([victim.connections, fixture.dns.queries('one.example')]).to.deep.equal([1, 2]);
      await fixture.outcome(guard.port, `http://two.example:${victim.port}/`);
      expect([victim.connections, fixture.dns.queries('two.example')]).to.deep.equal([2, 2]);
    });

    it('retries on a new connection when a kept-alive one has closed', async () => {
      let asked = 0;
      const victim = await fixture.web((request, response) => {
        asked += 1;
        if (asked === 2) request.socket.destroy();
        else response.end('here');
      });
      const guard = await open(victim.port);
      const url = `http://127.0.0.1:${victim.port}/`;
      expect([
        await fixture.outcome(guard.port, url),
        await fixture.outcome(guard.port, url),
      ]).to.deep.equal(['200', '200']);
      expect([asked, victim.connections]).to.deep.equal([3, 2]);
    });

    it('never retries a request that is not safe or has a body', async () => {
      for (const method of ['POST', 'GET']) {
        let asked = 0;
        const victim = await fixture.web((request, response) => {
          asked += 1;
          if (asked === 2) request.resume().on('end', () => request.socket.destroy());
          else response.end('here');
        });
        const guard = await open(victim.port);
        const url = `http://127.0.0.1:${victim.port}/`;
        await fixture.get(guard.port, url);
        const again = await fixture
          .get(guard.port, url, { method, body: 'order', headers: { 'Content-Length': '5' } })
          .catch(error => error.code);
        expect([again, asked], method).to.deep.equal(['ECONNRESET', 2]);
      }
    });

    it('closes the connection for broken and missing responses instead of returning an error page', async () => {
      const answers = [
        'HTTP/1.1 200 OK\r\nBad Field: x\r\n\r\n',
        'HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n',
        'nonsense\r\n\r\n',
        'HTTP/1.1 099 Odd\r\n\r\n',
      ];
      const both =
        'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
      for (const bytes of [
        ...answers,
        both,
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
        '',
      ]) {
        const victim = await fixture.tcp(socket => socket.once('data', () => socket.end(bytes)));
        const guard = await open(victim.port);
        expect(
          await fixture.outcome(guard.port, `http://127.0.0.1:${victim.port}/`),
          JSON.stringify(bytes),
        ).to.equal('dropped');
        await guard.close();
        expect(guard.counts().open, JSON.stringify(bytes)).to.equal(0);
      }
    });

    it('truncates the response when the server does', async () => {
      const victim = await fixture.tcp(socket =>
        socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')),
      );
      const guard = await open(victim.port);
      const answer = await fixture
        .get(guard.port, `http://127.0.0.1:${victim.port}/`)
        .catch(error => error.code);
      expect(answer).to.equal('ECONNRESET');
    });

    it('rejects requests that are not for a proxy, and garbage', async () => {
      const victim = await fixture.web();
      const guard = await open(victim.port);
      const texts = [
        'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
        'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
        '\x16\x03\x01\x02\0\x01\0\x01',
        'GET http://a b/ HTTP/1.1\r\n\r\n',
      ];
      for (const text of [
        ...texts,
        `GET https://127.0.0.1:${victim.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`,
      ]) {
        const socket = await fixture.raw(guard.port);
        socket.end(text, 'latin1');
        const bytes: Buffer[] = await socket.toArray().catch(() => []);
        expect(Buffer.concat(bytes).toString(), JSON.stringify(text)).to.equal('');
      }
      expect(victim.connections).to.equal(0);
      expect(await fixture.outcome(guard.port, `http://127.0.0.1:${victim.port}/`)).to.equal('200');
    });

    it('closes the server connection when the client disconnects', async () => {
      const reached = Promise.withResolvers<Socket>();
      const victim = await fixture.web(request => reached.resolve(request.socket));
      const guard = await open(victim.port);
      const client = await fixture.raw(guard.port);
      client.write(`GET http://127.0.0.1:${victim.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
      const far = await reached.promise;
      expect(guard.counts().open).to.equal(1);
      client.destroy();
      await once(far, 'close');
      expect(guard.counts().open).to.equal(0);
    });

    it('reaches IPv6 addresses', async function () {
      const victim = await fixture.web(undefined, '::1').catch(() => this.skip());
      const guard = await open(victim.port);
      expect((await fixture.get(guard.port, `http://[::1]:${victim.port}/`)).body).to.equal(
        'the inside',
      );
      expect((await fixture.open(guard.port, `[::1]:${victim.port}`)).status).to.equal(200);
    });
  });

  describe('for tunnels', () => {
    it('forwards bytes in both directions, including those sent with the CONNECT', async () => {
      const victim = await fixture.tcp();
      const guard = await open(victim.port);
      const client = await fixture.raw(guard.port);
      client.write(`CONNECT 127.0.0.1:${victim.port} HTTP/1.1\r\nHost: a\r\n\r\nearly`);
      let whole = '';
      for await (const chunk of client) {
        whole += chunk;
        if (whole.endsWith('early')) break;
      }
      expect(whole).to.equal('HTTP/1.1 200 Connection established\r\n\r\nearly');
      const tunnel = await fixture.open(guard.port, `127.0.0.1:${victim.port}`);
      tunnel.socket.end('late');
      expect(await tunnel.rest).to.equal('late');
      expect(guard.counts()).to.include({ requests: 2, bytes: 18 });
    });

    it('responds 400 to an invalid authority, 403 to a blocked and 502 to an unreachable host, without a body', async () => {
      const gone = await fixture.tcp();
      await new Promise(resolve => gone.server.close(resolve));
      const guard = await fixture.guard('intranet', [`127.0.0.1:${gone.port}`]);
      const cases: [string, number][] = [
        ['user@127.0.0.1:80', 400],
        ['127.0.0.1', 400],
        ['127.0.0.1:0', 400],
        ['127.0.0.1:65536', 400],
        ['127.0.0.1:80/x', 400],
        ['10.0.0.1:443', 403],
        [`127.0.0.1:${gone.port}`, 502],
      ];
      for (const [authority, status] of cases) {
        const tunnel = await fixture.open(guard.port, authority);
        expect(tunnel.status, authority).to.equal(status);
        expect(tunnel.headers, authority).to.include({
          'content-length': '0',
          connection: 'close',
        });
        expect(await tunnel.rest, authority).to.equal('');
      }
      expect(guard.reasons()).to.deep.equal(['10.0.0.1:443 address']);
      expect(await fixture.outcome(guard.port, `http://127.0.0.1:${gone.port}/`)).to.equal(
        'dropped',
      );
    });

    it('closes each side when the other one closes or fails', async () => {
      const victim = await fixture.tcp(() => {});
      const guard = await open(victim.port);
      for (const leave of [
        (socket: Socket) => socket.destroy(),
        (socket: Socket) => socket.resetAndDestroy(),
      ]) {
        const first = await fixture.open(guard.port, `127.0.0.1:${victim.port}`);
        const far = once([...victim.sockets][0]!, 'close');
        leave(first.socket);
        await far;
        const second = await fixture.open(guard.port, `127.0.0.1:${victim.port}`);
        const near = once(second.socket, 'close');
        for (const socket of victim.sockets) leave(socket);
        await near;
      }
    });

    it('closes an idle tunnel', async () => {
      const victim = await fixture.tcp(() => {});
      const guard = await open(victim.port, { idleTimeoutMs: 50 });
      const tunnel = await fixture.open(guard.port, `127.0.0.1:${victim.port}`);
      expect(await tunnel.rest).to.equal('');
      expect(guard.denied).to.deep.equal([]);
    });
  });
});
