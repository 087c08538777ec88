// @proves egress

import { once } from 'node:events';
import { Agent, createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { type EgressFixture, egressFixture } from '../../support/egress-fixture.ts';

describe('the egress guard', () => {
  let fixture: EgressFixture;

  beforeEach(async () => {
    fixture = await egressFixture();
  });
  afterEach(() => fixture.close());

  /** A guard that allows one port of loopback. */
  const open = (port: number, config = {}) =>
    fixture.guard('intranet', [`127.0.0.1:${port}`], config);

  describe('with limits', () => {
    it('closes all connections at the byte limit, reports it once, and opens no new ones', async () => {
      const victim = await fixture.tcp(socket => socket.end(Buffer.alloc(300_000)));
      const echo = await fixture.tcp();
      const guard = await fixture.guard(
        'intranet',
        [`127.0.0.1:${victim.port}`, `127.0.0.1:${echo.port}`],
        { maxBytes: 200_000 },
      );
      const bystander = await fixture.open(guard.port, `127.0.0.1:${echo.port}`);
      const tunnel = await fixture.open(guard.port, `127.0.0.1:${victim.port}`);
      expect((await tunnel.rest).length).to.be.at.most(200_000);
      await bystander.rest;
      expect((await fixture.open(guard.port, `127.0.0.1:${victim.port}`)).status).to.equal(403);
      expect(await fixture.outcome(guard.port, `http://127.0.0.1:${victim.port}/`)).to.equal(
        'dropped',
      );
      expect(guard.reasons()).to.deep.equal([`127.0.0.1:${victim.port} bytes`]);
      expect(guard.counts().open).to.equal(0);
    });

    it('closes one connection, and logs why, when its event handler fails', async () => {
      const lines: string[] = [];
      const log = pino({}, { write: (line: string) => void lines.push(line) });
      const victim = await fixture.tcp(socket => socket.write(Buffer.alloc(300_000)));
      const echo = await fixture.tcp();
      const allow = [victim, echo].map(({ port }) => `127.0.0.1:${port}`);
      const guard = await fixture.guard('intranet', allow, { maxBytes: 200_000 }, log);
      guard.onDenied(() => {
        throw new Error('a bug');
      });
      const tunnel = await fixture.open(guard.port, allow[0]!);
      await tunnel.rest;
      expect((await fixture.open(guard.port, allow[1]!)).status).to.equal(403);
      expect(lines.join('')).to.include('a bug');
    });

    it('counts what a page sends', async () => {
      const victim = await fixture.tcp(() => {});
      const guard = await open(victim.port, { maxBytes: 200_000 });
      const tunnel = await fixture.open(guard.port, `127.0.0.1:${victim.port}`);
      tunnel.socket.write(Buffer.alloc(300_000));
      await tunnel.rest;
      expect(guard.reasons()).to.deep.equal([`127.0.0.1:${victim.port} bytes`]);
    });

    it('counts the heads and bodies of plain requests and responses', async () => {
      const victim = await fixture.web((request, response) =>
        request.resume().on('end', () => response.end('x'.repeat(50_000))),
      );
      const guard = await open(victim.port, { maxBytes: 100_000 });
      const url = `http://127.0.0.1:${victim.port}/`;
      expect(
        (await fixture.get(guard.port, url, { method: 'POST', body: 'y'.repeat(40_000) })).status,
      ).to.equal(200);
      expect(guard.counts().bytes).to.be.within(90_050, 91_000);
      const cut = await fixture.get(guard.port, url).catch(error => error.code);
      expect(cut).to.equal('ECONNRESET');
      expect(guard.reasons()).to.deep.equal([`127.0.0.1:${victim.port} bytes`]);
    });

    it('limits concurrent connections until one ends', async () => {
      const victim = await fixture.tcp();
      const guard = await open(victim.port, { maxConnections: 3 });
      const authority = `127.0.0.1:${victim.port}`;
      const tunnels = await Promise.all([1, 2, 3].map(() => fixture.open(guard.port, authority)));
      expect((await fixture.open(guard.port, authority)).status).to.equal(403);
      expect(await fixture.outcome(guard.port, `http://${authority}/`)).to.equal('dropped');
      expect(guard.reasons()).to.deep.equal([`${authority} connections`]);
      expect([victim.connections, guard.counts().open]).to.deep.equal([3, 3]);
      tunnels[0]!.socket.end();
      await tunnels[0]!.rest;
      expect((await fixture.open(guard.port, authority)).status).to.equal(200);
    });

    it('limits requests and tunnels to 500 in total', async () => {
      const victim = await fixture.web();
      const guard = await open(victim.port);
      const url = `http://127.0.0.1:${victim.port}/`;
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let n = 0; n < 499; n++)
        expect((await fixture.get(guard.port, url, { agent })).status).to.equal(200);
      agent.destroy();
      expect((await fixture.open(guard.port, `127.0.0.1:${victim.port}`)).status).to.equal(200);
      expect(await fixture.outcome(guard.port, url)).to.equal('dropped');
      expect((await fixture.open(guard.port, `127.0.0.1:${victim.port}`)).status).to.equal(403);
      expect(guard.reasons()).to.deep.equal([`127.0.0.1:${victim.port} requests`]);
      expect(guard.counts().requests).to.equal(500);
    });
  });

  describe('with an upstream proxy', () => {
    /** A proxy that opens every tunnel and records its targets. */
    async function companyProxy(status = 200) {
      const targets: string[] = [];
      const server = createServer();
      server.on('connect', (request, socket: Socket, head) => {
        targets.push(
          `${request.url} ${request.headers.host} ${request.headers['proxy-authorization']}`,
        );
        if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
        const { hostname, port } = new URL(`http://${request.url}`);
        const far = connect(Number(port), hostname, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
        far.on('error', () => socket.destroy()).on('close', () => socket.destroy());
        socket.on('error', () => {}).on('close', () => far.destroy());
        if (head.length > 0) far.write(head);
        far.pipe(socket).pipe(far);
      });
      const proxy = await fixture.tcp(socket => server.emit('connection', socket));
      fixture.dns.set('proxy.corp', '127.0.0.1');
      return { targets, upstreamProxy: `http://me:p%40ss@proxy.corp:${proxy.port}`, proxy };
    }

    it('requests the checked address instead of the name, even for plain HTTP', async () => {
      const victim = await fixture.web((request, response) => response.end(request.headers.host));
      const { targets, upstreamProxy } = await companyProxy();
      const guard = await open(victim.port, { upstreamProxy });
      fixture.dns.set('shop.example', '127.0.0.1');
      const { body } = await fixture.get(guard.port, `http://shop.example:${victim.port}/`);
      expect(body).to.equal(`shop.example:${victim.port}`);
      expect((await fixture.open(guard.port, `shop.example:${victim.port}`)).status).to.equal(200);
      const authority = `127.0.0.1:${victim.port}`;
      expect(targets).to.deep.equal(
        Array(2).fill(`${authority} ${authority} Basic ${btoa('me:p@ss')}`),
      );
    });

    it('sends no blocked target to the proxy', async () => {
      const { upstreamProxy, proxy } = await companyProxy();
      const guard = await fixture.guard('public', [], { upstreamProxy });
      fixture.dns.set('shop.example', '10.0.0.1');
      expect((await fixture.open(guard.port, 'shop.example:443')).status).to.equal(403);
      expect(proxy.connections).to.equal(0);
    });

    it('reports a host as unreachable when the proxy rejects it, and hides its response', async () => {
      const { targets, upstreamProxy } = await companyProxy(407);
      const guard = await open(9, { upstreamProxy });
      expect((await fixture.open(guard.port, '127.0.0.1:9')).status).to.equal(502);
      expect(await fixture.outcome(guard.port, 'http://127.0.0.1:9/')).to.equal('dropped');
      expect(targets).to.have.length(2);
    });

    it('times out on a silent proxy, and aborts at once when the guard ends', async () => {
      const asked = Promise.withResolvers<Socket>();
      const silent = await fixture.tcp(socket => socket.once('data', () => asked.resolve(socket)));
      const upstreamProxy = `http://127.0.0.1:${silent.port}`;
      const patient = await open(9, { upstreamProxy, connectTimeoutMs: 60_000 });
      const waiting = fixture.outcome(patient.port, 'http://127.0.0.1:9/');
      const ended = once(await asked.promise, 'close');
      await patient.close();
      await ended;
      expect(await waiting).to.equal('dropped');
      const hasty = await open(9, { upstreamProxy, connectTimeoutMs: 50 });
      expect((await fixture.open(hasty.port, '127.0.0.1:9')).status).to.equal(502);
    });
  });
});
