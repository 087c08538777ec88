// @proves css, javascript

import { expect } from 'chai';
import { type AdditionsFixture, additionsFixture, box } from '../../support/additions-fixture.ts';
import type { Installation } from '../../support/installation.ts';
import { pdfColour, pdfText } from '../../support/pdf.ts';
import type { WebServer } from '../../support/servers/web-server.ts';
import { startTogether } from '../../support/together.ts';

const RED = [255, 0, 0];
const GREEN = [0, 255, 0];
const BLUE = [0, 0, 255];

describe('css and javascript added to a page', () => {
  let fixture: AdditionsFixture;
  let pressroom: Installation;
  let shortTimeout: Installation;
  let web: WebServer;
  let victim: WebServer;
  let base: string;
  let other: string;

  before(async () => {
    fixture = await additionsFixture();
    shortTimeout = await fixture.shortTimeout();
    ({ pressroom, web, victim, base, other } = fixture);
  });
  after(() => fixture.close());
  beforeEach(() => {
    web.requests.length = 0;
  });
  afterEach(() => expect(victim.connections(), 'the victim was reached').to.equal(0));

  const text = async (body: object) => pdfText(await pressroom.pdf(body));
  const colour = async (body: object) =>
    pdfColour(await pressroom.pdf({ margin: { top: '0', left: '0' }, ...body }), 80, 80);
  const renderError = (body: object) => pressroom.renderError(body);

  const endless: [string, () => object, RegExp][] = [
    ['css that never loads', () => ({ css: `${base}/never.css` }), /css/],
    ['javascript that never loads', () => ({ javascript: `${base}/never.js` }), /javascript/],
    ['a promise that never settles', () => ({ javascript: 'new Promise(() => {})' }), /javascript/],
    [
      'a navigation in javascript that never completes',
      () => ({ javascript: 'location = "/never.css"' }),
      /javascript/,
    ],
  ];
  // They run beside the other tests, and are awaited last.
  const timedOut = startTogether(endless, ([, fields]) =>
    shortTimeout.renderError({ url: `${base}/`, ...fields() }),
  );

  describe('css', () => {
    const failures: [string, () => string, object, RegExp][] = [
      [
        'with status 404',
        () => `${other}/missing.css`,
        { status: 502, reason: 'page_status' },
        /`css`.*other\.example.*404/,
      ],
      [
        'with status 500',
        () => `${other}/broken.css`,
        { status: 502, reason: 'page_status' },
        /`css`.*500/,
      ],
      [
        'with type text/html',
        () => `${base}/page.css`,
        { status: 502, reason: 'page_status' },
        /`css`.*stylesheet/,
      ],
      [
        'with type text/plain',
        () => `${other}/plain.css`,
        { status: 502, reason: 'page_status' },
        /`css`.*text\/plain/,
      ],
      [
        'whose server closes the connection',
        () => `${other}/cut.css`,
        { status: 502, reason: 'page_unreachable' },
        /`css`.*other\.example/,
      ],
      ['with nosniff and no type', () => `${base}/unnamed.css`, { status: 502 }, /`css`.*style/],
      ['with a truncated body', () => `${base}/half.css`, { status: 502 }, /`css`.*shop\.example/],
      [
        'with an unknown host',
        () => 'http://nowhere.example/a.css',
        { status: 502, reason: 'page_unreachable' },
        /`css`.*does not resolve/,
      ],
      [
        'at a private address',
        () => `http://hidden.example:${victim.port}/`,
        { status: 422, code: 'ssrf_blocked' },
        /`css`/,
      ],
      [
        'that redirects to a private address',
        () => `${base}/hidden.css`,
        { status: 422, code: 'ssrf_blocked' },
        /`css`/,
      ],
    ];
    for (const [what, css, expected, message] of failures)
      for (const page of ['url', 'html'])
        it(`fails for a stylesheet ${what} on a page from ${page}`, async () => {
          const error = await renderError(
            page === 'url' ? { url: `${base}/`, css: css() } : { html: box(), css: css() },
          );
          expect(error).to.include(expected);
          expect(error.message).to.match(message);
        });

    it('overrides styles of equal specificity but not important or more specific ones', async () => {
      const page = (own: string) => ({
        html: box(`<style>${own}</style>`),
        css: '#box { background: lime }',
      });
      expect(await colour(page('#box { background: red }'))).to.deep.equal(GREEN);
      expect(await colour(page('#box { background: red !important }'))).to.deep.equal(RED);
      expect(await colour(page('body #box { background: red }'))).to.deep.equal(RED);
    });

    it('overrides style sheets that the page adopted by script', async () => {
      const script = `const s = new CSSStyleSheet(); s.replaceSync('#box { background: red }'); document.adoptedStyleSheets = [s]`;
      expect(
        await colour({
          html: box('', `<script>${script}</script>`),
          css: '#box { background: lime }',
        }),
      ).to.deep.equal(GREEN);
    });

    for (const path of ['/strict', '/meta'])
      it(`applies inline and by URL on a page whose CSP forbids styles (${path})`, async () => {
        expect(
          await colour({ url: `${base}${path}`, css: '#box { background: lime }' }),
        ).to.deep.equal(GREEN);
        expect(await colour({ url: `${base}${path}`, css: `${other}/green.css` })).to.deep.equal(
          GREEN,
        );
        expect(
          await colour({
            url: `${base}${path}`,
            css: `#box { background: url(${other}/square.svg) }`,
          }),
        ).to.deep.equal(BLUE);
        expect(
          await colour({
            url: `${base}${path}`,
            css: `@import "${other}/green.css"; p { color: red }`,
          }),
        ).to.deep.equal(GREEN);
      });

    it('keeps the CSP of the page in force when the css loads nothing', async () => {
      expect(
        await text({ url: `${base}/strict`, css: '#box { background: lime }' }),
      ).to.not.include('NEVER');
    });

    it('waits until a stylesheet by URL is applied', async () => {
      expect(await colour({ url: `${base}/`, css: `${base}/late.css` })).to.deep.equal(GREEN);
      expect(await colour({ html: box(), css: `${other}/hop.css` })).to.deep.equal(GREEN);
      expect(await colour({ url: `${base}/`, css: `${base}/untyped.css` })).to.deep.equal(GREEN);
    });

    it('ignores failed @import rules, inline and by URL', async () => {
      const imports = `@import "${other}/missing.css"; @import "http://hidden.example:${victim.port}/"; #box { background: lime }`;
      expect(await colour({ html: box(), css: imports })).to.deep.equal(GREEN);
      expect(await colour({ html: box(), css: `${other}/imports.css` })).to.deep.equal(GREEN);
      expect(await colour({ url: `${base}/`, css: `${base}/imports.css` })).to.deep.equal(GREEN);
    });

    it('applies the media rules of the emulated media', async () => {
      const css = '#box { background: red } @media screen { #box { background: lime } }';
      expect(await colour({ html: box(), css, emulate_media: 'screen' })).to.deep.equal(GREEN);
      expect(await colour({ html: box(), css })).to.deep.equal(RED);
    });

    it('is applied before javascript runs', async () => {
      const javascript =
        'document.getElementById("box").textContent = getComputedStyle(document.getElementById("box")).color';
      expect(
        await text({ html: box(), css: '#box { color: rgb(1, 2, 3) }', javascript }),
      ).to.include('rgb(1, 2, 3)');
    });

    it('styles an SVG document and accepts an empty document', async () => {
      expect(
        await colour({ url: `${base}/drawing.svg`, css: `${base}/drawing.css` }),
      ).to.deep.equal(GREEN);
      expect(await colour({ url: `${base}/drawing.svg`, css: 'rect { fill: red }' })).to.deep.equal(
        RED,
      );
      const empty = '<script>document.documentElement.remove()</script>';
      expect(
        await text({
          html: empty,
          css: `${base}/green.css`,
          javascript: `${base}/nothing.js`,
          lazy_load_images: true,
        }),
      ).to.not.include('BOX');
    });

    it('waits for the fonts of css and of javascript', async () => {
      const face = `@font-face { font-family: late; src: url(${other}/late.woff) } #box { font-family: late }`;
      const script = `const style = document.createElement('style'); style.textContent = ${JSON.stringify(face)}; document.head.append(style)`;
      // The first evaluation records the state; later ones do not change it.
      const seen =
        "(document.body.offsetHeight, (window.first ??= document.fonts.status) === 'loaded')";
      for (const added of [{ css: face }, { javascript: script }]) {
        fixture.fontsSent = 0;
        await pressroom.pdf({ html: box(), ...added, wait_for_expression: seen });
        expect(fixture.fontsSent).to.equal(1);
      }
    });

    it('accepts 180 kB of css', async () => {
      const css = `${'p { color: "\\"" }\n'.repeat(10_000)} #box { background: lime }`;
      expect(await colour({ html: box(), css })).to.deep.equal(GREEN);
    });
  });

  describe('javascript', () => {
    const failures: [string, string, RegExp][] = [
      [
        'throws',
        'document.body.append("x")\nthrow new TypeError("no such wheel")',
        /"TypeError: no such wheel"/,
      ],
      ['throws a string', 'throw "boom"', /"boom"/],
      ['throws undefined', 'throw undefined', /"undefined"/],
      ['throws null', 'throw null', /"null"/],
      [
        'rejects',
        'new Promise((_, reject) => setTimeout(reject, 20, new Error("too late")))',
        /"Error: too late"/,
      ],
      ['rejects with a number', 'Promise.reject(7)', /"7"/],
      ['awaits a rejection', 'await Promise.reject(new Error("no data"))', /"Error: no data"/],
      ['rejects after an await', '(async () => { await null; throw Error("late") })()', /: late"/],
      ['is not valid JavaScript', 'this is no script', /"SyntaxError: /],
      ['throws a very long message', 'throw new Error("x".repeat(100000))', /x…"\.$/],
    ];
    for (const [what, javascript, message] of failures)
      it(`fails with validation_error when the script ${what}`, async () => {
        const error = await renderError({ html: box(), javascript });
        expect(error).to.include({ status: 400, code: 'validation_error' });
        expect(error.message)
          .to.match(/`javascript`/)
          .and.to.match(message);
        expect(error.message.length).to.be.below(400);
      });

    const cases: [string, () => string, object, RegExp][] = [
      [
        'with status 404',
        () => `${base}/missing.js`,
        { status: 502, reason: 'page_status' },
        /`javascript`.*shop\.example.*404/,
      ],
      [
        'with status 404 on another site',
        () => `${other}/missing.js`,
        { status: 502, reason: 'page_status' },
        /`javascript`.*other\.example/,
      ],
      [
        'with type text/html',
        () => `${other}/page.js`,
        { status: 502, reason: 'page_status' },
        /`javascript`.*not a script/,
      ],
      [
        'with an unknown host',
        () => 'http://nowhere.example/a.js',
        { status: 502, reason: 'page_unreachable' },
        /`javascript`.*does not resolve/,
      ],
      [
        'at a private address',
        () => `http://hidden.example:${victim.port}/`,
        { status: 422, code: 'ssrf_blocked' },
        /`javascript`/,
      ],
      [
        'that redirects to a private address',
        () => `${base}/hidden.js`,
        { status: 422, code: 'ssrf_blocked' },
        /`javascript`/,
      ],
      [
        'that throws and has a fragment in its URL',
        () => `${other}/throws.js#now`,
        { status: 400, code: 'validation_error' },
        /"TypeError: no such wheel"/,
      ],
      [
        'that throws',
        () => `${other}/throws.js`,
        { status: 400, code: 'validation_error' },
        /`javascript`.*"TypeError: no such wheel"/,
      ],
      [
        'that throws after a redirect',
        () => `${base}/hop.js`,
        { status: 400, code: 'validation_error' },
        /"TypeError: no such wheel"/,
      ],
      [
        'that is not valid JavaScript',
        () => `${base}/wrong.js`,
        { status: 400, code: 'validation_error' },
        /"SyntaxError: /,
      ],
    ];
    for (const [what, javascript, expected, message] of cases)
      for (const page of ['url', 'html'])
        it(`fails for a script ${what} on a page from ${page}`, async () => {
          const error = await renderError(
            page === 'url'
              ? { url: `${base}/`, javascript: javascript() }
              : { html: box(), javascript: javascript() },
          );
          expect(error).to.include(expected);
          expect(error.message).to.match(message);
        });

    it('runs in the main world of the page after the load event', async () => {
      const page = box(
        '',
        '<script>let greeting = "HELLO"; onload = () => { greeting += " LOADED" }</script>',
      );
      expect(await text({ html: page, javascript: 'document.body.append(greeting)' })).to.include(
        'HELLO LOADED',
      );
    });

    it('awaits a returned promise', async () => {
      const javascript =
        'new Promise(resolve => setTimeout(resolve, 300)).then(() => { document.body.append("LATE") })';
      expect(await text({ html: box(), javascript })).to.include('LATE');
    });

    it('runs before the other waits', async () => {
      const javascript = 'setTimeout(() => { document.body.append("THEN"); window.done = 1 }, 200)';
      expect(
        await text({ html: box(), javascript, wait_for_expression: 'window.done' }),
      ).to.include('THEN');
    });

    it('runs inline and by URL on a page whose CSP forbids scripts', async () => {
      for (const path of ['/strict', '/meta']) {
        const inline = await text({
          url: `${base}${path}`,
          javascript: 'document.body.append("INLINE"); eval("1")',
        });
        expect(inline).to.include('INLINE').and.not.include('NEVER');
        expect(await text({ url: `${base}${path}`, javascript: `${other}/writes.js` })).to.include(
          'WRITTEN BY',
        );
      }
    });

    it('sets document.currentScript for a script by URL', async () => {
      expect(
        (await text({ html: box(), javascript: `${other}/writes.js` })).replace(/\s/g, ''),
      ).to.include(`WRITTENBY${other}/writes.js`);
    });

    it('ignores errors of the page and errors after the script has finished', async () => {
      expect(await text({ url: `${base}/throwing`, javascript: `${other}/writes.js` })).to.include(
        'WRITTEN',
      );
      expect(await text({ url: `${base}/throwing`, javascript: `${other}/later.js` })).to.include(
        'STARTED',
      );
    });

    const navigations: [string, string][] = [
      ['immediately', 'location = "/next"'],
      ['while its promise is pending', 'location = "/next"; new Promise(() => {})'],
      [
        'later while its promise is pending',
        'setTimeout(() => { location = "/next" }, 100); new Promise(() => {})',
      ],
      [
        'by submitting a form',
        'const f = document.createElement("form"); f.action = "/next"; document.body.append(f); f.submit()',
      ],
    ];
    for (const [how, javascript] of navigations)
      it(`prints the loaded target when the script navigates ${how}`, async () => {
        expect(await text({ url: `${base}/`, javascript }))
          .to.include('NEXT')
          .and.to.include('LOADED')
          .and.not.include('BOX');
      });

    it('prints the target when a script by URL navigates and runs the script once', async () => {
      expect(await text({ url: `${base}/`, javascript: `${base}/moves.js` }))
        .to.include('NEXT')
        .and.to.include('LOADED');
      expect(web.requests.filter(({ url }) => url === '/moves.js')).to.have.lengthOf(1);
    });

    it('applies css to the target of a navigation', async () => {
      expect(
        await colour({
          url: `${base}/`,
          css: '#box { background: lime }',
          javascript: 'location = "/next"',
        }),
      ).to.deep.equal(GREEN);
    });

    it('follows a navigation from an HTML document and ignores fragments and mailto links', async () => {
      expect(await text({ html: box(), javascript: `location = "${base}/next"` })).to.include(
        'LOADED',
      );
      expect(
        await text({
          html: box(),
          javascript: 'location = "#here"; location = "mailto:a@b.example"',
        }),
      ).to.include('BOX');
    });

    it('prints the current page when a navigation returns 204', async () => {
      expect(await text({ url: `${base}/`, javascript: 'location = "/nothing"' })).to.include(
        'BOX',
      );
    });

    it('fails with ssrf_blocked when the script navigates to a private address', async () => {
      const error = await renderError({
        html: box(),
        javascript: `location = "http://hidden.example:${victim.port}/"`,
      });
      expect(error).to.include({ status: 422, code: 'ssrf_blocked' });
    });
  });

  describe('that never end', () => {
    for (const row of endless)
      it(`names the field in the timeout error for ${row[0]}`, async () => {
        const error = await timedOut(row);
        expect(error).to.include({ status: 502, reason: 'page_timeout' });
        expect(error.message).to.match(row[2]);
      });
  });
});
