// @proves cookies, cookies.domain, cookies.path, cookies.secure, cookies.http_only
// @proves cookies.same_site

import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { accountHolder, createByteBudget } from '../../../api/http/byte-budget.ts';
import { runPageSession } from '../../../api/page/page-session.ts';
import { type RenderSettings, renderSettings } from '../../../api/page/render-settings.ts';
import { html, type Installation, installation } from '../../support/installation.ts';
import { pdfText } from '../../support/pdf.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns-server.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';
import { errorOf } from '../../support/worker.ts';

describe('cookies', () => {
  let web: WebServer;
  let dns: DnsServer;
  let pressroom: Installation;
  let shop: string;

  before(async () => {
    dns = await startDnsServer();
    for (const name of ['shop.example', 'www.shop.example', 'other.example'])
      dns.set(name, '127.0.0.1');
    const showCookies = (request: IncomingMessage, response: ServerResponse) =>
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(
          `<p>SENT ${request.headers.cookie ?? 'nothing'}</p><p>SEEN <script>document.write(document.cookie)</script></p>`,
        );
    web = await startWebServer({
      '/cookies': showCookies,
      '/deep/cookies': showCookies,
      '/picture.svg': (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'image/svg+xml' })
          .end('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    });
    shop = `http://shop.example:${web.port}`;
    pressroom = await installation({
      intranet: true,
      env: { PRESSROOM_DNS_SERVERS: dns.address, PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port}` },
    });
  });
  after(async () => {
    await pressroom.stop();
    await Promise.all([web.close(), dns.close()]);
  });
  beforeEach(() => {
    web.requests.length = 0;
  });

  const text = async (body: object) => pdfText(await pressroom.pdf(body));

  const cookie = (name: string, more: object = {}) => ({
    name,
    value: '1',
    domain: 'shop.example',
    ...more,
  });
  const sent = async (url: string, ...cookies: object[]) =>
    /SENT (.*)/.exec(await text({ url, cookies }))![1];

  it('does not send cookies of the previous render', async () => {
    expect(await sent(`${shop}/cookies`, cookie('a'))).to.equal('a=1');
    expect(await text({ url: `${shop}/cookies` })).to.include('SENT nothing');
  });

  it('applies a domain to the host, and with a leading dot to its subdomains', async () => {
    const www = shop.replace('shop', 'www.shop');
    const both = [cookie('host'), cookie('wide', { domain: '.shop.example' })] as const;
    expect(await sent(`${shop}/cookies`, ...both)).to.equal('host=1; wide=1');
    expect(await sent(`${www}/cookies`, ...both)).to.equal('wide=1');
    expect(await sent(`${shop.replace('shop', 'other')}/cookies`, ...both)).to.equal('nothing');
  });

  it('applies an IP address as the domain on any port', async () => {
    expect(
      await sent(`http://127.0.0.1:${web.port}/cookies`, cookie('ip', { domain: '127.0.0.1' })),
    ).to.equal('ip=1');
  });

  it('applies a path to everything below it', async () => {
    const deep = cookie('deep', { path: '/deep' });
    expect(await sent(`${shop}/deep/cookies`, deep)).to.equal('deep=1');
    expect(await sent(`${shop}/cookies`, deep)).to.equal('nothing');
  });

  it('does not send secure cookies over HTTP', async () => {
    expect(await sent(`${shop}/cookies`, cookie('s', { secure: true }), cookie('p'))).to.equal(
      'p=1',
    );
  });

  it('hides http_only cookies from scripts', async () => {
    const page = await text({
      url: `${shop}/cookies`,
      cookies: [cookie('open'), cookie('shut', { http_only: true })],
    });
    expect(page)
      .to.include('SENT open=1; shut=1')
      .and.to.include('SEEN open=1')
      .and.not.include('SEEN open=1; shut');
  });

  it('sends Strict and Lax cookies with the page', async () => {
    expect(
      await sent(
        `${shop}/cookies`,
        cookie('strict', { same_site: 'Strict' }),
        cookie('lax', { same_site: 'Lax' }),
      ),
    ).to.equal('strict=1; lax=1');
  });

  it('sends no Lax cookies with what an HTML document loads', async () => {
    const local = { domain: '127.0.0.1' };
    const cookies = [
      cookie('none', { ...local, same_site: 'None', secure: true }),
      cookie('silent', local),
      cookie('lax', { ...local, same_site: 'Lax' }),
    ];
    await text({ html: html(`<img src="http://127.0.0.1:${web.port}/picture.svg">`), cookies });
    expect(web.requests[0]!.headers.cookie).to.equal('none=1; silent=1');
  });

  it('names the index of a cookie that Chrome rejects', async () => {
    await pressroom.worker.until({ ready: 2 });
    const session = await pressroom.worker.open({ egress: 'intranet' });
    const valid = {
      name: 'a',
      value: '1',
      domain: 'shop.example',
      path: '/',
      secure: false,
      httpOnly: false,
    };
    const settings: RenderSettings = {
      ...renderSettings({ url: `${shop}/cookies` } as never),
      cookies: [valid, { ...valid, value: 'two; words' }],
    };
    const limits = { renderMs: 10_000, output: { maxBytes: 2 ** 20, tagged: false } };
    const signal = new AbortController().signal;
    const error = await errorOf(
      runPageSession(
        session,
        settings,
        limits,
        createByteBudget(2 ** 20).open(accountHolder('account')),
        signal,
        {},
      ),
    );
    session.close();
    expect(error).to.include({ code: 'validation_error' });
    expect(error!.message).to.include('`cookies.1`');
    expect(web.requests).to.have.lengthOf(0);
  });
});
