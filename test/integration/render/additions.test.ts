// @proves css, javascript

import { expect } from 'chai';
import { type AdditionsFixture, additionsFixture, box } from '../../support/additions-fixture.ts';
import type { Installation } from '../../support/installation.ts';
import { pdfColour, pdfText } from '../../support/pdf.ts';
import type { WebServer } from '../../support/servers/web-server.ts';

const RED = [255, 0, 0];
const GREEN = [0, 255, 0];
const BLUE = [0, 0, 255];

describe('what is added to a page', () => {
  let fixture: AdditionsFixture;
  let pressroom: Installation;
  let hasty: Installation;
  let web: WebServer;
  let victim: WebServer;
  let base: string;
  let other: string;

  before(async () => {
    fixture = await additionsFixture();
    hasty = await fixture.shortTimeout();
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
  const refusal = (body: object) => pressroom.renderError(body);

  const endless: [string, () => object, RegExp][] = [
    ['css that never comes', () => ({ css: `${base}/never.css` }), /css/],
    ['javascript that never comes', () => ({ javascript: `${base}/never.js` }), /javascript/],
    [
      'a promise of javascript that never settles',
      () => ({ javascript: 'new Promise(() => {})' }),
      /javascript/,
    ],
    [
      'a move of javascript that never arrives',
      () => ({ javascript: 'location = "/never.css"' }),
      /javascript/,
    ],
  ];
  for (const [what, fields, message] of endless)
    it(`says what it was waiting for, with ${what}`, async () => {
      const error = await hasty.renderError({ url: `${base}/`, ...fields() });
      expect(error).to.include({ status: 502, reason: 'page_timeout' });
      expect(error.message).to.match(message);
    });

  describe('by css', () => {
    const failures: [string, () => string, object, RegExp][] = [
      [
        'that is not there',
        () => `${other}/missing.css`,
        { status: 502, reason: 'page_status' },
        /`css`.*other\.example.*404/,
      ],
      [
        'whose server fails',
        () => `${other}/broken.css`,
        { status: 502, reason: 'page_status' },
        /`css`.*500/,
      ],
      [
        'that is a page',
        () => `${base}/page.css`,
        { status: 502, reason: 'page_status' },
        /`css`.*style sheet/,
      ],
      [
        'that is plain text',
        () => `${other}/plain.css`,
        { status: 502, reason: 'page_status' },
        /`css`.*text\/plain/,
      ],
      [
        'whose server hangs up',
        () => `${other}/cut.css`,
        { status: 502, reason: 'page_unreachable' },
        /`css`.*other\.example/,
      ],
      [
        'of no type, not to be guessed',
        () => `${base}/unnamed.css`,
        { status: 502 },
        /`css`.*style sheet/,
      ],
      ['that breaks off', () => `${base}/half.css`, { status: 502 }, /`css`.*shop\.example/],
      [
        'whose host is none',
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
        it(`fails for a sheet ${what}, on a page by ${page}`, async () => {
          const error = await refusal(
            page === 'url' ? { url: `${base}/`, css: css() } : { html: box(), css: css() },
          );
          expect(error).to.include(expected);
          expect(error.message).to.match(message);
        });

    it('wins over the page’s own styles by order, and loses to what is important there', async () => {
      const page = (own: string) => ({
        html: box(`<style>${own}</style>`),
        css: '#box { background: lime }',
      });
      expect(await colour(page('#box { background: red }'))).to.deep.equal(GREEN);
      expect(await colour(page('#box { background: red !important }'))).to.deep.equal(RED);
      expect(await colour(page('body #box { background: red }'))).to.deep.equal(RED);
    });

    it('comes after sheets that the page has made by script', async () => {
      const script = `const s = new CSSStyleSheet(); s.replaceSync('#box { background: red }'); document.adoptedStyleSheets = [s]`;
      expect(
        await colour({
          html: box('', `<script>${script}</script>`),
          css: '#box { background: lime }',
        }),
      ).to.deep.equal(GREEN);
    });

    for (const path of ['/strict', '/meta'])
      it(`styles a page whose policy forbids it (${path}), inline and from an address`, async () => {
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

    it('leaves the page’s policy as it is when it loads nothing', async () => {
      expect(
        await text({ url: `${base}/strict`, css: '#box { background: lime }' }),
      ).to.not.include('NEVER');
    });

    it('waits until a sheet from an address is applied', async () => {
      expect(await colour({ url: `${base}/`, css: `${base}/late.css` })).to.deep.equal(GREEN);
      expect(await colour({ html: box(), css: `${other}/hop.css` })).to.deep.equal(GREEN);
      expect(await colour({ url: `${base}/`, css: `${base}/untyped.css` })).to.deep.equal(GREEN);
    });

    it('applies without the `@import` rules that fail, inline and from an address', async () => {
      const imports = `@import "${other}/missing.css"; @import "http://hidden.example:${victim.port}/"; #box { background: lime }`;
      expect(await colour({ html: box(), css: imports })).to.deep.equal(GREEN);
      expect(await colour({ html: box(), css: `${other}/imports.css` })).to.deep.equal(GREEN);
      expect(await colour({ url: `${base}/`, css: `${base}/imports.css` })).to.deep.equal(GREEN);
    });

    it('styles the screen or the print, as the render says', async () => {
      const css = '#box { background: red } @media screen { #box { background: lime } }';
      expect(await colour({ html: box(), css, emulate_media: 'screen' })).to.deep.equal(GREEN);
      expect(await colour({ html: box(), css })).to.deep.equal(RED);
    });

    it('is there before the javascript runs', async () => {
      const javascript =
        'document.getElementById("box").textContent = getComputedStyle(document.getElementById("box")).color';
      expect(
        await text({ html: box(), css: '#box { color: rgb(1, 2, 3) }', javascript }),
      ).to.include('rgb(1, 2, 3)');
    });

    it('styles a document that is a drawing, and gets along with one that is empty', async () => {
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

    it('is waited for with its fonts, and so is a script with those that it brings', async () => {
      const face = `@font-face { font-family: late; src: url(${other}/late.woff) } #box { font-family: late }`;
      const script = `const style = document.createElement('style'); style.textContent = ${JSON.stringify(face)}; document.head.append(style)`;
      // What the next step sees first is what it stays with.
      const seen =
        "(document.body.offsetHeight, (window.first ??= document.fonts.status) === 'loaded')";
      for (const added of [{ css: face }, { javascript: script }]) {
        fixture.fontsSent = 0;
        await pressroom.pdf({ html: box(), ...added, wait_for_expression: seen });
        expect(fixture.fontsSent).to.equal(1);
      }
    });

    it('may be long', async () => {
      const css = `${'p { color: "\\"" }\n'.repeat(10_000)} #box { background: lime }`;
      expect(await colour({ html: box(), css })).to.deep.equal(GREEN);
    });
  });

  describe('by javascript', () => {
    const failures: [string, string, RegExp][] = [
      [
        'throws',
        'document.body.append("x")\nthrow new TypeError("no such wheel")',
        /"TypeError: no such wheel"/,
      ],
      ['throws a text', 'throw "boom"', /"boom"/],
      ['throws nothing', 'throw undefined', /"undefined"/],
      ['throws a null', 'throw null', /"null"/],
      [
        'rejects',
        'new Promise((_, reject) => setTimeout(reject, 20, new Error("too late")))',
        /"Error: too late"/,
      ],
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
      [
        'that is not there',
        () => `${base}/missing.js`,
        { status: 502, reason: 'page_status' },
        /`javascript`.*shop\.example.*404/,
      ],
      [
        'that another site does not have',
        () => `${other}/missing.js`,
        { status: 502, reason: 'page_status' },
        /`javascript`.*other\.example/,
      ],
      [
        'that is a page',
        () => `${other}/page.js`,
        { status: 502, reason: 'page_status' },
        /`javascript`.*not a script/,
      ],
      [
        'whose host is none',
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
        'that throws, named with a fragment',
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
        'that is no script',
        () => `${base}/wrong.js`,
        { status: 400, code: 'validation_error' },
        /"SyntaxError: /,
      ],
    ];
    for (const [what, javascript, expected, message] of loads)
      for (const page of ['url', 'html'])
        it(`fails for a script ${what}, on a page by ${page}`, async () => {
          const error = await refusal(
            page === 'url'
              ? { url: `${base}/`, javascript: javascript() }
              : { html: box(), javascript: javascript() },
          );
          expect(error).to.include(expected);
          expect(error.message).to.match(message);
        });

    it('runs in the page’s own world, after its load event', async () => {
      const page = box(
        '',
        '<script>let greeting = "HELLO"; onload = () => { greeting += " LOADED" }</script>',
      );
      expect(await text({ html: page, javascript: 'document.body.append(greeting)' })).to.include(
        'HELLO LOADED',
      );
    });

    it('is awaited when it gives a promise', async () => {
      const javascript =
        'new Promise(resolve => setTimeout(resolve, 300)).then(() => { document.body.append("LATE") })';
      expect(await text({ html: box(), javascript })).to.include('LATE');
    });

    it('comes before the other waits', async () => {
      const javascript = 'setTimeout(() => { document.body.append("THEN"); window.done = 1 }, 200)';
      expect(
        await text({ html: box(), javascript, wait_for_expression: 'window.done' }),
      ).to.include('THEN');
    });

    it('runs on a page whose policy forbids it, inline and from an address', async () => {
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

    it('runs from an address as a script of the page that knows where it comes from', async () => {
      expect(
        (await text({ html: box(), javascript: `${other}/writes.js` })).replace(/\s/g, ''),
      ).to.include(`WRITTENBY${other}/writes.js`);
    });

    it('is not blamed for what the page throws, nor for what it leaves to run later', async () => {
      expect(await text({ url: `${base}/throwing`, javascript: `${other}/writes.js` })).to.include(
        'WRITTEN',
      );
      expect(await text({ url: `${base}/throwing`, javascript: `${other}/later.js` })).to.include(
        'STARTED',
      );
    });

    const moves: [string, string][] = [
      ['at once', 'location = "/next"'],
      ['while a promise of it is open', 'location = "/next"; new Promise(() => {})'],
      [
        'after a while, with its promise open',
        'setTimeout(() => { location = "/next" }, 100); new Promise(() => {})',
      ],
      [
        'by a form',
        'const f = document.createElement("form"); f.action = "/next"; document.body.append(f); f.submit()',
      ],
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
      expect(
        await colour({
          url: `${base}/`,
          css: '#box { background: lime }',
          javascript: 'location = "/next"',
        }),
      ).to.deep.equal(GREEN);
    });

    it('prints an html document’s next page too, and stays where a move leads nowhere', async () => {
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

    it('prints the page as it is when it moves to an empty answer', async () => {
      expect(await text({ url: `${base}/`, javascript: 'location = "/nothing"' })).to.include(
        'BOX',
      );
    });

    it('is ssrf_blocked when it moves the page to a private address', async () => {
      const error = await refusal({
        html: box(),
        javascript: `location = "http://hidden.example:${victim.port}/"`,
      });
      expect(error).to.include({ status: 422, code: 'ssrf_blocked' });
    });
  });
});
