import { once } from 'node:events';
import { expect } from 'chai';
import { createNames } from '../../../worker/egress/resolve.ts';
import { type EgressFixture, egressFixture, type Victim } from '../../support/egress-fixture.ts';
import { freePort } from '../../support/servers/free-port.ts';

const PUBLIC_V4 = '93.184.216.34';
const PUBLIC_V6 = '2606:2800:220:1:248:1893:25c8:1946';

describe('the egress guard', () => {
  let fixture: EgressFixture;
  let victim: Victim;

  beforeEach(async () => {
    fixture = await egressFixture();
    victim = await fixture.web();
  });
  afterEach(() => fixture.close());

  /** Requests the victim by this name, with a plain request and with a tunnel. */
  const both = async (port: number, host: string, targetPort = victim.port) => [
    await fixture.outcome(port, `http://${host}:${targetPort}/`),
    (await fixture.open(port, `${host}:${targetPort}`)).status,
  ];

  describe('for a page that targets private addresses', () => {
    it('blocks a name that resolves to loopback, without dialing', async () => {
      fixture.dns.set('shop.example', '127.0.0.1');
      const guard = await fixture.guard('public', [], { ports: [victim.port] });
      expect(await both(guard.port, 'shop.example')).to.deep.equal(['dropped', 403]);
      expect(guard.reasons()).to.deep.equal(Array(2).fill(`shop.example:${victim.port} address`));
      expect(guard.denied[0]!.atMs).to.be.closeTo(Date.now(), 10_000);
      expect(victim.connections).to.equal(0);
    });

    it('allows the same name for an intranet account when its network is allowed', async () => {
      fixture.dns.set('shop.example', '127.0.0.1');
      const guard = await fixture.guard('intranet', [`127.0.0.0/8:${victim.port}`]);
      expect(await both(guard.port, 'shop.example')).to.deep.equal(['200', 200]);
      expect(await both(guard.port, 'SHOP.example.')).to.deep.equal(['200', 200]);
      expect(guard.denied).to.deep.equal([]);
    });

    it('ignores the allowlist for a public account', async () => {
      fixture.dns.set('shop.example', '127.0.0.1');
      const guard = await fixture.guard('public', [`127.0.0.0/8:${victim.port}`], {
        ports: [80, victim.port],
      });
      expect(await both(guard.port, 'shop.example')).to.deep.equal(['dropped', 403]);
      expect(victim.connections).to.equal(0);
    });

    it('never allows loopback through a host pattern', async () => {
      fixture.dns.set('wiki.corp', '127.0.0.1');
      const guard = await fixture.guard('intranet', [
        `wiki.corp:${victim.port}`,
        `*.corp:${victim.port}`,
      ]);
      expect(await both(guard.port, 'wiki.corp')).to.deep.equal(['dropped', 403]);
      expect(victim.connections).to.equal(0);
    });

    it('blocks a name with one public and one private address', async () => {
      fixture.dns.set('mixed.example', PUBLIC_V4, '127.0.0.1');
      const guard = await fixture.guard('public', [], { ports: [victim.port] });
      expect(await both(guard.port, 'mixed.example')).to.deep.equal(['dropped', 403]);
      expect(victim.connections).to.equal(0);
    });

    it('blocks a name with a public IPv4 address and a private IPv6 address', async () => {
      const guard = await fixture.guard('public', [], { ports: [victim.port] });
      for (const inside of ['::1', 'fd00:ec2::254', '::ffff:127.0.0.1']) {
        fixture.dns.set('six.example', PUBLIC_V4, inside);
        expect(await both(guard.port, 'six.example'), inside).to.deep.equal(['dropped', 403]);
      }
      fixture.dns.set('four.example', '10.0.0.1', PUBLIC_V6);
      expect(await both(guard.port, 'four.example')).to.deep.equal(['dropped', 403]);
      expect(victim.connections).to.equal(0);
    });

    it('decides again when the address of a name changes, with one lookup for each connection', async () => {
      const other = await fixture.tcp(undefined, '127.0.0.2');
      const guard = await fixture.guard('intranet', [
        `127.0.0.1:${victim.port}`,
        `127.0.0.1:${other.port}`,
      ]);
      fixture.dns.set('turn.example', '127.0.0.1');
      expect((await fixture.open(guard.port, `turn.example:${victim.port}`)).status).to.equal(200);
      // A and AAAA: the checked address is the dialed address
      expect(fixture.dns.queries('turn.example')).to.equal(2);
      fixture.dns.set('turn.example', '127.0.0.2');
      expect((await fixture.open(guard.port, `turn.example:${other.port}`)).status).to.equal(403);
      expect(await fixture.outcome(guard.port, `http://turn.example:${other.port}/`)).to.equal(
        'dropped',
      );
      expect(fixture.dns.queries('turn.example')).to.equal(6);
      expect(other.connections).to.equal(0);
    });

    it('blocks loopback in every notation', async () => {
      const guard = await fixture.guard('public', [], { ports: [victim.port] });
      for (const host of [
        '127.0.0.1',
        '127.1',
        '2130706433',
        '0x7f000001',
        '0177.0.0.1',
        '0',
        '127.0.0.1.',
        '[::1]',
        '[::]',
        '[::ffff:127.0.0.1]',
      ])
        expect(await both(guard.port, host), host).to.deep.equal(['dropped', 403]);
      expect(new Set(guard.denied.map(({ reason }) => reason))).to.deep.equal(new Set(['address']));
      expect(fixture.dns.queries()).to.equal(0);
      expect(victim.connections).to.equal(0);
    });

    it('treats localhost and its subdomains as this machine, independent of the name server', async () => {
      fixture.dns.set('localhost', PUBLIC_V4);
      fixture.dns.set('app.localhost', PUBLIC_V4);
      const outside = await fixture.guard('public', [], { ports: [victim.port] });
      const inside = await fixture.guard('intranet', [`127.0.0.1:${victim.port}`]);
      for (const name of ['localhost', 'app.localhost', 'LOCALHOST.']) {
        expect(await both(outside.port, name), name).to.deep.equal(['dropped', 403]);
        expect(await both(inside.port, name), name).to.deep.equal(['200', 200]);
      }
      expect(fixture.dns.queries()).to.equal(0);
    });

    it('blocks invalid names and closed ports without a lookup', async () => {
      const guard = await fixture.guard('public', []);
      for (const host of ['ex$mple.com', 'a,b', 'a..b', '1.2.3.400', `${'a'.repeat(64)}.example`])
        expect(await both(guard.port, host, 80), host).to.deep.equal(['dropped', 403]);
      expect(new Set(guard.denied.map(({ reason }) => reason))).to.deep.equal(new Set(['name']));
      guard.denied.length = 0;
      expect(await both(guard.port, 'shop.example', 22)).to.deep.equal(['dropped', 403]);
      expect(guard.reasons()).to.deep.equal(['shop.example:22 port', 'shop.example:22 port']);
      expect(fixture.dns.queries()).to.equal(0);
    });

    it('blocks all traffic until it is admitted, and reports it once', async () => {
      const guard = await fixture.guard(undefined, [`127.0.0.1:${victim.port}`]);
      expect(await both(guard.port, '127.0.0.1')).to.deep.equal(['dropped', 403]);
      expect(guard.reasons()).to.deep.equal([`127.0.0.1:${victim.port} closed`]);
      expect(guard.counts()).to.deep.equal({ requests: 0, bytes: 0, open: 0 });
      guard.admit('intranet');
      expect(await both(guard.port, '127.0.0.1')).to.deep.equal(['200', 200]);
      expect(() => guard.admit('intranet')).to.throw('admitted only once');
    });
  });

  describe('resolving names', () => {
    it('times out on a silent name server and reports unresolved', async () => {
      fixture.dns.misbehave('silent.example', 'silent');
      const guard = await fixture.guard('public', [], { dnsTimeoutMs: 1_200 });
      const ended = await Promise.all([
        fixture.outcome(guard.port, 'http://silent.example/'),
        fixture.open(guard.port, 'silent.example:443'),
      ]);
      expect([ended[0], ended[1].status]).to.deep.equal(['dropped', 502]);
      expect(guard.denied.map(({ reason }) => reason)).to.deep.equal(['unresolved', 'unresolved']);
    });

    it('cancels running lookups', async () => {
      fixture.dns.misbehave('silent.example', 'silent');
      const names = createNames([fixture.dns.address], 60_000);
      const asked = fixture.dns.asked('silent.example');
      const waiting = names.addresses('silent.example').catch((error: Error) => error.name);
      await asked;
      names.cancel();
      expect(await waiting).to.equal('LookupFailed');
    });

    it('reports servers that accept a connection and do not respond', async () => {
      const silent = await fixture.web(() => {});
      fixture.dns.set('slow.example', '127.0.0.1');
      const rules = [`127.0.0.1:${silent.port}`];
      const guard = await fixture.guard('intranet', rules, { idleTimeoutMs: 50 });
      const url = `http://slow.example:${silent.port}/`;
      expect(await fixture.outcome(guard.port, url)).to.equal('dropped');
      expect(guard.timedOut).to.deep.equal([`slow.example:${silent.port}`]);
      expect(guard.refused).to.deep.equal([]);
    });

    it('reports only allowed servers that refuse the connection', async () => {
      const port = await freePort();
      fixture.dns.set('shop.example', '127.0.0.1');
      const guard = await fixture.guard('intranet', [`127.0.0.1:${port}`]);
      expect(await both(guard.port, 'shop.example', port)).to.deep.equal(['dropped', 502]);
      expect(guard.refused).to.deep.equal(Array(2).fill(`shop.example:${port}`));
      expect(guard.reasons()).to.deep.equal([]);
      const closed = await fixture.guard('public', [], { ports: [port] });
      expect(await both(closed.port, 'shop.example', port)).to.deep.equal(['dropped', 403]);
      expect(closed.refused).to.deep.equal([]);
      const behindProxy = await fixture.guard('intranet', [`127.0.0.1:${port}`], {
        upstreamProxy: `http://127.0.0.1:${port}`,
      });
      expect(await both(behindProxy.port, 'shop.example', port)).to.deep.equal(['dropped', 502]);
      expect(behindProxy.refused).to.deep.equal([]);
    });

    it('reports a name that does not exist as unresolved', async () => {
      fixture.dns.misbehave('broken.example', 'servfail');
      const guard = await fixture.guard('public', []);
      for (const name of ['missing.example', 'broken.example'])
        expect(await both(guard.port, name, 443)).to.deep.equal(['dropped', 502]);
      expect(new Set(guard.denied.map(({ reason }) => reason))).to.deep.equal(
        new Set(['unresolved']),
      );
    });

    it('uses the address family that answered when the other one fails or times out', async () => {
      const guard = await fixture.guard('intranet', [`127.0.0.1:${victim.port}`], {
        dnsTimeoutMs: 200,
      });
      for (const how of ['servfail', 'silent'] as const) {
        fixture.dns.set('half.example', '127.0.0.1');
        fixture.dns.misbehave('half.example', how, 'AAAA');
        expect(
          (await fixture.open(guard.port, `half.example:${victim.port}`)).status,
          how,
        ).to.equal(200);
      }
    });

    it('resolves the name itself, without search domains', async () => {
      const guard = await fixture.guard('public', []);
      expect((await fixture.open(guard.port, 'wiki:443')).status).to.equal(502);
      expect([fixture.dns.queries('wiki'), fixture.dns.queries()]).to.deep.equal([2, 2]);
    });

    it('reads an answer larger than one datagram, and blocks it for one private address', async () => {
      const wide = await fixture.web(undefined, '0.0.0.0');
      const guard = await fixture.guard('intranet', [`127.0.0.0/24:${wide.port}`]);
      const many = Array.from({ length: 60 }, (_, n) => `127.0.0.${n + 1}`);
      fixture.dns.set('many.example', ...many);
      expect((await fixture.open(guard.port, `many.example:${wide.port}`)).status).to.equal(200);
      fixture.dns.set('many.example', ...many, '127.0.1.1');
      expect((await fixture.open(guard.port, `many.example:${wide.port}`)).status).to.equal(403);
      expect(wide.connections).to.equal(1);
    });

    it('tries the next checked address when the first one does not answer', async () => {
      const guard = await fixture.guard('intranet', [`127.0.0.0/8:${victim.port}`]);
      fixture.dns.set('two.example', '127.0.0.3', '127.0.0.1'); // no server listens on the first one
      const tunnel = await fixture.open(guard.port, `two.example:${victim.port}`);
      expect(tunnel.status).to.equal(200);
      tunnel.socket.write('GET / HTTP/1.0\r\n\r\n');
      expect(await tunnel.rest).to.match(/the inside$/);
    });
  });

  describe('when it ends', () => {
    it('closes tunnels, idle connections and running lookups at once', async () => {
      const echo = await fixture.tcp();
      fixture.dns.misbehave('silent.example', 'silent');
      const guard = await fixture.guard(
        'intranet',
        [`127.0.0.1:${echo.port}`, `127.0.0.1:${victim.port}`],
        { dnsTimeoutMs: 60_000 },
      );
      const idle = await fixture.raw(guard.port);
      const tunnel = await fixture.open(guard.port, `127.0.0.1:${echo.port}`);
      // leaves a kept-alive connection open
      expect(await fixture.outcome(guard.port, `http://127.0.0.1:${victim.port}/`)).to.equal('200');
      const asked = fixture.dns.asked('silent.example');
      const waiting = fixture.outcome(guard.port, 'http://silent.example/');
      await asked;
      const far = [...echo.sockets, ...victim.sockets].map(socket => once(socket, 'close'));
      expect(far).to.have.length(2);
      const near = once(idle.resume(), 'close');
      await Promise.all([guard.close(), guard.close()]);
      await Promise.all([...far, near, tunnel.rest]);
      expect(await waiting).to.equal('dropped');
      expect(guard.counts().open).to.equal(0);
    });
  });
});
