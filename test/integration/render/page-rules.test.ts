// @proves page-rules, prefer_css_page_size
// Paper size and margins: precedence of the request over the @page rules of the document.
import { expect } from 'chai';
import { html, type Installation, installation } from '../../support/installation.ts';
import { pdfInfo, pdfPageSizes, pdfWords } from '../../support/pdf.ts';

const HALF_MM = 0.5;
const page = (css: string, rest = '') =>
  html(
    `<span style="font:10px/1 monospace">corner</span>${rest}`,
    `<style>body{margin:0}${css}</style>`,
  );

describe('documents with @page rules', () => {
  let pressroom: Installation;
  before(async () => {
    pressroom = await installation();
  });
  after(() => pressroom?.stop());

  const corner = async (request: object) => (await pdfWords(await pressroom.pdf(request)))[0]!;

  const sizes: [string, string][] = [
    ['a different size', '@page{size:A5}'],
    ['landscape', '@page{size:A4 landscape}'],
    ['an important size', '@page{size:A5 landscape!important}'],
    ['a size for the first page', '@page :first{size:A3}'],
    ['a size for a named page', '@page wide{size:A3 landscape}body{page:wide}'],
  ];
  for (const [what, css] of sizes)
    it(`do not change the paper size or the origin (${what})`, async () => {
      const pdf = await pressroom.pdf({ html: page(css) });
      const { widthMm, heightMm, pages } = await pdfInfo(pdf);
      expect([widthMm, heightMm, pages].map(Math.round)).to.deep.equal([210, 297, 1]);
      const word = (await pdfWords(pdf))[0]!;
      expect(word.xMm).to.be.closeTo(10.16, HALF_MM);
      expect(word.yMm).to.be.closeTo(10.16, 1.5);
    });

  it('use the margins of @page for a request without margins', async () => {
    expect((await corner({ html: page('@page{margin:30mm}') })).xMm).to.be.closeTo(30, HALF_MM);
    expect((await corner({ html: page('@page{margin:0}') })).xMm).to.be.closeTo(0, HALF_MM);
  });

  const margins: [string, string][] = [
    ['no margins', '@page{margin:0}'],
    ['important margins', '@media print{@page{margin:0!important}}'],
    ['margins of the first page', '@page :first{margin:5mm}'],
  ];
  for (const [what, css] of margins)
    it(`do not override the margins of a request (${what})`, async () => {
      const word = await corner({ html: page(css), margin: { left: '30mm', top: '40mm' } });
      expect(word.xMm).to.be.closeTo(30, HALF_MM);
      expect(word.yMm).to.be.closeTo(40, 1.5);
    });

  it('do not move content when the size equals the paper size', async () => {
    const [plain, named] = [
      await corner({ html: page('') }),
      await corner({ html: page('@page { size: A4 }') }),
    ];
    expect(named.xMm).to.be.closeTo(plain.xMm, HALF_MM);
    expect(named.yMm).to.be.closeTo(plain.yMm, HALF_MM);
  });

  describe('with prefer_css_page_size', () => {
    const sizesOf = async (css: string, request: object = {}, rest = '') =>
      pdfPageSizes(
        await pressroom.pdf({ html: page(css, rest), prefer_css_page_size: true, ...request }),
      );
    const MIXED =
      '@page{size:A5}@page wide{size:A4 landscape}@page label{size:60mm 40mm;margin:5mm}.w{page:wide}.l{page:label}';
    const MIXED_BODY = '<p class="w">wide</p><p class="l">label</p>';
    const ALL = ['148x210', '297x210', '60x40'];

    const counting: [what: string, css: string, sizes: string[]][] = [
      ['a name', '@page{size:A5}', ['148x210']],
      ['lengths', '@page{size:60mm 40mm;margin:0}', ['60x40']],
      ['an orientation alone', '@page{size:landscape}', ['297x210']],
      ['an important size', '@page{size:A5!important}', ['148x210']],
      ['no size', '@page{margin:1cm}', ['210x297']],
    ];
    for (const [what, css, expected] of counting)
      it(`set the paper size (${what})`, async () => {
        expect(await sizesOf(css)).to.deep.equal(expected);
      });
    it('set the size of each named page', async () => {
      expect(await sizesOf(MIXED, {}, MIXED_BODY)).to.deep.equal(ALL);
      expect(await sizesOf(MIXED, { pages: '2-3' }, MIXED_BODY)).to.deep.equal(ALL.slice(1));
      expect(await sizesOf(MIXED, { scale: 0.5 }, MIXED_BODY)).to.deep.equal(ALL);
    });

    const ignored: [request: object, sizes: string[]][] = [
      [{ format: 'A4' }, ['210x297']],
      [{ paper_width: '100mm', paper_height: '150mm' }, ['100x150']],
      [{ landscape: true }, ['297x210']],
      [{ prefer_css_page_size: false }, ['210x297']],
    ];
    for (const [request, expected] of ignored)
      it(`do not set it when the request has ${JSON.stringify(request)}`, async () => {
        expect(await sizesOf('@page{size:A5}', request)).to.deep.equal(expected);
      });
    it('do not set the width of a single page', async () => {
      const [size] = await sizesOf('@page{size:A5}', { single_page: true });
      expect(size).to.match(/^210x/);
    });

    it('do not override the margins of a request', async () => {
      const word = await corner({
        html: page('@page{size:A5!important;margin:0!important}'),
        prefer_css_page_size: true,
        margin: { left: '30mm' },
      });
      expect(word.xMm).to.be.closeTo(30, HALF_MM);
    });

    it('have header and footer in the right place on every size', async () => {
      const pdf = await pressroom.pdf({
        html: page(MIXED, MIXED_BODY),
        prefer_css_page_size: true,
        header: { html: '<div style="width:100%;text-align:right">END</div>', height: '12mm' },
        footer: { html: 'FOOT', height: '12mm' },
      });
      const words = await pdfWords(pdf);
      const at = (text: string) => words.filter(word => word.text === text);
      expect(at('END').map(({ page }) => page)).to.deep.equal([1, 2, 3]);
      for (const [index, widthMm] of [148, 297, 60].entries())
        expect(widthMm - at('END')[index]!.xMm, `${widthMm} mm`).to.be.within(10, 25);
      for (const [index, heightMm] of [210, 210, 40].entries())
        expect(heightMm - at('FOOT')[index]!.yMm, `${heightMm} mm`).to.be.within(4, 10);
      expect(await pdfPageSizes(pdf)).to.deep.equal(ALL);
    });

    it('fail the render when a page is too large for a PDF', async () => {
      const error = await pressroom.renderError({
        html: page('@page{size:100in 201in}'),
        prefer_css_page_size: true,
      });
      expect(error).to.include({ status: 502, reason: 'output_limit' });
      expect(error.message).to.match(/^A page is 201\.0 in long\. .*`prefer_css_page_size`\.$/);
      expect(await sizesOf('@page{size:200in 200in}')).to.deep.equal(['5080x5080']);
    });
  });

  it('do not fail a page that removed adoptedStyleSheets', async () => {
    const broken = page(
      '@page{size:A5}',
      '<script>CSSStyleSheet = undefined; delete document.adoptedStyleSheets</script>',
    );
    expect(await pdfInfo(await pressroom.pdf({ html: broken }))).to.include({ pages: 1 });
  });
});
