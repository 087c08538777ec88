import { expect } from 'chai';
import type { Answer } from 'dns-packet';
import {
  type AttackSite,
  expectBlocked,
  startAttackSite,
} from '../../support/pages/attack-pages.ts';
import { pdfText } from '../../support/pdf.ts';
import type { Records } from '../../support/servers/dns-server.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';

const PUBLIC = '93.184.216.34';
const PUBLIC_V6 = '2606:2800:220:1:248:1893:25c8:1946';

const address = (type: string, name: string, data: string, ttl = 300) =>
  ({ type, name, data, ttl }) as Answer;
const alias = (name: string, data: string) => ({ type: 'CNAME', name, data, ttl: 300 }) as Answer;

describe('a name that resolves to a private address', function () {
  this.timeout(120_000);
  let site: AttackSite;

  before(async () => {
    site = await startAttackSite();
  });
  after(() => site?.close());
  afterEach(() => expect(site.victim.touched).to.deep.equal([]));

  const only =
    (requested: string, ...answers: Answer[]): Records =>
    type =>
      type === requested ? answers : [];

  const NAMES: [string, Records][] = [
    [
      'as an alias of a private name',
      only('A', alias('a.example', 'b.example'), address('A', 'b.example', '127.0.0.1')),
    ],
    [
      'at the end of a chain of aliases',
      only(
        'A',
        ...Array.from({ length: 8 }, (_, n) => alias(`${n || 'a'}.example`, `${n + 1}.example`)),
        address('A', '8.example', '127.0.0.2'),
      ),
    ],
    [
      'as an alias of localhost',
      only('A', alias('a.example', 'localhost'), address('A', 'localhost', '127.0.0.1')),
    ],
    [
      'by IPv6, beside a public IPv4 address',
      type => [
        type === 'A' ? address('A', 'a.example', PUBLIC) : address('AAAA', 'a.example', '::1'),
      ],
    ],
    [
      'by IPv4, beside a public IPv6 address',
      type => [
        type === 'A'
          ? address('A', 'a.example', '127.0.0.1')
          : address('AAAA', 'a.example', PUBLIC_V6),
      ],
    ],
    [
      'as the last of several answers',
      only(
        'A',
        address('A', 'a.example', PUBLIC),
        address('A', 'a.example', '93.184.216.35'),
        address('A', 'a.example', '127.0.0.1'),
      ),
    ],
    [
      'as the last of 400 answers',
      only(
        'A',
        ...Array.from({ length: 400 }, (_, n) =>
          address('A', 'a.example', `93.184.${n >> 8}.${n & 255}`),
        ),
        address('A', 'a.example', '127.0.0.1'),
      ),
    ],
    [
      'under another name',
      only('A', address('A', 'other.example', '127.0.0.1'), address('A', 'a.example', '127.0.0.2')),
    ],
    ['with a TTL of zero', only('A', address('A', 'a.example', '127.0.0.1', 0))],
    [
      'embedded in an IPv6 transition address',
      only(
        'AAAA',
        address('AAAA', 'a.example', '64:ff9b::7f00:1'),
        address('AAAA', 'a.example', '2002:7f00:1::'),
      ),
    ],
    [
      'as the unspecified address',
      type => [
        type === 'A' ? address('A', 'a.example', '0.0.0.0') : address('AAAA', 'a.example', '::'),
      ],
    ],
  ];
  for (const [what, records] of NAMES)
    it(`is blocked ${what}, as the page, after a redirect and in an image`, async () => {
      site.dns.answer('a.example', records);
      const url = `http://a.example:${site.victim.port}/`;
      const blockedRequests = await site.blockedRequests();
      expect((await site.pressroom.renderError({ url })).code).to.equal('ssrf_blocked');
      site.pages['/away'] = (_request, response) =>
        response.writeHead(302, { location: url }).end();
      expect(
        (await site.pressroom.renderError({ url: `http://site.example:${site.web.port}/away` }))
          .code,
      ).to.equal('ssrf_blocked');
      expect(
        await pdfText(await site.pressroom.pdf({ html: `<h1>PAGE</h1><img src="${url}">` })),
      ).to.include('PAGE');
      expect(await site.blockedRequests()).to.be.at.least(blockedRequests + 3);
    });

  describe('on a later lookup', () => {
    /** Listens on the port of the attacker's site, at an address that is not allowed. */
    let inside: WebServer;

    before(async () => {
      inside = await startWebServer({}, { port: site.web.port, host: '127.0.0.2' });
    });
    after(() => inside?.close());
    afterEach(() => expect(inside.connections(), 'the victim was reached').to.equal(0));

    /** Public on the first lookup, private on later ones. */
    const rebind = (name: string) =>
      site.dns.answer(name, (type, nth) =>
        type === 'A' ? [address('A', name, nth === 1 ? '127.0.0.1' : '127.0.0.2', 0)] : [],
      );

    it('is blocked on new connections', async () => {
      rebind('turn.example');
      site.pages['/'] = (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html', connection: 'close' })
          .end(
            '<h1>PAGE</h1><script>onload = async () => { for (const path of ["/a", "/b", "/c"]) await fetch(path).catch(() => {}); new WebSocket("ws://" + location.host + "/"); window.done = true }</script>',
          );
      const blockedRequests = await site.blockedRequests();
      const pdf = await site.pressroom.pdf({
        url: `http://turn.example:${site.web.port}/`,
        wait_for_expression: 'window.done',
      });
      expect(await pdfText(pdf)).to.include('PAGE');
      expect(site.dns.queries('turn.example')).to.be.at.least(8);
      expect(await site.blockedRequests()).to.be.at.least(blockedRequests + 3);
    });

    it('is blocked as a document when the page navigates to itself', async () => {
      rebind('again.example');
      site.pages['/'] = (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html', connection: 'close' })
          .end('<script>location = "/secret"</script>');
      const error = await site.pressroom.renderError({
        url: `http://again.example:${site.web.port}/`,
        wait_for_selector: '#never',
      });
      expect(error.code).to.equal('ssrf_blocked');
    });

    it('does not affect a kept connection to the checked address', async () => {
      rebind('kept.example');
      site.pages['/'] = (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end(
            '<h1>PAGE</h1><script>onload = async () => { await fetch("/more").catch(() => {}); window.done = true }</script>',
          );
      await site.pressroom.pdf({
        url: `http://kept.example:${site.web.port}/`,
        wait_for_expression: 'window.done',
      });
    });
  });

  it('is blocked in every notation of the address, after a redirect and in an image', async () => {
    const { port } = site.victim;
    const hosts = [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '0177.0.0.1',
      '017700000001',
      '127.0.0.1.',
      '0',
      '0.0.0.0',
      '１２７.0.0.1',
      '127。0。0。1',
      '①②⑦.0.0.1',
      '[::1]',
      '[0:0:0:0:0:0:0:1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::127.0.0.1]',
      '[64:ff9b::127.0.0.1]',
      '[2002:7f00:1::]',
      'localhost',
      'LOCALHOST',
      'localhost.',
      'a.localhost',
      'ｌocalhost',
      'user:pass@127.0.0.1',
      'site.example@127.1',
      '169.254.169.254',
      '[fd00:ec2::254]',
    ];
    for (const [at, host] of hosts.entries()) {
      site.pages['/away'] = (_request, response) =>
        response
          .writeHead(302, {
            location: encodeURI(`http://${host}:${port}/`)
              .replaceAll('%5B', '[')
              .replaceAll('%5D', ']'),
          })
          .end();
      const blockedRequests = await site.blockedRequests();
      const error = await site.pressroom.renderError({
        url: `http://site.example:${site.web.port}/away?${at}`,
      });
      expect(error.code, host).to.equal('ssrf_blocked');
      expect(await site.blockedRequests(), host).to.be.at.least(blockedRequests + 1);
    }
    const blockedRequests = await site.blockedRequests();
    const images = hosts
      .filter(host => !host.includes('@'))
      .map(host => `<img src="http://${host}:${port}/">`);
    expect(
      await pdfText(
        await site.pressroom.pdf({ html: `<meta charset=utf-8><h1>PAGE</h1>${images.join('')}` }),
      ),
    ).to.include('PAGE');
    expect(await site.blockedRequests()).to.be.at.least(
      blockedRequests + new Set(hosts.map(host => URL.parse(`http://${host}`)?.host)).size - 2,
    );
  });

  it('is blocked on ports that are not for web pages, even of an allowed address', async () => {
    await expectBlocked(site, {
      what: '',
      serve: {
        '/': `<h1>PAGE</h1>${[22, 25, 6379, 27017, 9222].map(port => `<img src="http://127.0.0.1:${port}/"><img src="https://site.example:${port}/">`).join('')}`,
      },
      done: 'true',
    });
  });

  it('is blocked for accounts without intranet and for trial renders, even when it is on the allowlist', async () => {
    await site.pressroom.accounts.createAccount('an outsider', { plan: 'free' });
    const { text: key } = await site.pressroom.accounts.createKey('an outsider', { name: 'x' });
    const { web, victim, pressroom } = site;
    const connections = web.connections();
    const images = [
      `127.0.0.1:${web.port}`,
      `site.example:${web.port}`,
      `127.0.0.2:${victim.port}`,
      `localhost:${victim.port}`,
    ];
    const body = {
      html: `<h1>PAGE</h1>${images.map(host => `<img src="http://${host}/">`).join('')}`,
    };
    const outsider = () => pressroom.render(body, { authorization: `Bearer ${key}` });
    const trial = () =>
      pressroom.call(
        'POST',
        '/v1/trial/render',
        { 'content-type': 'application/json' },
        JSON.stringify(body),
      );
    for (const render of [outsider, trial]) {
      const blockedRequests = await site.blockedRequests();
      const answer = await render();
      expect(answer.status, answer.body.toString('utf8', 0, 300)).to.equal(200);
      expect(await pdfText(answer.body)).to.include('PAGE');
      expect(await site.blockedRequests()).to.be.at.least(blockedRequests + images.length);
    }
    expect(web.connections()).to.equal(connections);
  });
});
