// @proves extra_http_headers, cookies.value, auth, auth.password

import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { html, type Installation, installation } from '../../support/installation.ts';
import { pdfText } from '../../support/pdf.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns-server.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>';
const as = (type: string, body: string) => (_request: IncomingMessage, response: ServerResponse) =>
  response.writeHead(200, { 'content-type': type, 'access-control-allow-origin': '*' }).end(body);
const basic = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
const GOOD = basic('ann', 'sesame');
/** Serves the page to the user ann only. */
const locked =
  (page: string, challenge = 'Basic realm="shop"') =>
  (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers.authorization === GOOD)
      return response.writeHead(200, { 'content-type': 'text/html' }).end(page);
    return response
      .writeHead(401, { 'content-type': 'text/html', 'www-authenticate': challenge })
      .end('<h1>LOCKED</h1>');
  };

describe('request headers and credentials of a render', () => {
  let web: WebServer;
  let other: WebServer;
  let dns: DnsServer;
  let pressroom: Installation;
  /** The origin of the page, another site, and the host of the page on another port. */
  let shop: string;
  let foreign: string;
  let otherPort: string;

  before(async () => {
    dns = await startDnsServer();
    for (const name of ['shop.example', 'www.shop.example', 'other.example'])
      dns.set(name, '127.0.0.1');
    other = await startWebServer({
      '/picture.svg': as('image/svg+xml', SVG),
      '/inner.svg': as('image/svg+xml', SVG),
      '/font.woff': as('font/woff', 'x'),
      '/data': as('text/plain', 'x'),
      '/frame': (request, response) =>
        as('text/html', `<img src="/inner.svg"><script>fetch('/data')</script>`)(request, response),
      '/landed': '<h1>LANDED</h1>',
      '/locked': locked('<h1>FOREIGN</h1>'),
      '/locked.svg': locked(SVG),
    });
    web = await startWebServer({
      '/': (request, response) =>
        as(
          'text/html',
          `<h1>SHOP</h1><link rel=stylesheet href="/style.css"><img src="/picture.svg"><img src="${foreign}/picture.svg"><img src="${otherPort}/inner.svg">
           <iframe src="${foreign}/frame"></iframe><style>@font-face { font-family: f; src: url(${foreign}/font.woff) } h1 { font-family: f }</style>
           <script>fetch('/data'); fetch('/own', { headers: { authorization: 'set by the page' } }); new Worker('/worker.js').onmessage = () => { window.worked = true }</script>`,
        )(request, response),
      '/style.css': as('text/css', 'h1 { background: url(/background.svg) }'),
      '/background.svg': as('image/svg+xml', SVG),
      '/picture.svg': as('image/svg+xml', SVG),
      '/data': as('text/plain', 'x'),
      '/own': as('text/plain', 'x'),
      '/worker.js': as('text/javascript', "fetch('/from-worker').then(() => postMessage(1))"),
      '/from-worker': as('text/plain', 'x'),
      '/video': as('video/mp4', 'x'),
      '/serves': as(
        'text/html',
        `<script>navigator.serviceWorker.onmessage = () => { window.served = true }; navigator.serviceWorker.register('/serves.js')</script>`,
      ),
      '/serves.js': (_request, response) =>
        as(
          'text/javascript',
          `Promise.allSettled([fetch('/data'), fetch('http://127.0.0.1:${other.port}/data')])
             .then(() => clients.matchAll({ includeUncontrolled: true })).then(all => all.forEach(client => client.postMessage(1)))`,
        )(_request, response),
      '/hop': (_request, response) => response.writeHead(302, { location: '/' }).end(),
      '/away': (_request, response) =>
        response.writeHead(302, { location: `${foreign}/landed` }).end(),
      '/to-lock': (_request, response) =>
        response.writeHead(302, { location: `${foreign}/locked` }).end(),
      '/locked': (request, response) =>
        locked(
          `<h1>OPEN</h1><iframe src="${foreign}/locked"></iframe><img src="/locked.svg"><img src="${foreign}/locked.svg"><script>fetch('${foreign}/locked').catch(() => {})</script>`,
        )(request, response),
      '/locked.svg': locked(SVG),
      '/digest': locked('<h1>OPEN</h1>', 'Digest realm="shop", nonce="n", qop="auth"'),
      '/proxy': (_request, response) =>
        response.writeHead(407, { 'proxy-authenticate': 'Basic realm="shop"' }).end('PROXY'),
      '/cookies': (request, response) =>
        as(
          'text/html',
          `<p>SENT ${request.headers.cookie ?? 'nothing'}</p><p>SEEN <script>document.write(document.cookie)</script></p>`,
        )(request, response),
    });
    shop = `http://shop.example:${web.port}`;
    foreign = `http://other.example:${other.port}`;
    otherPort = `http://shop.example:${other.port}`;
    pressroom = await installation({
      intranet: true,
      env: {
        PRESSROOM_DNS_SERVERS: dns.address,
        PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port},127.0.0.1:${other.port}`,
      },
    });
  });
  after(async () => {
    await pressroom.stop();
    await Promise.all([web.close(), other.close(), dns.close()]);
  });
  beforeEach(() => {
    web.requests.length = 0;
    other.requests.length = 0;
  });

  const text = async (body: object) => pdfText(await pressroom.pdf(body));
  const renderError = (body: object) => pressroom.renderError(body);
  /** Waits until all requests of the page and its worker have been answered. */
  const settled = { wait_for_expression: 'window.worked', wait_for_network_idle: true };
  /** The value of the header in each request, by `host/path`. */
  const arrived = ({ requests }: WebServer, header: string) =>
    Object.fromEntries(
      requests.map(({ url, headers }) => [`${headers.host!.split(':')[0]}${url}`, headers[header]]),
    );

  describe('extra_http_headers', () => {
    const extra = { extra_http_headers: { 'X-Tenant': 'blue' } };

    it('sends the headers with the page, its assets, frames and workers on any origin', async () => {
      await text({ url: `${shop}/`, ...extra, ...settled });
      const everywhere = [
        '/',
        '/style.css',
        '/background.svg',
        '/picture.svg',
        '/data',
        '/own',
        '/worker.js',
        '/from-worker',
      ];
      expect(arrived(web, 'x-tenant')).to.deep.equal(
        Object.fromEntries(everywhere.map(path => [`shop.example${path}`, 'blue'])),
      );
      const elsewhere = [
        'other/picture.svg',
        'shop/inner.svg',
        'other/frame',
        'other/inner.svg',
        'other/data',
        'other/font.woff',
      ];
      expect(arrived(other, 'x-tenant')).to.deep.equal(
        Object.fromEntries(elsewhere.map(place => [place.replace('/', '.example/'), 'blue'])),
      );
    });

    it('sends no CORS preflight request to another origin', async () => {
      await text({ url: `${shop}/`, ...extra, ...settled });
      expect(other.requests.map(({ method, url }) => `${method} ${url}`))
        .to.include('GET /font.woff')
        .and.not.include('OPTIONS /font.woff');
    });

    it('sends the headers with everything an HTML document loads', async () => {
      await text({
        html: html(`<img src="${shop}/picture.svg"><iframe src="${foreign}/frame"></iframe>`),
        ...extra,
      });
      expect(arrived(web, 'x-tenant')).to.deep.equal({ 'shop.example/picture.svg': 'blue' });
      expect(arrived(other, 'x-tenant')).to.include({
        'other.example/frame': 'blue',
        'other.example/inner.svg': 'blue',
      });
    });

    it('keeps the headers after a redirect', async () => {
      await text({ url: `${shop}/away`, ...extra });
      expect(arrived(web, 'x-tenant')).to.deep.equal({ 'shop.example/away': 'blue' });
      expect(arrived(other, 'x-tenant')).to.include({ 'other.example/landed': 'blue' });
    });

    it('replaces a browser header of the same name in any case', async () => {
      await text({
        url: `${shop}/cookies`,
        extra_http_headers: { 'user-agent': 'Printer/1.0', 'ACCEPT-LANGUAGE': 'rm' },
      });
      expect(web.requests[0]!.headers).to.include({
        'user-agent': 'Printer/1.0',
        'accept-language': 'rm',
        'accept-encoding': 'gzip, deflate',
      });
      expect(web.requests[0]!.rawHeaders.filter(name => /user-agent/i.test(name))).to.have.lengthOf(
        1,
      );
    });

    for (const [name, value] of [
      ['X-HTTP-Method', 'CONNECT'],
      ['Accept-encoding', 'gzip;q=0'],
    ] as const)
      it(`rejects a header that the browser does not send (${name}: ${value})`, async () => {
        const error = await renderError({
          url: `${shop}/cookies`,
          extra_http_headers: { 'X-Tenant': 'blue', [name]: value },
        });
        expect(error).to.include({ status: 400, code: 'validation_error' });
        expect(error.message).to.include(`\`extra_http_headers.${name}\``);
        expect(web.requests).to.have.lengthOf(0);
      });

    it('sends the headers with the range requests of a video', async () => {
      await text({
        html: html(`<video src="${shop}/video" preload="auto"></video>`),
        ...extra,
        wait_for_network_idle: true,
      });
      expect(arrived(web, 'x-tenant')).to.deep.equal({ 'shop.example/video': 'blue' });
      expect(arrived(web, 'range')).to.deep.equal({ 'shop.example/video': 'bytes=0-' });
    });

    it('sends the headers together with cookies', async () => {
      const cookies = [{ name: 'a', value: '1', domain: 'shop.example' }];
      expect(await text({ url: `${shop}/cookies`, ...extra, cookies })).to.include('SENT a=1');
    });
  });

  describe('the Authorization header', () => {
    const authorized = {
      extra_http_headers: { authorization: 'Bearer secret', 'X-Tenant': 'blue' },
    };

    it('is sent to the origin of the page only', async () => {
      await text({ url: `${shop}/`, ...authorized, ...settled });
      const own = [
        '/',
        '/style.css',
        '/background.svg',
        '/picture.svg',
        '/data',
        '/worker.js',
        '/from-worker',
      ];
      expect(arrived(web, 'authorization')).to.deep.equal({
        ...Object.fromEntries(own.map(path => [`shop.example${path}`, 'Bearer secret'])),
        'shop.example/own': 'set by the page',
      });
      const elsewhere = arrived(other, 'authorization');
      expect(elsewhere).to.include.keys(
        'other.example/frame',
        'other.example/inner.svg',
        'shop.example/inner.svg',
        'other.example/font.woff',
      );
      expect(Object.values(elsewhere).filter(Boolean)).to.deep.equal([]);
    });

    it('is sent without other extra headers', async () => {
      await text({
        url: `${shop}/`,
        extra_http_headers: { Authorization: 'Bearer secret' },
        ...settled,
      });
      expect(arrived(web, 'authorization')).to.include({
        'shop.example/': 'Bearer secret',
        'shop.example/picture.svg': 'Bearer secret',
      });
      expect(Object.values(arrived(other, 'authorization')).filter(Boolean)).to.deep.equal([]);
    });

    it('is not sent to another origin by a service worker', async () => {
      await text({
        url: `http://127.0.0.1:${web.port}/serves`,
        ...authorized,
        wait_for_expression: 'window.served',
      });
      expect(arrived(web, 'authorization')).to.include({
        '127.0.0.1/serves': 'Bearer secret',
        '127.0.0.1/data': undefined,
      });
      expect(arrived(other, 'authorization')).to.deep.equal({ '127.0.0.1/data': undefined });
    });

    it('is not sent after a redirect to another origin', async () => {
      expect(await text({ url: `${shop}/away`, ...authorized })).to.include('LANDED');
      expect(arrived(web, 'authorization')).to.deep.equal({ 'shop.example/away': 'Bearer secret' });
      expect(arrived(other, 'authorization')['other.example/landed']).to.equal(undefined);
    });

    it('is sent after a redirect within the origin', async () => {
      await text({ url: `${shop}/hop`, ...authorized });
      expect(arrived(web, 'authorization')).to.include({
        'shop.example/hop': 'Bearer secret',
        'shop.example/': 'Bearer secret',
      });
    });
  });

  describe('HTTP Basic authentication', () => {
    const auth = { username: 'ann', password: 'sesame' };

    it('fails with page_status on a 401 without `auth`', async () => {
      expect(await renderError({ url: `${shop}/locked` })).to.include({
        status: 502,
        code: 'render_failed',
        reason: 'page_status',
      });
      expect(web.requests).to.have.lengthOf(1);
    });

    it('sends a wrong password once and fails with page_status', async () => {
      const error = await renderError({
        url: `${shop}/locked`,
        auth: { ...auth, password: 'wrong' },
      });
      expect(error).to.include({ status: 502, code: 'render_failed', reason: 'page_status' });
      expect(error.message).to.include('401');
      expect(web.requests.map(({ headers }) => headers.authorization)).to.deep.equal([
        undefined,
        basic('ann', 'wrong'),
      ]);
    });

    it('prints the 401 page after a wrong password when raise_for_status is false', async () => {
      expect(
        await text({
          url: `${shop}/locked`,
          auth: { ...auth, password: 'wrong' },
          raise_for_status: false,
        }),
      ).to.include('LOCKED');
    });

    it('answers challenges of the page’s origin only', async () => {
      expect(await text({ url: `${shop}/locked`, auth, wait_for_network_idle: true })).to.include(
        'OPEN',
      );
      expect(arrived(web, 'authorization')).to.include({
        'shop.example/locked': GOOD,
        'shop.example/locked.svg': GOOD,
      });
      const elsewhere = arrived(other, 'authorization');
      expect(elsewhere).to.have.all.keys('other.example/locked.svg', 'other.example/locked');
      expect(Object.values(elsewhere).filter(Boolean)).to.deep.equal([]);
    });

    it('answers challenges together with extra headers', async () => {
      const page = {
        url: `${shop}/locked`,
        auth,
        extra_http_headers: { 'X-Tenant': 'blue' },
        wait_for_network_idle: true,
      };
      expect(await text(page)).to.include('OPEN');
      expect(arrived(other, 'x-tenant')).to.include({ 'other.example/locked.svg': 'blue' });
      expect(Object.values(arrived(other, 'authorization')).filter(Boolean)).to.deep.equal([]);
    });

    it('does not answer a challenge after a redirect to another origin', async () => {
      for (const extra_http_headers of [{}, { 'X-Tenant': 'blue' }]) {
        other.requests.length = 0;
        const error = await renderError({ url: `${shop}/to-lock`, auth, extra_http_headers });
        expect(error).to.include({ status: 502, reason: 'page_status' });
        expect(
          other.requests.map(({ url, headers }) => [url, headers.authorization]),
        ).to.deep.equal([['/locked', undefined]]);
      }
    });

    it('does not answer a Digest challenge', async () => {
      expect(await renderError({ url: `${shop}/digest`, auth })).to.include({
        reason: 'page_status',
      });
      expect(web.requests).to.have.lengthOf(1);
    });

    it('does not answer a proxy challenge of a server', async () => {
      expect(await renderError({ url: `${shop}/proxy`, auth })).to.include({
        status: 502,
        code: 'render_failed',
      });
      expect(
        web.requests.every(
          ({ headers }) => headers['proxy-authorization'] === undefined && !headers.authorization,
        ),
      ).to.equal(true);
    });
  });
});
