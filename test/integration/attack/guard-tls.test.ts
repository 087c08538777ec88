import { execFileSync } from 'node:child_process';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { findChrome } from '../../../worker/browser/find-chrome.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { startTlsSite, type TlsSite } from '../../support/pages/attack-tls.ts';
import { type AttackVictim, startAttackVictim } from '../../support/pages/attack-victim.ts';
import { pdfText } from '../../support/pdf.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns-server.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const NAME = 'tls.example';
/** Chrome ignores early hints now and then. */
const HINTS_MS = 5_000;
const MAX_TRIES = 5;

describe('a page over TLS cannot reach a private address', function () {
  this.timeout(120_000);
  const file = temporaryFolder();
  let site: TlsSite;
  let victim: AttackVictim;
  let inside: WebServer;
  let dns: DnsServer;
  let pressroom: Installation;
  let page: (request: Http2ServerRequest, response: Http2ServerResponse) => void;

  before(async function () {
    try {
      execFileSync('openssl', ['version'], { stdio: 'pipe' });
    } catch {
      skip(this, 'openssl is missing, which creates the certificate');
    }
    site = await startTlsSite(
      NAME,
      file(),
      findChrome(process.env.PRESSROOM_CHROME),
      (request, response) => page(request, response),
    );
    [victim, dns] = await Promise.all([startAttackVictim(), startDnsServer()]);
    inside = await startWebServer({}, { port: site.port, host: '127.0.0.2' });
    dns.set(NAME, '127.0.0.1');
    dns.set(`inside.${NAME}`, '127.0.0.2');
    for (const name of ['a', 'b', 'c']) dns.set(`${name}.victim.example`, '127.0.0.1');
    pressroom = await installation({
      intranet: true,
      env: {
        PRESSROOM_CHROME: site.executable,
        PRESSROOM_DNS_SERVERS: dns.address,
        PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${site.port}`,
        PRESSROOM_EGRESS_PORTS: `80,443,${victim.port},${site.port}`,
      },
    });
  });
  after(async () => {
    await pressroom?.stop();
    await Promise.all([site, victim, inside, dns].map(each => each?.close()));
  });
  afterEach(() => {
    expect(victim.touched).to.deep.equal([]);
    expect(inside.connections()).to.equal(0);
  });

  const at = (name: string) => `${name}.victim.example:${victim.port}`;
  const url = () => `https://${NAME}:${site.port}/`;
  /** Serves the page, and 404 for everything else. */
  const serve = (body: string, headers: Record<string, string> = {}) => {
    page = (request, response) => {
      response.writeHead(request.url === '/' ? 200 : 404, {
        'content-type': 'text/html',
        ...headers,
      });
      response.end(request.url === '/' ? `<h1>PAGE</h1>${body}` : '');
    };
  };

  it('by early hints, which Chrome uses and the guard blocks', async () => {
    const asked = dns.asked('a.victim.example');
    page = (request, response) => {
      if (request.url !== '/') return void response.writeHead(404).end();
      response.stream.additionalHeaders({
        ':status': 103,
        link: `<https://${at('a')}/>; rel=preload; as=script, <https://${at('b')}/>; rel=preconnect, <https://${at('c')}/>; rel=modulepreload`,
      });
      void Promise.race([asked, sleep(HINTS_MS)]).then(() =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>PAGE</h1>'),
      );
    };
    const isUsed = () => dns.queries('a.victim.example') >= 2;
    for (let tries = 0; tries < MAX_TRIES && !isUsed(); tries++)
      expect(await pdfText(await pressroom.pdf({ url: url() }))).to.include('PAGE');
    expect(isUsed()).to.equal(true);
  });

  it('by alternative services, which Chrome does not use', async () => {
    const { port } = victim;
    serve(
      '<img src=/1><script>onload = async () => { for (let n = 0; n < 5; n++) await fetch("/" + n); window.done = true }</script>',
      {
        'alt-svc': `h2=":${port}"; ma=999, h3=":${port}"; ma=999, h2="${at('a')}", h3="${at('b')}", quic=":${port}"`,
      },
    );
    expect(
      await pdfText(await pressroom.pdf({ url: url(), wait_for_expression: 'window.done' })),
    ).to.include('PAGE');
    expect(
      await pdfText(await pressroom.pdf({ url: url(), wait_for_expression: 'window.done' })),
    ).to.include('PAGE');
  });

  it('by network error logging', async () => {
    const endpoints = JSON.stringify({
      group: 'g',
      max_age: 999,
      endpoints: [{ url: `https://${at('a')}/` }],
    });
    serve('<img src=/1><img src="https://nowhere.example/">', {
      'report-to': endpoints,
      'reporting-endpoints': `g="https://${at('b')}/"`,
      nel: '{"report_to":"g","max_age":999,"success_fraction":1,"failure_fraction":1}',
      'content-security-policy': `font-src 'none'; report-to g`,
      'document-policy': 'include-js-call-stacks-in-crash-reports',
    });
    expect(await pdfText(await pressroom.pdf({ url: url(), wait_delay: '1s' }))).to.include('PAGE');
  });

  it('by a name of the certificate on the same HTTP/2 connection', async () => {
    serve(
      `<script>onload = async () => { await fetch("https://inside.${NAME}:${site.port}/secret", { mode: "no-cors" }).catch(() => {}); window.done = true }</script>`,
    );
    expect(
      await pdfText(await pressroom.pdf({ url: url(), wait_for_expression: 'window.done' })),
    ).to.include('PAGE');
    // Chrome opens a separate tunnel: behind a proxy it does not know that the addresses are equal.
    expect(site.requests.filter(request => request.includes('secret'))).to.deep.equal([]);
    expect(dns.queries(`inside.${NAME}`)).to.be.at.least(2);
  });

  it('as a document, directly or after a redirect', async () => {
    page = (_request, response) =>
      response.writeHead(302, { location: `https://inside.${NAME}:${site.port}/` }).end();
    expect((await pressroom.renderError({ url: url() })).code).to.equal('ssrf_blocked');
    expect(
      (await pressroom.renderError({ url: `https://inside.${NAME}:${site.port}/` })).code,
    ).to.equal('ssrf_blocked');
  });

  it('by mixed content', async () => {
    serve(
      `<img src="http://${at('a')}/"><img src="https://127.0.0.1:${victim.port}/"><script>onload = () => { for (const way of [() => fetch("http://${at('a')}/"), () => new WebSocket("ws://${at('a')}/"), () => new WebSocket("wss://${at('c')}/")]) try { way()?.catch?.(() => {}) } catch {} setTimeout(() => { window.done = true }, 500) }</script>`,
    );
    expect(
      await pdfText(await pressroom.pdf({ url: url(), wait_for_expression: 'window.done' })),
    ).to.include('PAGE');
  });
});
