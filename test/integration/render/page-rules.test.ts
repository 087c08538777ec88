// @proves page-rules
// Paper size and margins: precedence of the request over the @page rules of the document.
import { expect } from 'chai';
import { html, type Installation, installation } from '../../support/installation.ts';
import { pdfInfo, pdfWords } from '../../support/pdf.ts';

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

  it('do not fail a page that removed adoptedStyleSheets', async () => {
    const broken = page(
      '@page{size:A5}',
      '<script>CSSStyleSheet = undefined; delete document.adoptedStyleSheets</script>',
    );
    expect(await pdfInfo(await pressroom.pdf({ html: broken }))).to.include({ pages: 1 });
  });
});
