// @proves format, paper_width, paper_height, landscape, margin.top, margin.right, margin.bottom
// @proves margin.left, single_page, pages, print_background, scale, zoom, emulate_media
// @proves output_limit

import { expect } from 'chai';
import { invoice } from '../../../bench/invoice.ts';
import { html, type Installation, installation } from '../../support/installation.ts';
import { pdfColour, pdfFonts, pdfInfo, pdfPixels, pdfText, pdfWords } from '../../support/pdf.ts';

const HALF_MM = 0.5;

describe('render options', () => {
  let pressroom: Installation;
  before(async () => {
    pressroom = await installation();
  });
  after(() => pressroom.stop());

  const print = (body: object) => pressroom.pdf(body);
  const renderError = (body: object) => pressroom.renderError(body);

  describe('size', () => {
    const sizes: [object, number, number][] = [
      [{}, 210, 297],
      [{ format: 'a3' }, 297, 420],
      [{ format: 'A0' }, 841, 1189],
      [{ format: 'A6' }, 105, 148],
      [{ format: 'Letter' }, 215.9, 279.4],
      [{ format: 'LEGAL' }, 215.9, 355.6],
      [{ format: 'Tabloid' }, 279.4, 431.8],
      [{ format: 'Ledger' }, 431.8, 279.4],
      [{ format: '100mmx200mm' }, 100, 200],
      [{ format: '4x6' }, 101.6, 152.4],
      [{ format: '10cmx5in' }, 100, 127],
      [{ format: '384pxx576pt' }, 101.6, 203.2],
      [{ format: 'A4', landscape: true }, 297, 210],
      [{ format: 'Ledger', landscape: true }, 279.4, 431.8],
      [{ format: '100mmx200mm', landscape: true }, 200, 100],
      [{ paper_width: '5', paper_height: '7in' }, 127, 177.8],
      [{ format: 'A0', paper_width: '90mm', paper_height: '50mm' }, 90, 50],
    ];
    for (const [options, width, height] of sizes)
      it(`is ${width} by ${height} mm for ${JSON.stringify(options)}`, async () => {
        const info = await pdfInfo(await print({ html: html('x'), ...options }));
        expect(info.widthMm).to.be.closeTo(width, HALF_MM);
        expect(info.heightMm).to.be.closeTo(height, HALF_MM);
        expect(info.pages).to.equal(1);
      });

    it('ignores @page size', async () => {
      const info = await pdfInfo(
        await print({ html: html('x', '<style>@page { size: 50mm 50mm }</style>') }),
      );
      expect(info.widthMm).to.be.closeTo(210, HALF_MM);
    });
  });

  describe('margins', () => {
    const wordWith = async (options: object) =>
      (
        await pdfWords(
          await print({
            html: html(
              '<span style="font:10px/1 monospace">corner</span>',
              '<style>body{margin:0}</style>',
            ),
            ...options,
          }),
        )
      )[0]!;

    it('default to 0.4 in on each side', async () => {
      const word = await wordWith({});
      expect(word.xMm).to.be.closeTo(10.16, HALF_MM);
      expect(word.yMm).to.be.closeTo(10.16, 1.5);
    });
    it('treat a bare number as inches', async () => {
      const word = await wordWith({ margin: { left: '30mm', top: '2' } });
      expect(word.xMm).to.be.closeTo(30, HALF_MM);
      expect(word.yMm).to.be.closeTo(50.8, 2);
    });
    for (const margin of [{ top: '0', left: '0' }, { top: 0, left: 0 }, '0', 0])
      it(`can be zero (${JSON.stringify(margin)})`, async () => {
        const word = await wordWith({ margin });
        expect(word.xMm).to.be.closeTo(0, HALF_MM);
        expect(word.yMm).to.be.closeTo(0, 2);
      });
    it('can be one length for all sides', async () => {
      const pdf = await print({
        html: html(
          '<p style="margin:0;text-align:right;font:10px/1 monospace">a</p>',
          '<style>body{margin:0}p{height:100vh}</style>',
        ),
        margin: '30mm',
      });
      const word = (await pdfWords(pdf))[0]!;
      expect(word.yMm).to.be.closeTo(30, 1.5);
      expect(word.xMm).to.be.closeTo(180, 3);
      expect(await pdfInfo(pdf)).to.include({ pages: 1 });
    });
  });

  describe('appearance', () => {
    const red = html('', '<style>html{background:#f00}</style>');
    it('prints backgrounds by default', async () => {
      expect(await pdfColour(await print({ html: red }), 100, 100)).to.deep.equal([255, 0, 0]);
    });
    it('prints no backgrounds when print_background is false', async () => {
      expect(
        await pdfColour(await print({ html: red, print_background: false }), 100, 100),
      ).to.deep.equal([255, 255, 255]);
    });

    const media = html(
      '<p class="p">PRINT</p><p class="s">SCREEN</p>',
      '<style>@media screen{.p{display:none}}@media print{.s{display:none}}</style>',
    );
    it('emulates print media by default', async () => {
      expect((await pdfText(await print({ html: media }))).trim()).to.equal('PRINT');
    });
    it('emulates screen media on request', async () => {
      expect(
        (await pdfText(await print({ html: media, emulate_media: 'screen' }))).trim(),
      ).to.equal('SCREEN');
    });
    it('emulates the media before the first script runs', async () => {
      const page = html(
        '<script>document.write(matchMedia("print").matches ? "IS-PRINT" : "IS-SCREEN")</script>',
      );
      expect(await pdfText(await print({ html: page }))).to.include('IS-PRINT');
      expect(await pdfText(await print({ html: page, emulate_media: 'screen' }))).to.include(
        'IS-SCREEN',
      );
    });

    const ruler = html(
      '<div style="width:100mm;display:inline-block"></div><span>end</span>',
      '<style>body{margin:0;white-space:nowrap}</style>',
    );
    const end = async (options: object) =>
      (await pdfWords(await print({ html: ruler, margin: { left: '0' }, ...options })))[0]!.xMm;
    it('applies scale, or zoom when scale is not set', async () => {
      const whole = await end({});
      expect(await end({ scale: 0.5 })).to.be.closeTo(whole / 2, 1);
      expect(await end({ zoom: 0.5 })).to.be.closeTo(whole / 2, 1);
      expect(await end({ scale: 1, zoom: 0.5 })).to.be.closeTo(whole, 1);
    });

    it('applies scale to right-to-left documents', async () => {
      for (const html of [
        '<!doctype html><html dir="rtl">RIGHT',
        '<!doctype html><html dir="rtl"><body style="direction:ltr">LEFT',
      ])
        for (const scale of [0.5, 2])
          expect(await pdfWords(await print({ html, scale })), `${html} ${scale}`).to.have.length(
            1,
          );
    });

    it('prints a static document like one with scripts', async () => {
      const image = `<img width="300" height="200" src="data:image/svg+xml;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 2"><rect width="3" height="2" fill="#0a0"/></svg>').toString('base64')}">`;
      const page = `${invoice(7)}${image}<svg width="90" height="90"><circle cx="45" cy="45" r="40" fill="gold"/></svg>`;
      const [staticPdf, scriptedPdf] = [
        await print({ html: page }),
        await print({ html: `${page}<script></script>` }),
      ];
      expect(await pdfPixels(staticPdf)).to.deep.equal(await pdfPixels(scriptedPdf));
      expect((await pdfText(staticPdf)).replace(/\s+/g, ' ')).to.equal(
        (await pdfText(scriptedPdf)).replace(/\s+/g, ' '),
      );
    });

    it('embeds every font', async () => {
      const fonts = await pdfFonts(
        await print({ html: html('<b>bold</b> <i>italic</i> <code>code</code> äöü €') }),
      );
      expect(fonts.length).to.be.greaterThan(1);
      expect(fonts.filter(({ embedded }) => !embedded)).to.deep.equal([]);
    });
  });

  describe('pages', () => {
    const five = html(
      [1, 2, 3, 4, 5]
        .map(n => `<p style="break-after:page">PAGE${n}</p>`)
        .join('')
        .replace('break-after:page">PAGE5', '">PAGE5'),
    );
    const kept: [string, string[]][] = [
      ['2', ['PAGE2']],
      ['1-2,4', ['PAGE1', 'PAGE2', 'PAGE4']],
      ['4, 1-2', ['PAGE1', 'PAGE2', 'PAGE4']],
      ['2,2,1-2', ['PAGE1', 'PAGE2']],
      ['4-', ['PAGE4', 'PAGE5']],
      ['4-9999999999', ['PAGE4', 'PAGE5']],
      ['1,77', ['PAGE1']],
    ];
    for (const [pages, texts] of kept)
      it(`keeps ${texts.join(', ')} for ${JSON.stringify(pages)}`, async () => {
        const answer = await pressroom.render({ html: five, pages });
        expect((await pdfText(answer.body)).match(/PAGE\d/g)).to.deep.equal(texts);
        expect(answer.headers['x-pdf-pages']).to.equal(String(texts.length));
      });
    it('rejects a range without pages, names the page count and counts nothing', async () => {
      const before = await pressroom.usage();
      expect(await renderError({ html: five, pages: '6-9' })).to.deep.include({
        status: 400,
        code: 'validation_error',
      });
      expect((await renderError({ html: five, pages: '99999999999' })).message).to.include(
        '5 pages',
      );
      expect(await pressroom.usage()).to.equal(before);
    });
  });

  describe('a single page', () => {
    const lines = Array.from({ length: 150 }, (_, n) => `<p>line${n}</p>`).join('');
    const one = async (options: object) => {
      const pdf = await print(options);
      const info = await pdfInfo(pdf);
      expect(info.pages).to.equal(1);
      return { ...info, text: await pdfText(pdf) };
    };
    it('contains all of a long document', async () => {
      const page = await one({ html: html(lines), single_page: true });
      expect(page.text).to.include('line0').and.to.include('line149');
      expect(page.widthMm).to.be.closeTo(210, HALF_MM);
      expect(page.heightMm).to.be.greaterThan(1_000);
    });
    it('is a short sheet for a short document', async () => {
      expect((await one({ html: html('short'), single_page: true })).heightMm).to.be.within(
        12.7,
        60,
      );
      expect((await one({ html: 'short', single_page: true })).heightMm).to.be.within(12.7, 60);
    });
    it('is printed for {width}xauto with a bare width in pixels', async () => {
      const page = await one({ html: html(lines), format: '960xauto' });
      expect(page.widthMm).to.be.closeTo(254, HALF_MM);
      expect(page.text).to.include('line149');
    });
    it('has the landscape width', async () => {
      expect(
        (await one({ html: html(lines), single_page: true, landscape: true })).widthMm,
      ).to.be.closeTo(297, HALF_MM);
    });
    it('keeps its margins', async () => {
      const pdf = await print({
        html: html(
          '<p style="margin:0">first</p><p style="margin:0">last</p>',
          '<style>body{margin:0}</style>',
        ),
        single_page: true,
        margin: { top: '50mm', bottom: '60mm', left: '10mm' },
      });
      const words = await pdfWords(pdf);
      expect(words[0]!.yMm).to.be.closeTo(50, 2);
      expect((await pdfInfo(pdf)).heightMm - words.at(-1)!.yMm).to.be.within(60, 68);
    });
    const growing: [string, string][] = [
      [
        '100vh',
        html(
          '<header>TOP</header><main style="min-height:100vh">MIDDLE</main><footer>BOTTOM</footer>',
        ),
      ],
      [
        'a rule in vh',
        html(
          '<header>TOP</header><main>MIDDLE</main><footer>BOTTOM</footer>',
          '<style>main{height:calc(100vh + 10px)}</style>',
        ),
      ],
      [
        '100 %',
        html(
          '<main>MIDDLE</main><footer>BOTTOM</footer>',
          '<style>html,body{height:100%;margin:0}main{height:100%}</style>',
        ),
      ],
    ];
    for (const [what, page] of growing)
      it(`contains content as tall as the viewport (${what})`, async () => {
        const { text, heightMm } = await one({ html: page, single_page: true });
        expect(text).to.include('BOTTOM');
        expect(heightMm).to.be.lessThan(400);
      });
    it('contains floats, tables and positioned elements', async () => {
      const page = html(
        '<div style="float:left;height:1500px">FLOAT</div><table><tr><td>CELL</td></tr></table><div style="position:absolute;top:1800px">LOW</div>',
      );
      const { text, heightMm } = await one({ html: page, single_page: true });
      expect(text).to.include('FLOAT').and.to.include('CELL').and.to.include('LOW');
      expect(heightMm).to.be.greaterThan(470);
    });
    it('fails with output_limit above 200 in', async () => {
      const error = await renderError({
        html: html('<div style="height:300in">x</div>'),
        single_page: true,
      });
      expect(error).to.include({ status: 502, code: 'render_failed', reason: 'output_limit' });
      expect(error.message).to.include('200 in');
    });
  });
});
