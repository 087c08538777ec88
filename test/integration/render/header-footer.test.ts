// @proves header, header.html, header.height, footer, footer.html, footer.height
// Header and footer on real PDFs: position, page numbers, and that they run no scripts, load
// nothing and never cover the content.
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { html, type Installation, installation } from '../../support/installation.ts';
import { pdfColour, pdfFonts, pdfInfo, pdfText, pdfWords, type Word } from '../../support/pdf.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';
import { skip } from '../../support/skip.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
/** A small font. Without it, DejaVu Sans has these characters. */
const OGHAM = '/usr/share/fonts/truetype/noto/NotoSansOgham-Regular.ttf';
const MARGIN = { top: '30mm', right: '20mm', bottom: '25mm', left: '15mm' };
const page = (body: string, css = '') => html(body, `<style>body{margin:0}${css}</style>`);
const pages = (count: number) =>
  page(
    Array.from({ length: count }, (_, n) => `<div>CONTENT${n + 1}</div>`).join(
      '<div style="break-after:page"></div>',
    ),
  );

describe('header and footer', () => {
  let pressroom: Installation;
  let web: WebServer;
  before(async () => {
    web = await startWebServer({
      '/dot.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
      '/slow.svg': (_, response) =>
        void setTimeout(
          () =>
            response
              .writeHead(200, { 'content-type': 'image/svg+xml' })
              .end('<svg xmlns="http://www.w3.org/2000/svg" width="77" height="7"/>'),
          500,
        ),
    });
    const allowed = {
      PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port}`,
      PRESSROOM_EGRESS_PORTS: `80,${web.port}`,
    };
    pressroom = await installation({ env: allowed, intranet: true });
  });
  after(async () => {
    await pressroom?.stop();
    await web?.close();
  });

  const print = (request: object) =>
    pressroom.pdf({ html: page('CONTENT'), margin: MARGIN, ...request });
  const header = (text: string, more: object = {}) => print({ header: { html: text }, ...more });
  const wordsOf = async (pdf: Promise<Buffer>) => pdfWords(await pdf);
  const find = (words: Word[], word: string) => words.find(({ text }) => text === word)!;
  const flat = async (pdf: Buffer) => (await pdfText(pdf)).replace(/\s+/g, ' ').trim();

  describe('position', () => {
    it('places header and footer in the margins and does not move the content', async () => {
      const words = await wordsOf(print({ header: { html: 'HEAD' }, footer: { html: 'FOOT' } }));
      expect(find(words, 'HEAD').xMm).to.be.closeTo(15, 0.5);
      expect(find(words, 'HEAD').yMm).to.be.within(10, 18); // in the middle of 30 mm
      expect(find(words, 'FOOT').xMm).to.be.closeTo(15, 0.5);
      expect(find(words, 'FOOT').yMm).to.be.within(272 + 8, 272 + 14); // in the middle of 25 mm
      expect(find(words, 'CONTENT').yMm).to.be.closeTo(30, 1);
    });
    it('aligns text to the right margin', async () => {
      const [word] = await wordsOf(header('<div style="text-align:right">END</div>'));
      expect(word!.xMm).to.be.within(170, 190);
    });
    it('enlarges the margin to the requested height', async () => {
      const words = await wordsOf(
        print({
          header: { html: 'HEAD', height: '50mm' },
          footer: { html: 'FOOT', height: '10mm' },
        }),
      );
      expect(find(words, 'CONTENT').yMm).to.be.closeTo(50, 1);
      expect(find(words, 'HEAD').yMm).to.be.within(20, 28);
    });
    it('places the header in the default margin', async () => {
      const words = await wordsOf(
        pressroom.pdf({ html: page('CONTENT'), header: { html: 'HEAD' } }),
      );
      expect(find(words, 'HEAD').yMm).to.be.within(2, 6);
      expect(find(words, 'HEAD').xMm).to.be.closeTo(10.16, 0.5);
      expect(find(words, 'CONTENT').yMm).to.be.closeTo(10.16, 1.5);
    });
    it('keeps the margins when @page rules set none', async () => {
      for (const own of [
        page('CONTENT', '@page{margin:0}'),
        page('<script>1</script>CONTENT', '@page{margin:0!important}'),
      ]) {
        const words = await wordsOf(print({ html: own, header: { html: 'HEAD' } }));
        expect(find(words, 'CONTENT').yMm).to.be.closeTo(30, 1);
        expect(find(words, 'CONTENT').xMm).to.be.closeTo(15, 0.5);
      }
    });
    it('draws the footer on every page of a landscape sheet', async () => {
      const pdf = await print({
        html: pages(3),
        landscape: true,
        format: 'A5',
        footer: { html: 'FOOT' },
      });
      const feet = (await pdfWords(pdf)).filter(({ text }) => text === 'FOOT');
      expect(feet.map(each => each.page)).to.deep.equal([1, 2, 3]);
      for (const { yMm } of feet) expect(yMm).to.be.within(148 - 25, 148);
    });
    for (const edge of ['header', 'footer'] as const)
      it(`draws only the ${edge} when only a ${edge} is set`, async () => {
        expect(await flat(await print({ [edge]: { html: 'ALONE' } }))).to.match(
          /^(ALONE CONTENT|CONTENT ALONE)$/,
        );
      });
    it('draws nothing when only a height is set', async () => {
      expect(await flat(await print({ header: { height: '50mm' } }))).to.equal('CONTENT');
    });
  });

  describe('appearance', () => {
    const blue = '<div style="height:100%;background:#00f"></div>';
    it('has a default font size of 10 px at any scale', async () => {
      const width = async (scale: number) => {
        const words = await wordsOf(
          header(
            '<span>|</span><span style="display:inline-block;width:10em"></span><span>END</span>',
            { scale },
          ),
        );
        return find(words, 'END').xMm - find(words, '|').xMm;
      };
      const plain = await width(1);
      expect(plain).to.be.closeTo((100 / 96) * 25.4, 2);
      expect(await width(0.5)).to.be.closeTo(plain, 0.2);
      expect(await width(2)).to.be.closeTo(plain, 0.2);
    });
    const fonts = async (pdf: Promise<Buffer>) =>
      new Set((await pdfFonts(await pdf)).map(({ name }) => name.replace(/^[A-Z]+\+/, '')));

    it('has an embedded font, if the page uses the same one', async function () {
      if (!existsSync(OGHAM)) skip(this, 'the package fonts-noto-core is not installed');
      const url = `data:font/ttf;base64,${readFileSync(OGHAM, 'base64')}`;
      const text = `<style>@font-face { font-family: Own; src: url(${url}) }</style><p style="font-family: Own">ᚁᚂᚃ</p>`;
      expect(await fonts(header(text, { html: page(text) }))).to.deep.equal(
        new Set(['NotoSansOgham-Regular']),
      );
    });

    it('has the default font of a page, unless the template sets one', async () => {
      const plain = await fonts(print({}));
      expect(plain.size).to.equal(1);
      expect(await fonts(header('HEAD', { footer: { html: 'FOOT' } }))).to.deep.equal(plain);
      const other = await fonts(header('<p style="font-family:sans-serif">HEAD</p>'));
      expect(other).to.have.property('size', 2);
    });
    it('fills the margin with a background of full height', async () => {
      const pdf = await header(blue);
      for (const [x, y] of [
        [16, 1],
        [189, 29],
      ] as const)
        expect(await pdfColour(pdf, x, y), `${x}, ${y}`).to.deep.equal([0, 0, 255]);
      for (const [x, y] of [
        [14, 15],
        [191, 15],
        [100, 31],
      ] as const)
        expect(await pdfColour(pdf, x, y), `${x}, ${y}`).to.deep.equal([255, 255, 255]);
    });
    it('draws no background when print_background is false', async () => {
      expect(
        await pdfColour(await header(blue, { print_background: false }), 100, 15),
      ).to.deep.equal([255, 255, 255]);
    });
    it('draws images from data URLs', async () => {
      const pdf = await header(
        `<img style="width:50mm;height:20mm" src="data:image/png;base64,${PNG}">`,
      );
      expect(await pdfColour(pdf, 30, 15)).to.not.deep.equal([255, 255, 255]);
    });
    it('clips content that is taller than the margin', async () => {
      const white = page('<div style="height:200mm;background:#0f0">CONTENT</div>');
      for (const tall of [
        '<div style="height:200mm;background:#00f">',
        '<div style="position:fixed;inset:0;height:200mm;background:#00f">',
        '<style>body,div{position:absolute;top:0;left:0;width:1000px;height:5000px;background:#00f}</style><div>',
      ]) {
        const pdf = await print({ html: white, header: { html: tall } });
        expect(await pdfColour(pdf, 100, 29), tall).to.deep.equal([0, 0, 255]);
        expect(await pdfColour(pdf, 100, 31), tall).to.deep.equal([0, 255, 0]);
      }
    });
    it('tolerates unclosed and surplus tags', async () => {
      for (const broken of [
        'HEAD<div><b',
        '</div></div></body>HEAD',
        '<table><tr>HEAD',
        'HEAD<!--',
        'HEAD<textarea>',
      ]) {
        const words = await wordsOf(print({ header: { html: broken }, footer: { html: 'FOOT' } }));
        expect(find(words, 'HEAD').xMm, broken).to.be.closeTo(15, 0.5);
        expect(find(words, 'FOOT').yMm, broken).to.be.greaterThan(272);
      }
    });
    it('draws Japanese and Arabic text', async () => {
      expect(await flat(await header('日本語 مرحبا'))).to.include('日本語');
    });
  });

  describe('page numbers', () => {
    const numbers = { header: { html: 'NR {{page}} OF {{ total }}' } };
    const counted = async (request: object) => [
      ...(await flat(await print({ ...numbers, ...request }))).matchAll(/NR (\d+) OF (\d+)/g),
    ];
    it('replaces {{page}} and {{total}}', async () => {
      const found = await counted({ html: pages(3) });
      expect(found.map(([text]) => text)).to.deep.equal(['NR 1 OF 3', 'NR 2 OF 3', 'NR 3 OF 3']);
    });
    it('supports the CSS classes of Chrome', async () => {
      const own = {
        header: { html: 'NR <i class="x pageNumber"></i> OF <b class="totalPages"></b>' },
      };
      expect((await counted({ html: pages(2), ...own })).map(([text]) => text)).to.deep.equal([
        'NR 1 OF 2',
        'NR 2 OF 2',
      ]);
    });
    it('counts pages of the whole document when a page range is set', async () => {
      const found = await counted({ html: pages(5), pages: '2,4-' });
      expect(found.map(([text]) => text)).to.deep.equal(['NR 2 OF 5', 'NR 4 OF 5', 'NR 5 OF 5']);
    });
    it('numbers each of 300 pages', async () => {
      const found = await counted({ html: pages(300) });
      expect(found.map(([, nr]) => Number(nr))).to.deep.equal(
        Array.from({ length: 300 }, (_, n) => n + 1),
      );
      expect(new Set(found.map(([, , total]) => total))).to.deep.equal(new Set(['300']));
    });
  });

  describe('scripts and resources', () => {
    const hostile: Record<string, (base: string) => string> = {
      'a stylesheet': base =>
        `<link rel="stylesheet" href="${base}/x.css"><link rel="alternate stylesheet" title="x" href="${base}/x.css">`,
      'other links': base =>
        ['preload', 'prefetch', 'modulepreload', 'icon', 'preconnect']
          .map(rel => `<link rel="${rel}" as="image" href="${base}/x">`)
          .join(''),
      '@import': base =>
        `<style>@import "${base}/x.css"; @\\69mport u\\72l(${base}/x.css);</style><svg width=9 height=9><style>&#64;import "${base}/x.css";</style></svg>`,
      'a background': base =>
        `<div style="background:u\\72l(${base}/x.png)">.</div><style>p{background:u\\72l('${base}/x.png')}</style><p>.</p>`,
      'a font': base =>
        `<style>@font-face{font-family:F;src:url(${base}/x.woff)} b{font-family:F}</style><b>.</b>`,
      'masks and fills': base =>
        `<b style="clip-path:u\\72l(${base}/x.svg#a)">.</b><svg width=9 height=9><rect fill="u\\72l(${base}/x.svg#a)" width="9" height="9"/><use href="${base}/x.svg#a"/></svg>`,
      'an image set': base =>
        `<b style="background:image-set('${base}/x' 1x)">.</b><style>p{background:image-set('${base}/y' 1x)}</style><p>.</p>`,
      'an animated image': base =>
        `<svg width=9 height=9><image width=9 height=9><set attributeName="href" to="${base}/x"/></image><image width=9 height=9><animate attributeName="href" values="${base}/y;${base}/z" dur="9s"/></image></svg>`,
      'a frame': base =>
        `<iframe src="${base}/x"></iframe><object data="${base}/x">.</object><embed src="${base}/x">`,
      'a video': base =>
        `<video src="${base}/x" poster="${base}/y" autoplay></video><audio src="${base}/z" autoplay></audio>`,
      'a script': base =>
        `<script>document.body.append('RAN')</script><script src="${base}/x.js"></script><svg width=9 height=9 onload="document.body.append('RAN')"><script>document.body.append('RAN')</script></svg><details open ontoggle="document.body.append('RAN')">.</details>`,
      'a refresh': base =>
        `<meta http-equiv="refresh" content="0;url=${base}/x"><base href="${base}/">`,
    };
    it('detects requests of the page itself', async () => {
      const before = web.requests.length;
      await print({ html: page(`<img src="http://127.0.0.1:${web.port}/dot.svg">CONTENT`) });
      expect(web.requests.length).to.be.greaterThan(before);
    });
    it('rejects images that would have to be loaded', async () => {
      for (const field of ['header', 'footer']) {
        const error = await pressroom.renderError({
          html: page('CONTENT'),
          [field]: { html: '<img src="https://example.com/logo.png">' },
        });
        expect(error).to.include({ status: 400, code: 'validation_error' });
        expect(error.message).to.equal(
          `\`${field}.html\` must not load the image "https://example.com/logo.png": nothing is loaded here. Embed it as a \`data:\` URL.`,
        );
      }
    });
    for (const [what, source] of Object.entries(hostile))
      it(`blocks ${what} in header and footer`, async () => {
        const before = web.connections();
        const bad = source(`http://127.0.0.1:${web.port}`);
        const text = await flat(
          await print({ header: { html: `HEAD ${bad} TAIL` }, footer: { html: `FOOT ${bad}` } }),
        );
        expect(text)
          .to.include('HEAD')
          .and.to.include('TAIL')
          .and.to.include('FOOT')
          .and.to.include('CONTENT');
        expect(text).to.not.include('RAN');
        expect(web.connections()).to.equal(before);
      });
  });

  it('does not end the wait for the images of the page', async () => {
    const image = `<img src="http://127.0.0.1:${web.port}/slow.svg">`;
    const text = await flat(
      await print({
        html: page(image),
        header: { html: 'HEAD' },
        javascript: 'document.body.append("WIDTH " + document.images[0].naturalWidth)',
      }),
    );
    expect(text).to.include('WIDTH 77');
  });
  it('does not change the number of pages', async () => {
    expect(
      (
        await pdfInfo(
          await print({
            html: pages(4),
            header: { html: '<p style="break-after:page">x</p>y', height: '10mm' },
          }),
        )
      ).pages,
    ).to.equal(4);
  });
});
