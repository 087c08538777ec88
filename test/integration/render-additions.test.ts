import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { html, type Installation, installation } from '../support/installation.ts';
import { pdfColour, pdfText, pdfWords } from '../support/pdf.ts';
import { startWebServer, type WebServer } from '../support/web-server.ts';

const RED = [255, 0, 0];
const GREEN = [0, 255, 0];
const BLUE = [0, 0, 255];
const SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="200"><rect width="200" height="200" fill="blue"/></svg>';
const as =
  (type: string, body: string, more: Record<string, string> = {}) =>
  (_request: IncomingMessage, response: ServerResponse) =>
    response.writeHead(200, { 'content-type': type, ...more }).end(body);
const answer =
  (status: number, type = 'text/html', more: Record<string, string> = {}) =>
  (_request: IncomingMessage, response: ServerResponse) =>
    response.writeHead(status, { 'content-type': type, ...more }).end('<h1>NO</h1>');
/** A page on whose one big box colours are seen. */
const box = (head = '', body = '') =>
  // Sized by attributes, which no policy forbids.
  `<!doctype html><html><head>${head}</head><body><table id="box" width="100%" height="400"><tr><td>BOX</table>${body}</body></html>`;
const POLICY = { 'content-security-policy': "default-src 'none'; script-src 'nonce-a'; require-trusted-types-for 'script'" };

describe('what is added to a page', function () {
  this.timeout(60_000);
  let web: WebServer;
  let victim: WebServer;
  let dns: DnsServer;
  let pressroom: Installation;
  let base: string;
  let other: string;

  before(async () => {
    dns = await startDnsServer();
    for (const name of ['shop.example', 'other.example', 'hidden.example']) dns.set(name, '127.0.0.1');
    victim = await startWebServer({ '/': 'SECRET' });
    web = await startWebServer({
      '/': box(),
      '/strict': as('text/html', box('', '<p id="p">P</p><script>document.write("NEVER")</script>'), POLICY),
      '/meta': box(`<meta http-equiv="content-security-policy" content="default-src 'none'">`),
      '/green.css': as('text/css', '#box { background: lime }'),
      '/late.css': (_request, response) => void setTimeout(() => as('text/css', '#box { background: lime }')(_request, response), 300),
      '/untyped.css': (_request, response) => response.writeHead(200).end('#box { background: lime }'),
      '/page.css': as('text/html', '<h1>a page</h1>'),
      '/plain.css': as('text/plain', '#box { background: red }'),
      '/broken.css': answer(500, 'text/css'),
      '/missing.css': answer(404),
      '/hop.css': (_request, response) => response.writeHead(302, { location: `${other}/green.css` }).end(),
      '/hidden.css': (_request, response) => response.writeHead(302, { location: `http://hidden.example:${victim.port}/` }).end(),
      '/cut.css': (_request, response) => response.socket!.destroy(),
      '/never.css': () => {},
      '/square.svg': as('image/svg+xml', SQUARE),
      '/writes.js': as('text/javascript', 'document.getElementById("box").textContent = "WRITTEN BY " + document.currentScript.src'),
      '/throws.js': as('text/javascript', 'function f() { throw new TypeError("no such wheel") }\nf()'),
      '/wrong.js': as('text/javascript', 'this is no script'),
      '/later.js': as('text/javascript', 'setTimeout(() => { throw new Error("later") }, 0); document.body.append("STARTED")'),
      '/moves.js': as('text/javascript', 'location = "/next"'),
      '/page.js': as('text/html', '<h1>a page</h1>', { 'x-content-type-options': 'nosniff' }),
      '/missing.js': answer(404),
      '/hop.js': (_request, response) => response.writeHead(302, { location: `${other}/throws.js` }).end(),
      '/hidden.js': (_request, response) => response.writeHead(302, { location: `http://hidden.example:${victim.port}/` }).end(),
      '/never.js': () => {},
      '/next': '<h1>NEXT</h1><div id="box" style="height:600px"></div><img src="/slow.svg" onload="document.body.append(\'LOADED\')">',
      '/slow.svg': (_request, response) => void setTimeout(() => as('image/svg+xml', SQUARE)(_request, response), 300),
      '/nothing': (_request, response) => response.writeHead(204).end(),
      '/throwing': box('', '<script>setInterval(() => { throw new Error("of the page") }, 1)</script>'),
    });
    base = `http://shop.example:${web.port}`;
    other = `http://other.example:${web.port}`;
    pressroom = await installation({
      intranet: true,
      env: {
        PRESSROOM_DNS_SERVERS: dns.address,
        PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port}`,
        PRESSROOM_EGRESS_PORTS: `80,443,${victim.port}`,
        PRESSROOM_RENDER_TIMEOUT: '8s',
      },
    });
  });
  after(async () => {
    await pressroom.stop();
    await Promise.all([web.close(), victim.close(), dns.close()]);
  });
  beforeEach(() => {
    web.requests.length = 0;
  });
  afterEach(() => expect(victim.connections(), 'the victim was reached').to.equal(0));

  const text = async (body: object) => pdfText(await pressroom.pdf(body));
  const colour = async (body: object) => pdfColour(await pressroom.pdf({ margin: { top: '0', left: '0' }, ...body }), 80, 80);
  const refusal = (body: object) => pressroom.refusal(body);

  describe('by css', () => {
    const failures: [string, () => string, object, RegExp][] = [
      ['that is not there', () => `${other}/missing.css`, { status: 502, reason: 'page_status' }, /`css`.*other\.example.*404/],
      ['whose server fails', () => `${other}/broken.css`, { status: 502, reason: 'page_status' }, /`css`.*500/],
      ['that is a page', () => `${base}/page.css`, { status: 502, reason: 'page_status' }, /`css`.*style sheet/],
      ['that is plain text', () => `${other}/plain.css`, { status: 502, reason: 'page_status' }, /`css`.*text\/plain/],
      ['whose server hangs up', () => `${other}/cut.css`, { status: 502, reason: 'page_unreachable' }, /`css`.*other\.example/],
      ['whose host is none', () => 'http://nowhere.example/a.css', { status: 502, reason: 'page_unreachable' }, /`css`.*does not resolve/],
      ['that never comes', () => `${base}/never.css`, { status: 502, reason: 'page_timeout' }, /css/],
      ['at a private address', () => `http://hidden.example:${victim.port}/`, { status: 422, code: 'ssrf_blocked' }, /`css`/],
      ['that redirects to a private address', () => `${base}/hidden.css`, { status: 422, code: 'ssrf_blocked' }, /`css`/],
    ];
    for (const [what, css, expected, message] of failures)
      for (const page of what === 'that never comes' ? ['url'] : ['url', 'html'])
        it(`fails for a sheet ${what}, on a page by ${page}`, async () => {
          const error = await refusal(page === 'url' ? { url: `${base}/`, css: css() } : { html: box(), css: css() });
          expect(error).to.include(expected);
          expect(error.message).to.match(message);
        });

    it('wins over the page’s own styles by order, and loses to what is important there', async () => {
      const page = (own: string) => ({ html: box(`<style>${own}</style>`), css: '#box { background: lime }' });
      expect(await colour(page('#box { background: red }'))).to.deep.equal(GREEN);
      expect(await colour(page('#box { background: red !important }'))).to.deep.equal(RED);
      expect(await colour(page('body #box { background: red }'))).to.deep.equal(RED);
    });

    it('comes after sheets that the page has made by script', async () => {
      const script = `const s = new CSSStyleSheet(); s.replaceSync('#box { background: red }'); document.adoptedStyleSheets = [s]`;
      expect(await colour({ html: box('', `<script>${script}</script>`), css: '#box { background: lime }' })).to.deep.equal(GREEN);
    });

    for (const path of ['/strict', '/meta'])
      it(`styles a page whose policy forbids it (${path}), inline and from an address`, async () => {
        expect(await colour({ url: `${base}${path}`, css: '#box { background: lime }' })).to.deep.equal(GREEN);
        expect(await colour({ url: `${base}${path}`, css: `${other}/green.css` })).to.deep.equal(GREEN);
        expect(await colour({ url: `${base}${path}`, css: `#box { background: url(${other}/square.svg) }` })).to.deep.equal(BLUE);
        expect(await colour({ url: `${base}${path}`, css: `@import "${other}/green.css"; p { color: red }` })).to.deep.equal(GREEN);
      });

    it('leaves the page’s policy as it is when it loads nothing', async () => {
      expect(await text({ url: `${base}/strict`, css: '#box { background: lime }' })).to.not.include('NEVER');
    });

    it('waits until a sheet from an address is applied', async () => {
      expect(await colour({ url: `${base}/`, css: `${base}/late.css` })).to.deep.equal(GREEN);
      expect(await colour({ html: box(), css: `${other}/hop.css` })).to.deep.equal(GREEN);
      expect(await colour({ url: `${base}/`, css: `${base}/untyped.css` })).to.deep.equal(GREEN);
    });

    it('styles the screen or the print, as the render says', async () => {
      const css = '#box { background: red } @media screen { #box { background: lime } }';
      expect(await colour({ html: box(), css, emulate_media: 'screen' })).to.deep.equal(GREEN);
      expect(await colour({ html: box(), css })).to.deep.equal(RED);
    });

    it('is there before the javascript runs', async () => {
      const javascript = 'document.getElementById("box").textContent = getComputedStyle(document.getElementById("box")).color';
      expect(await text({ html: box(), css: '#box { color: rgb(1, 2, 3) }', javascript })).to.include('rgb(1, 2, 3)');
    });

    it('may be long', async () => {
      const css = `${'p { color: "\\"" }\n'.repeat(10_000)} #box { background: lime }`;
      expect(await colour({ html: box(), css })).to.deep.equal(GREEN);
    });
  });

  describe('by javascript', () => {
    const failures: [string, string, RegExp][] = [
      ['throws', 'document.body.append("x")\nthrow new TypeError("no such wheel")', /"TypeError: no such wheel"/],
      ['throws a text', 'throw "boom"', /"boom"/],
      ['throws nothing', 'throw undefined', /"undefined"/],
      ['throws a null', 'throw null', /"null"/],
      ['rejects', 'new Promise((_, reject) => setTimeout(reject, 20, new Error("too late")))', /"Error: too late"/],
      ['rejects with a number', 'Promise.reject(7)', /"7"/],
      ['is no script', 'this is no script', /"SyntaxError: /],
      ['says very much', 'throw new Error("x".repeat(100000))', /x…"\.$/],
    ];
    for (const [what, javascript, message] of failures)
      it(`is a validation_error when it ${what}`, async () => {
        const error = await refusal({ html: box(), javascript });
        expect(error).to.include({ status: 400, code: 'validation_error' });
        expect(error.message)
          .to.match(/`javascript`/)
          .and.to.match(message);
        expect(error.message.length).to.be.below(400);
      });

    const loads: [string, () => string, object, RegExp][] = [
      ['that is not there', () => `${base}/missing.js`, { status: 502, reason: 'page_status' }, /`javascript`.*shop\.example.*404/],
      [
        'that another site does not have',
        () => `${other}/missing.js`,
        { status: 502, reason: 'page_status' },
        /`javascript`.*other\.example/,
      ],
      ['that is a page', () => `${other}/page.js`, { status: 502, reason: 'page_status' }, /`javascript`.*not a script/],
      ['that never comes', () => `${base}/never.js`, { status: 502, reason: 'page_timeout' }, /javascript/],
      [
        'whose host is none',
        () => 'http://nowhere.example/a.js',
        { status: 502, reason: 'page_unreachable' },
        /`javascript`.*does not resolve/,
      ],
      ['at a private address', () => `http://hidden.example:${victim.port}/`, { status: 422, code: 'ssrf_blocked' }, /`javascript`/],
      ['that redirects to a private address', () => `${base}/hidden.js`, { status: 422, code: 'ssrf_blocked' }, /`javascript`/],
      ['that throws', () => `${other}/throws.js`, { status: 400, code: 'validation_error' }, /`javascript`.*"TypeError: no such wheel"/],
      ['that throws after a redirect', () => `${base}/hop.js`, { status: 400, code: 'validation_error' }, /"TypeError: no such wheel"/],
      ['that is no script', () => `${base}/wrong.js`, { status: 400, code: 'validation_error' }, /"SyntaxError: /],
    ];
    for (const [what, javascript, expected, message] of loads)
      for (const page of what === 'that never comes' ? ['url'] : ['url', 'html'])
        it(`fails for a script ${what}, on a page by ${page}`, async () => {
          const error = await refusal(
            page === 'url' ? { url: `${base}/`, javascript: javascript() } : { html: box(), javascript: javascript() },
          );
          expect(error).to.include(expected);
          expect(error.message).to.match(message);
        });

    it('runs in the page’s own world, after its load event', async () => {
      const page = box('', '<script>let greeting = "HELLO"; onload = () => { greeting += " LOADED" }</script>');
      expect(await text({ html: page, javascript: 'document.body.append(greeting)' })).to.include('HELLO LOADED');
    });

    it('is awaited when it gives a promise', async () => {
      const javascript = 'new Promise(resolve => setTimeout(resolve, 300)).then(() => { document.body.append("LATE") })';
      expect(await text({ html: box(), javascript })).to.include('LATE');
    });

    it('says that it was waited for when its promise never settles', async () => {
      const error = await refusal({ html: box(), javascript: 'new Promise(() => {})' });
      expect(error).to.include({ status: 502, reason: 'page_timeout' });
      expect(error.message).to.include('javascript');
    });

    it('comes before the other waits', async () => {
      const javascript = 'setTimeout(() => { document.body.append("THEN"); window.done = 1 }, 200)';
      expect(await text({ html: box(), javascript, wait_for_expression: 'window.done' })).to.include('THEN');
    });

    it('runs on a page whose policy forbids it, inline and from an address', async () => {
      for (const path of ['/strict', '/meta']) {
        const inline = await text({ url: `${base}${path}`, javascript: 'document.body.append("INLINE"); eval("1")' });
        expect(inline).to.include('INLINE').and.not.include('NEVER');
        expect(await text({ url: `${base}${path}`, javascript: `${other}/writes.js` })).to.include('WRITTEN BY');
      }
    });

    it('runs from an address as a script of the page that knows where it comes from', async () => {
      expect((await text({ html: box(), javascript: `${other}/writes.js` })).replace(/\s/g, '')).to.include(`WRITTENBY${other}/writes.js`);
    });

    it('is not blamed for what the page throws, nor for what it leaves to run later', async () => {
      expect(await text({ url: `${base}/throwing`, javascript: `${other}/writes.js` })).to.include('WRITTEN');
      expect(await text({ url: `${base}/throwing`, javascript: `${other}/later.js` })).to.include('STARTED');
    });

    const moves: [string, string][] = [
      ['at once', 'location = "/next"'],
      ['while a promise of it is open', 'location = "/next"; new Promise(() => {})'],
      ['after a while, with its promise open', 'setTimeout(() => { location = "/next" }, 100); new Promise(() => {})'],
      ['by a form', 'const f = document.createElement("form"); f.action = "/next"; document.body.append(f); f.submit()'],
    ];
    for (const [how, javascript] of moves)
      it(`prints the page that it moves to ${how}, once that is loaded`, async () => {
        expect(await text({ url: `${base}/`, javascript }))
          .to.include('NEXT')
          .and.to.include('LOADED')
          .and.not.include('BOX');
      });

    it('prints the page that a script from an address moves to', async () => {
      expect(await text({ url: `${base}/`, javascript: `${base}/moves.js` }))
        .to.include('NEXT')
        .and.to.include('LOADED');
      expect(web.requests.filter(({ url }) => url === '/moves.js')).to.have.lengthOf(1);
    });

    it('styles the page that it moves to like the one before', async () => {
      expect(await colour({ url: `${base}/`, css: '#box { background: lime }', javascript: 'location = "/next"' })).to.deep.equal(GREEN);
    });

    it('prints an html document’s next page too, and stays where a move leads nowhere', async () => {
      expect(await text({ html: box(), javascript: `location = "${base}/next"` })).to.include('LOADED');
      expect(await text({ html: box(), javascript: 'location = "#here"; location = "mailto:a@b.example"' })).to.include('BOX');
    });

    it('is ssrf_blocked when it moves the page to a private address', async () => {
      const error = await refusal({ html: box(), javascript: `location = "http://hidden.example:${victim.port}/"` });
      expect(error).to.include({ status: 422, code: 'ssrf_blocked' });
    });
  });

  describe('by lazy_load_images', () => {
    const lazy = (body: object) => pressroom.pdf({ lazy_load_images: true, ...body });
    const asked = () => web.requests.map(({ url }) => url);
    const gap = '<div style="height:4000px"></div>';
    const note = (name: string) => `onload="document.body.append('${name}')"`;

    it('loads images and frames that are put off', async () => {
      const page = html(
        `${gap}<img loading="LAZY" src="${base}/slow.svg" ${note('IMAGE')}>${gap}<iframe loading="lazy" src="${base}/" ${note('FRAME')}></iframe>`,
      );
      expect(await pdfText(await lazy({ html: page })))
        .to.include('IMAGE')
        .and.to.include('FRAME');
    });

    it('does not load them without being asked to', async () => {
      await pressroom.pdf({ html: html(`${gap}${gap}<img loading="lazy" src="${base}/slow.svg">`), wait_delay: '300ms' });
      // Printing itself loads images that are put off; scripts that watch for what is seen are another matter.
      await pressroom.pdf({ html: html(`${gap}${gap}${watcher}<img data-src="${base}/square.svg">`), wait_delay: '300ms' });
      expect(asked()).to.not.include('/square.svg');
    });

    const watcher = `<script>
      onload = () => {
        const observer = new IntersectionObserver(entries => {
          for (const { isIntersecting, target } of entries) if (isIntersecting) { observer.unobserve(target); target.src = target.dataset.src }
        });
        for (const image of document.querySelectorAll('[data-src]')) observer.observe(image);
      };
    </script>`;
    const watched = (name: string) => `<img width="50" height="50" data-src="${base}/slow.svg?${name}" ${note(name)}>`;

    it('loads what scripts load when it comes into view, wherever that is on the page', async () => {
      const page = html(`${watcher}${gap}${watched('FIRST')}${gap}${watched('MIDDLE')}${gap}${watched('LAST')}`);
      expect(await pdfText(await lazy({ html: page })))
        .to.include('FIRST')
        .and.to.include('MIDDLE')
        .and.to.include('LAST');
    });

    it('loads it in boxes that scroll by themselves, and below smooth scrolling', async () => {
      const inner = `<div style="height:300px;overflow:auto">${gap}${watched('INNER')}</div>`;
      const page = html(`${watcher}${gap}${inner}${gap}${watched('OUTER')}`, '<style>* { scroll-behavior: smooth }</style>');
      expect(await pdfText(await lazy({ html: page })))
        .to.include('INNER')
        .and.to.include('OUTER');
    });

    it('loads it in shadow trees', async () => {
      const script = `const root = document.body.appendChild(document.createElement('div')).attachShadow({ mode: 'open' });
        root.innerHTML = '<img loading=lazy src="${base}/slow.svg">';
        root.firstChild.onload = () => document.body.append('SHADOW')`;
      expect(await pdfText(await lazy({ html: html(`${gap}${gap}<script>${script}</script>`) }))).to.include('SHADOW');
    });

    it('goes back to the top', async () => {
      const page = html(`<p>TOP</p>${gap}<script>addEventListener('scroll', () => { window.seen = true })</script>`);
      const pdf = await lazy({ html: page, wait_for_expression: 'window.seen && scrollY === 0' });
      expect((await pdfWords(pdf)).find(word => word.text === 'TOP')).to.include({ page: 1 });
    });

    it('ends on a page that grows without end', async () => {
      const grow =
        'addEventListener("scroll", () => document.body.append(Object.assign(document.createElement("div"), { style: "height:3000px" })))';
      const page = html(`<p>TOP</p>${gap}<script>${grow}</script>`, '<style>@media print { div { display: none } }</style>');
      expect(
        await pdfText(
          await lazy({
            html: page,
            emulate_media: 'screen',
            wait_for_expression: '!(document.querySelectorAll("div").forEach(d => d.remove()))',
          }),
        ),
      ).to.include('TOP');
    });

    it('does not wait for an image that never comes beyond its bound', async () => {
      const closed = await installation({
        intranet: true,
        env: { PRESSROOM_DNS_SERVERS: dns.address, PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port}`, PRESSROOM_RENDER_TIMEOUT: '45s' },
      });
      try {
        const script = 'onload = () => { document.body.append(new Image()); document.images[0].src = "/never.css" }';
        const page = html(`<base href="${base}/"><p>TOP</p><script>${script}</script>`);
        expect(await pdfText(await closed.pdf({ html: page, lazy_load_images: true }))).to.include('TOP');
      } finally {
        await closed.stop();
      }
    });
  });
});
