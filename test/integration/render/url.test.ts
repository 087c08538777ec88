// @proves html, url, raise_for_status, wait_for_network_idle, ssrf_blocked, page_status
// @proves page_unreachable, redirects

import { expect } from 'chai';
import { accountHolder, createByteBudget } from '../../../api/http/byte-budget.ts';
import { runPageSession } from '../../../api/page/page-session.ts';
import { renderSettings } from '../../../api/page/render-settings.ts';
import { parseRenderRequest } from '../../../common/contract/render-request.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { pdfColour, pdfText } from '../../support/pdf.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns-server.ts';
import { freePort } from '../../support/servers/free-port.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';

const redirect =
  (to: string, status = 302) =>
  (_request: unknown, response: import('node:http').ServerResponse) =>
    response.writeHead(status, { location: to }).end();

describe('renders of a URL', () => {
  let web: WebServer;
  let victim: WebServer;
  let dns: DnsServer;
  let pressroom: Installation;
  let base: string;
  /** A port that the allowlist contains and on which no server listens. */
  let closedPort: number;

  before(async () => {
    dns = await startDnsServer();
    victim = await startWebServer({ '/': '<h1>SECRET</h1>' });
    web = await startWebServer({
      '/': '<title>Shop</title><h1>HELLO FROM THE SHOP</h1>',
      '/error': (_request, response) =>
        response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>BROKEN</h1>'),
      '/hop': redirect('/hop2'),
      '/hop2': redirect('/', 301),
      '/loop': redirect('/loop'),
      '/chain': (request, response) => {
        const n = Number(new URL(request.url!, 'http://x').searchParams.get('n'));
        response.writeHead(302, { location: n > 1 ? `/chain?n=${n - 1}` : '/' }).end();
      },
      '/download': (_request, response) =>
        response
          .writeHead(200, {
            'content-type': 'application/zip',
            'content-disposition': 'attachment',
          })
          .end('x'),
      '/empty': (_request, response) => response.writeHead(204).end(),
      '/cut': (_request, response) => response.socket!.destroy(),
      '/away': (_request, response) =>
        response.writeHead(302, { location: `http://hidden.example:${victim.port}/` }).end(),
      '/away-script': (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end(`<script>location = 'http://hidden.example:${victim.port}/'</script>`),
      '/uses': (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end(
            `<h1>USES</h1><img src="http://hidden.example:${victim.port}/x.png"><img src="/dot.svg" width=400 height=400>`,
          ),
      '/dot.svg': (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'image/svg+xml' })
          .end(
            '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9" fill="blue"/></svg>',
          ),
      '/slow': (_request, response) => {
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .write(
            '<h1>SLOW</h1><script>fetch("/late").then(r => r.text()).then(t => document.body.append(t))</script>',
          );
        response.end();
      },
      '/late': (_request, response) => void setTimeout(() => response.end('ARRIVED LATE'), 300),
      '/never': () => {},
      '/workers':
        '<h1>WORKERS</h1><script>new Worker("/worker.js"); new Worker("/none.js"); fetch("/dot.svg")</script>',
      '/worker.js': (_request, response) =>
        response.writeHead(200, { 'content-type': 'text/javascript' }).end('1'),
    });
    dns.set('shop.example', '127.0.0.1');
    dns.set('hidden.example', '127.0.0.1');
    dns.set('half.example', '127.0.0.1', '192.168.7.7');
    closedPort = await freePort();
    base = `http://shop.example:${web.port}`;
    pressroom = await installation({
      intranet: true,
      env: {
        PRESSROOM_DNS_SERVERS: dns.address,
        PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port},127.0.0.1:${closedPort}`,
        PRESSROOM_RENDER_TIMEOUT: '4s',
      },
    });
  });
  after(async () => {
    await pressroom.stop();
    await Promise.all([web.close(), victim.close(), dns.close()]);
  });
  afterEach(() => expect(victim.connections(), 'the victim was reached').to.equal(0));

  const text = async (body: object) => pdfText(await pressroom.pdf(body));
  const renderError = (body: object) => pressroom.renderError(body);

  it('prints the page', async () => {
    expect(await text({ url: `${base}/` })).to.include('HELLO FROM THE SHOP');
  });

  it('loads resources of the page except those that the egress guard blocks', async () => {
    const answer = await pressroom.render({ url: `${base}/uses`, margin: { top: '0', left: '0' } });
    expect(await pdfText(answer.body)).to.include('USES');
    expect(await pdfColour(answer.body, 80, 80)).to.deep.equal([0, 0, 255]);
    expect(await pressroom.worker.metrics.text()).to.match(
      /pressroom_egress_denied_total\{reason="(address|port)"\} [1-9]/,
    );
  });

  it('loads resources of an HTML document under the same rules', async () => {
    const answer = await pressroom.render({
      html: `<body style="margin:0"><img src="${base}/dot.svg" width=400 height=400><img src="http://hidden.example:${victim.port}/">`,
      margin: { top: '0', left: '0' },
    });
    expect(await pdfColour(answer.body, 80, 80)).to.deep.equal([0, 0, 255]);
  });

  it('waits for network idle', async () => {
    expect(await text({ url: `${base}/slow`, wait_for_network_idle: true })).to.include(
      'ARRIVED LATE',
    );
  });

  it('ignores the requests of workers in network idle', async () => {
    expect(await text({ url: `${base}/workers`, wait_for_network_idle: true })).to.include(
      'WORKERS',
    );
  });

  it('tracks every request when the blank page delays the navigation', async () => {
    const session = await pressroom.worker.open({ egress: 'intranet' });
    session
      .command('Runtime.evaluate', {
        expression: 'for (const end = Date.now() + 300; Date.now() < end; );',
      })
      .catch(() => {});
    const request = parseRenderRequest(
      { url: `${base}/slow`, wait_for_network_idle: true },
      { ports: [web.port], intranet: true, allowPorts: [], maxTimeoutMs: 60_000 },
    );
    const limits = { renderMs: 4_000, output: { maxBytes: 2 ** 20, tagged: false } };
    const { pdf } = await runPageSession(
      session,
      renderSettings(request),
      limits,
      createByteBudget(2 ** 20).open(accountHolder('account')),
      new AbortController().signal,
      {},
    );
    session.close();
    expect(await pdfText(Buffer.concat(pdf.pieces))).to.include('ARRIVED LATE');
  });

  it('fails with ssrf_blocked for an account without intranet although the allowlist has the address', async () => {
    const account = 'without intranet';
    await pressroom.accounts.createAccount(account, { plan: 'free' });
    const { text: key } = await pressroom.accounts.createKey(account, { name: 'x' });
    const before = web.connections();
    const answer = await pressroom.render(
      { url: `http://shop.example:8080/` },
      { authorization: `Bearer ${key}` },
    );
    expect(answer.status).to.equal(422);
    expect(answer.error().code).to.equal('ssrf_blocked');
    expect(answer.error().message).to.not.include('127.0.0.1');
    expect(web.connections()).to.equal(before);
  });

  it('fails with ssrf_blocked without an allowlist', async () => {
    const closed = await installation({
      intranet: true,
      env: { PRESSROOM_DNS_SERVERS: dns.address, PRESSROOM_EGRESS_PORTS: String(web.port) },
    });
    const before = web.connections();
    try {
      const answer = await closed.render({ url: `${base}/` });
      expect(answer.status).to.equal(422);
      expect(answer.error().code).to.equal('ssrf_blocked');
    } finally {
      await closed.stop();
    }
    expect(web.connections()).to.equal(before);
  });

  const blocked: [string, () => string][] = [
    ['a name with a private address', () => `http://hidden.example:${victim.port}/`],
    ['a name with a public and a private address', () => `http://half.example:${web.port}/`],
    ['a literal loopback address', () => `http://127.0.0.1:8080/`],
    ['localhost', () => 'http://localhost:8080/'],
    ['the metadata service', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a redirect to a private address', () => `${base}/away`],
    ['a script that navigates to a private address', () => `${base}/away-script`],
  ];
  for (const [what, url] of blocked)
    it(`fails with ssrf_blocked for ${what}`, async () => {
      const error = await renderError({ url: url(), wait_delay: '300ms' });
      expect([error.code, error.status]).to.satisfy(
        ([code, status]: [string, number]) =>
          (code === 'ssrf_blocked' && status === 422) ||
          (code === 'validation_error' && /port/.test(error.message)),
      );
      expect(error.message).to.not.match(/\b(127|169|192)\./);
    });

  it('fails with ssrf_blocked for an HTML document whose script navigates to a private address', async () => {
    const error = await renderError({
      html: `<script>location = 'http://hidden.example:${victim.port}/'</script>`,
      wait_for_selector: '#never',
    });
    expect(error).to.include({ status: 422, code: 'ssrf_blocked' });
  });

  const failures: [string, string, object, string, RegExp][] = [
    ['a page with status 404', '/nothing', {}, 'page_status', /404.*raise_for_status/],
    ['a page with status 500', '/error', {}, 'page_status', /500/],
    ['a redirect with raise_for_status', '/hop', { raise_for_status: true }, 'page_status', /302/],
    ['a redirect loop', '/loop', {}, 'page_unreachable', /redirects/],
    ['eleven redirects', '/chain?n=11', {}, 'page_unreachable', /10 redirects/],
    ['a download', '/download', {}, 'page_unreachable', /download/],
    ['an empty response', '/empty', {}, 'page_unreachable', /empty/],
    [
      'a server that closes the connection',
      '/cut',
      {},
      'page_unreachable',
      /closed the connection/,
    ],
    ['a server that never responds', '/never', {}, 'page_timeout', /load event/],
  ];
  for (const [what, path, options, reason, message] of failures)
    it(`fails with ${reason} for ${what} and counts nothing`, async () => {
      const before = await pressroom.usage();
      const error = await renderError({ url: `${base}${path}`, ...options });
      expect(error).to.include({ status: 502, code: 'render_failed', reason });
      expect(error.message).to.match(message);
      expect(await pressroom.usage()).to.equal(before);
    });

  it('names an unknown host in the error', async () => {
    const error = await renderError({ url: 'http://nowhere.example:8080/' });
    expect(error).to.include({ status: 502, reason: 'page_unreachable' });
    expect(error.message).to.include('does not resolve');
  });

  it('reports a refused connection of the page, css and javascript', async () => {
    const server = `shop.example:${closedPort}/`;
    for (const request of [
      { url: `http://${server}` },
      { url: `https://${server}` },
      { html: 'x', css: `http://${server}` },
      { html: 'x', javascript: `https://${server}` },
    ]) {
      const error = await renderError(request);
      expect(error, JSON.stringify(request)).to.include({
        status: 502,
        reason: 'page_unreachable',
      });
      expect(error.message).to.include('the server refused the connection');
    }
  });

  it('prints error pages when raise_for_status is false and follows redirects', async () => {
    expect(await text({ url: `${base}/error`, raise_for_status: false })).to.include('BROKEN');
    expect(await text({ url: `${base}/nothing`, raise_for_status: false })).to.include('NOT FOUND');
    expect(await text({ url: `${base}/hop` })).to.include('HELLO');
    expect(await text({ url: `${base}/hop`, raise_for_status: false })).to.include('HELLO');
    expect(await text({ url: `${base}/chain?n=10` })).to.include('HELLO');
    expect(await text({ url: `${base}/`, raise_for_status: true })).to.include('HELLO');
  });
});
