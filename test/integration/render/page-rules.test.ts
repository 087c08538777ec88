// @proves page-rules
// What the request says of sheet and margins, against what the page's own @page rules say.
import { expect } from 'chai';
import { html, type Installation, installation } from '../../support/installation.ts';
import { pdfInfo, pdfWords } from '../../support/pdf.ts';

const HALF_MM = 0.5;
const page = (css: string, rest = '') =>
  html(
    `<span style="font:10px/1 monospace">corner</span>${rest}`,
    `<style>body{margin:0}${css}</style>`,
  );

describe('the page rules of a document', () => {
  let pressroom: Installation;
  before(async () => {
    pressroom = await installation();
  });
  after(() => pressroom?.stop());

  const corner = async (request: object) => (await pdfWords(await pressroom.pdf(request)))[0]!;

  const sizes: [string, string][] = [
    ['another size', '@page{size:A5}'],
    ['the other direction', '@page{size:A4 landscape}'],
    ['an important size', '@page{size:A5 landscape!important}'],
    ['a size of one page', '@page :first{size:A3}'],
    ['the size of a name', '@page wide{size:A3 landscape}body{page:wide}'],
  ];
  for (const [what, css] of sizes)
    it(`do not change the sheet, nor where it begins: ${what}`, async () => {
      const pdf = await pressroom.pdf({ html: page(css) });
      const { widthMm, heightMm, pages } = await pdfInfo(pdf);
      expect([widthMm, heightMm, pages].map(Math.round)).to.deep.equal([210, 297, 1]);
      const word = (await pdfWords(pdf))[0]!;
      expect(word.xMm).to.be.closeTo(10.16, HALF_MM);
      expect(word.yMm).to.be.closeTo(10.16, 1.5);
    });

  it('say the margins of a request that says none', async () => {
    expect((await corner({ html: page('@page{margin:30mm}') })).xMm).to.be.closeTo(30, HALF_MM);
    expect((await corner({ html: page('@page{margin:0}') })).xMm).to.be.closeTo(0, HALF_MM);
  });

  const margins: [string, string][] = [
    ['none', '@page{margin:0}'],
    ['important ones', '@media print{@page{margin:0!important}}'],
    ['those of the first page', '@page :first{margin:5mm}'],
  ];
  for (const [what, css] of margins)
    it(`say nothing of margins to a request that has its own: ${what}`, async () => {
      const word = await corner({ html: page(css), margin: { left: '30mm', top: '40mm' } });
      expect(word.xMm).to.be.closeTo(30, HALF_MM);
      expect(word.yMm).to.be.closeTo(40, 1.5);
    });

  it('move nothing where they name the sheet that it has', async () => {
    const [plain, named] = [
      await corner({ html: page('') }),
      await corner({ html: page('@page { size: A4 }') }),
    ];
    expect(named.xMm).to.be.closeTo(plain.xMm, HALF_MM);
    expect(named.yMm).to.be.closeTo(plain.yMm, HALF_MM);
  });

  it('do not stop a page that has no style sheets to add to', async () => {
    const broken = page(
      '@page{size:A5}',
      '<script>CSSStyleSheet = undefined; delete document.adoptedStyleSheets</script>',
    );
    expect(await pdfInfo(await pressroom.pdf({ html: broken }))).to.include({ pages: 1 });
  });
});
