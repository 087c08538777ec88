// @proves fail_on_resource_error, X-Resource-Errors
// Requests of a page that fail: what the response and the render log say about them.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import type { RenderDetail } from '../../../api/console/contract/accounts.ts';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { type LoggedRows, loggedRows } from '../../support/console/log-fixture.ts';
import { html } from '../../support/installation.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns-server.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';

const answer =
  (type: string, body: string | Buffer, head: Record<string, string> = {}) =>
  (_: unknown, response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': type, ...head }).end(body);

/** Requires HTTP Basic in a protection space of its own for each path. */
const locked =
  (body: string) =>
  ({ headers, url }: IncomingMessage, response: ServerResponse) =>
    void (
      headers.authorization
        ? response.writeHead(200, {
            'content-type': url!.endsWith('css') ? 'text/css' : 'text/html',
          })
        : response.writeHead(401, { 'www-authenticate': `Basic realm="${url}"` })
    ).end(body);

/** A port that nothing listens on, and that Chrome does not block. */
const CLOSED_PORT = 4_999;

/**
 * Hosts of the test's web server. Chrome gives a frame of another site a process of its own when
 * the response asks for it, from a host that is trustworthy without TLS.
 */
const SITES = ['one.test', 'two.localhost', 'three.localhost'];
const OWN_PROCESS = { 'origin-agent-cluster': '?1' };

describe('resources of a page that do not load', () => {
  let pressroom: ConsoleFixture;
  let log: LoggedRows;
  let web: WebServer;
  let dns: DnsServer;
  let base: string;
  const at = (site: string) => `http://${site}:${web.port}`;
  const page = (body: () => string) => (_: unknown, response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'text/html', ...OWN_PROCESS }).end(body());
  before(async () => {
    web = await startWebServer({
      '/good.css': answer('text/css', 'p{color:red}'),
      '/good.svg': answer('image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>'),
      '/data.json': answer('application/json', '{}'),
      '/to-private': (_, response) =>
        void response.writeHead(302, { location: 'http://10.0.0.2/secret' }).end(),
      '/to-closed': (_, response) =>
        void response.writeHead(302, { location: `http://127.0.0.1:${CLOSED_PORT}/secret` }).end(),
      '/hangs.png': () => {},
      '/page': '<link rel=stylesheet href=missing.css><p>PAGE',
      '/good': '<link rel=stylesheet href=good.css><img src=good.svg>',
      '/frames': page(() => `<iframe src="${at('two.localhost')}/nested"></iframe>`),
      '/nested': page(
        () => `<img src=in-two.png><iframe src="${at('three.localhost')}/in-three"></iframe>`,
      ),
      '/in-three': page(() => '<link rel=stylesheet href=missing.css>'),
      '/slow-frame': page(() => `<iframe src="${at('two.localhost')}/slow"></iframe>`),
      '/slow': page(
        () => '<script>setTimeout(() => { new Image().src = "late.png"; }, 300)</script>',
      ),
      '/with-worker': '<script>new Worker("worker.js").onmessage = () => {}</script>',
      '/worker.js': answer('text/javascript', 'postMessage(1)'),
      '/removed-frame': page(
        () => `<script>setTimeout(() => document.querySelector('iframe').remove(), 500)</script>
          <iframe src="${at('two.localhost')}/hanging"></iframe>`,
      ),
      '/hanging': page(() => '<img src=hangs.png>'),
      '/streamed-frame': page(
        () => `<script>setTimeout(() => document.querySelector('iframe').remove(), 500)</script>
          <iframe src="${at('two.localhost')}/streamed"></iframe>`,
      ),
      '/streamed': (_, response) =>
        void response
          .writeHead(200, { 'content-type': 'text/html', ...OWN_PROCESS })
          .write(`<p>${'x'.repeat(5_000)}`),
      '/locked/page': locked('<link rel=stylesheet href=other/style.css>'),
      '/locked/other/style.css': locked(''),
      '/large.js': answer('text/javascript', Buffer.alloc(2 ** 21, ' ')),
    });
    dns = await startDnsServer();
    dns.set('inside.test', '10.9.8.7');
    for (const site of SITES) dns.set(site, '127.0.0.1');
    base = `http://127.0.0.1:${web.port}`;
    pressroom = await consoleFixture({
      intranet: true,
      env: {
        PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port},127.0.0.1:${CLOSED_PORT}`,
        PRESSROOM_EGRESS_PORTS: '80',
        PRESSROOM_DNS_SERVERS: dns.address,
        PRESSROOM_EGRESS_MAX_BYTES: '1MiB',
      },
    });
    log = await loggedRows(pressroom);
  });
  after(async () => {
    await pressroom?.stop();
    await web?.close();
    await dns?.close();
  });

  async function render(body: object): Promise<{ header: unknown; row: RenderDetail }> {
    const { headers } = await pressroom.render(body);
    const row = await log.detail(headers['x-request-id']!);
    return { header: headers['x-resource-errors'], row };
  }
  /** `image /missing.png 404`, in alphabetical order. */
  const lines = ({ resources }: RenderDetail) =>
    resources
      .map(({ type, url, status, reason }) =>
        [type, url.replace(base, ''), status ?? reason].join(' '),
      )
      .sort();

  it('lists each failed request with its status or the reason', async () => {
    const { header, row } = await render({
      html: html(
        `<img src="${base}/missing.png?token=s3cret#part">
        <link rel=stylesheet href="${base}/good.css"><link rel=stylesheet href="${base}/missing.css">
        <img src="http://unknown.test/a.png"><img src="http://127.0.0.1:${CLOSED_PORT}/b.png">
        <img src="http://inside.test/c.png"><img src="${base}/to-private">
        <script src="${base}/missing.js"></script>
        <script>fetch('${base}/data.json').catch(() => {})</script>
        <iframe src="${base}/page"></iframe><iframe src="${base}/gone"></iframe>
        <meta http-equiv="Content-Security-Policy" content="img-src http:">
        <img src="https://user:pass@csp.test/d.png">
        <style>@font-face{font-family:F;src:url(${base}/f.woff2)}
        p{font-family:F;background:url(${base}/bg.png)}</style><p>x`,
      ),
      wait_for_network_idle: true,
    });
    expect(lines(row)).to.deep.equal(
      [
        'document /gone 404',
        'fetch /data.json blocked',
        'font /f.woff2 404',
        'image /bg.png 404',
        'image /missing.png 404',
        'image /to-private blocked',
        `image http://127.0.0.1:${CLOSED_PORT}/b.png refused`,
        'image http://inside.test/c.png blocked',
        'image http://unknown.test/a.png unresolved',
        'image https://csp.test/d.png blocked',
        'script /missing.js 404',
        // The one of the page, and the one of the frame.
        'stylesheet /missing.css 404',
        'stylesheet /missing.css 404',
      ].sort(),
    );
    expect(row).to.include({ outcome: 'ok', resourceErrors: 13 });
    expect(header).to.equal('13');
    for (const { method, ms } of row.resources) {
      expect(method).to.equal('GET');
      expect(ms).to.be.within(0, 60_000);
    }
    // What the guard resolved, where a redirect leads, and what may be secret.
    expect(JSON.stringify(row.resources)).to.not.match(/10\.9\.8\.7|10\.0\.0\.2|s3cret|pass/);
  });

  it('lists those of a page from a URL, without the page itself', async () => {
    const { header, row } = await render({ url: `${base}/page` });
    expect(lines(row)).to.deep.equal(['stylesheet /missing.css 404']);
    expect(header).to.equal('1');
    const missing = await render({ url: `${base}/gone`, raise_for_status: false });
    expect(missing.row).to.deep.include({ outcome: 'ok', resourceErrors: 0, resources: [] });
  });

  it('lists a page that was not reached, or the host that it redirects to', async () => {
    const pages: [string, string, string][] = [
      [`${base}/to-private`, 'ssrf_blocked', 'document http://10.0.0.2 blocked'],
      [`${base}/to-closed`, 'render_failed', `document http://127.0.0.1:${CLOSED_PORT} refused`],
      [
        'http://unknown.test/a?s3cret',
        'render_failed',
        'document http://unknown.test/a unresolved',
      ],
    ];
    for (const [url, code, line] of pages) {
      const { row } = await render({ url });
      expect(row).to.include({ code, resourceErrors: 1 });
      expect(lines(row)).to.deep.equal([line]);
    }
  });

  it('has no header and no entry when everything loads', async () => {
    for (const body of [{ url: `${base}/good` }, { html: html('static') }]) {
      const { header, row } = await render(body);
      expect(header).to.equal(undefined);
      expect(row).to.deep.include({ outcome: 'ok', resourceErrors: 0, resources: [] });
    }
  });

  describe('in frames with a process of their own', () => {
    const failed = () => [
      `image ${at('two.localhost')}/in-two.png 404`,
      'stylesheet missing.css 404',
    ];
    const shown = (row: RenderDetail) =>
      lines(row).map(line => line.replace(`${at('three.localhost')}/`, ''));

    it('are listed, at any depth', async () => {
      const frames = `<iframe src="${at('one.test')}/frames"></iframe>`;
      for (const body of [{ url: `${at('one.test')}/frames` }, { html: html(frames) }]) {
        const { header, row } = await render(body);
        expect(row.outcome).to.equal('ok');
        expect(shown(row)).to.deep.equal(failed());
        expect(header).to.equal('2');
      }
    });

    it('fail a render with fail_on_resource_error', async () => {
      const error = await pressroom.renderError({
        url: `${at('one.test')}/frames`,
        fail_on_resource_error: true,
      });
      expect(error).to.include({ status: 502, code: 'render_failed', reason: 'page_status' });
      expect(error.message)
        .to.include(`${at('two.localhost')}/in-two.png (404)`)
        .and.include(`${at('three.localhost')}/missing.css (404)`);
    });

    it('are waited for by wait_for_network_idle', async () => {
      const { row } = await render({
        url: `${at('one.test')}/slow-frame`,
        wait_for_network_idle: true,
      });
      expect(lines(row)).to.deep.equal([`image ${at('two.localhost')}/late.png 404`]);
    });

    it('do not delay a page that removes the frame', async () => {
      for (const path of ['removed-frame', 'streamed-frame']) {
        const { row } = await render({
          url: `${at('one.test')}/${path}`,
          wait_for_network_idle: true,
        });
        expect(row, path).to.deep.include({ outcome: 'ok', resources: [] });
      }
    });

    it('do not list the frames themselves at the time limit', async () => {
      const { row } = await render({
        url: `${at('one.test')}/frames`,
        wait_for_selector: '#never',
        timeout: '2s',
      });
      expect(row).to.include({ reason: 'page_timeout' });
      expect(shown(row)).to.deep.equal(failed());
    });
  });

  it('lists at most 100 and counts all', async () => {
    const images = Array.from({ length: 150 }, (_, n) => `<img src="${base}/missing/${n}">`);
    const { header, row } = await render({ html: html(images.join('')) });
    expect(header).to.equal('150');
    expect(row.resourceErrors).to.equal(150);
    expect(row.resources).to.have.lengthOf(100);
  });

  it('lists those of HTML whose URLs are escaped', async () => {
    const image = `<img src="${`${base}/a.png`.replaceAll('/', '&#x2F;')}">`;
    const script = `<script>new Image().src = ${JSON.stringify(`${base}/b.png`).replaceAll('/', '\\/')}</script>`;
    for (const [tag, name] of [
      [image, 'a'],
      [script, 'b'],
    ] as const) {
      const { row } = await render({ html: html(tag), wait_delay: '200ms' });
      expect(lines(row)).to.deep.equal([`image /${name}.png 404`]);
    }
  });

  it('shows data URLs as their size and cuts others', async () => {
    const { row } = await render({
      html: html(
        `<script src="data:text/javascript"></script>
        <img src="${base}/${'x'.repeat(5_000)}">`,
      ),
    });
    expect(row.resources.map(({ url }) => url)).to.have.members([
      'data: (20 characters)',
      `${base}/${'x'.repeat(511 - base.length - 1)}…`,
    ]);
  });

  it('lists what is pending at the time limit', async () => {
    const { row } = await render({
      html: html(`<img src="${base}/hangs.png?x">`),
      timeout: '3s',
    });
    expect(row).to.include({ outcome: 'error', reason: 'page_timeout' });
    expect(row.message).to.match(/ load event\. Still loading: http:\S+\/hangs\.png\.$/);
    expect(lines(row)).to.deep.equal(['image /hangs.png timeout']);
    expect(row.resources[0]!.ms).to.be.greaterThan(2_000);
  });

  it('does not list the script of a worker, whose end is not reported', async () => {
    const { row } = await render({
      url: `${base}/with-worker`,
      wait_for_selector: '#never',
      timeout: '2s',
    });
    expect(row).to.deep.include({ reason: 'page_timeout', resources: [] });
  });

  it('does not list a resource that loaded after a challenge', async () => {
    const auth = { username: 'u', password: 'p' };
    const { row } = await render({ url: `${base}/locked/page`, auth });
    expect(row).to.deep.include({ outcome: 'ok', resources: [] });
  });

  it('says that a network limit was reached', async () => {
    const { row } = await render({
      html: html(
        `<script src="${base}/large.js"></script><link rel=stylesheet href="${base}/good.css">`,
      ),
    });
    expect(lines(row)).to.include('script /large.js too_large');
  });

  it('has no header in the answer to a trial call', async () => {
    const { status, headers } = await pressroom.call(
      'POST',
      '/v1/trial/render',
      { 'content-type': 'application/json' },
      JSON.stringify({ html: html('<img src="http://unknown.test/a.png">') }),
    );
    expect(status).to.equal(200);
    expect(headers).to.not.have.property('x-resource-errors');
  });

  describe('with fail_on_resource_error', () => {
    const fails = (body: object) =>
      pressroom.renderError({ ...body, fail_on_resource_error: true });

    it('fails and names the first three', async () => {
      const usage = await pressroom.usage();
      const names = ['a.css', 'b.js', 'c.png', 'd.png', 'e.png'];
      const tags = `<link rel=stylesheet href="${base}/a.css"><script src="${base}/b.js"></script>
        ${names
          .slice(2)
          .map(name => `<img src="${base}/${name}?s3cret">`)
          .join('')}`;
      const error = await fails({ html: html(tags) });
      expect(error).to.include({ status: 502, code: 'render_failed', reason: 'page_status' });
      expect(error.message).to.match(
        /^The page could not load 5 resources: (?:http:\S+\/[a-e]\.\w+ \(404\),? ){3}and 2 more\. Fix the URLs, or set `fail_on_resource_error` to false\.$/,
      );
      const one = await fails({ url: `${base}/page` });
      expect(one.message).to.include(`1 resource: ${base}/missing.css (404). Fix`);
      expect(await pressroom.usage()).to.equal(usage);
    });

    it('fails for a font', async () => {
      const font = `<style>@font-face{font-family:F;src:url(${base}/f.woff2)}p{font-family:F}</style><p>x`;
      expect((await fails({ html: html(font) })).message).to.include('/f.woff2 (404)');
    });

    it('explains a wait that timed out', async () => {
      const error = await fails({
        html: html(`<script src="${base}/app.js"></script>`),
        wait_for_selector: '#ready',
        timeout: '3s',
      });
      expect(error).to.include({ reason: 'page_status' });
      expect(error.message).to.include('/app.js (404)');
    });

    it('prints a page whose other requests fail', async () => {
      const { header, row } = await render({
        html: html(
          `<script>fetch('${base}/missing').catch(() => {})</script><iframe src="${base}/gone"></iframe>`,
        ),
        wait_for_network_idle: true,
        fail_on_resource_error: true,
      });
      expect(row).to.include({ outcome: 'ok', resourceErrors: 2 });
      expect(header).to.equal('2');
    });
  });
});
