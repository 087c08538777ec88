// @proves X-Warnings
// Headers and footers that do not fit their heights: what the response and the render log say.
import { expect } from 'chai';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { type LoggedRows, loggedRows } from '../../support/console/log-fixture.ts';
import { html } from '../../support/installation.ts';
import { pdfText } from '../../support/pdf.ts';

const box = (height: string) => `<div style="height:${height}">X</div>`;
const svg = (height: number) =>
  `<img src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='10' height='${height}'/%3E">`;
/** 10 words of 10 letters, which take about 420 px of a line at 10 px. */
const WORDS = Array.from({ length: 10 }, () => 'wwwwwwwwww').join(' ');

describe('X-Warnings', () => {
  let pressroom: ConsoleFixture;
  let log: LoggedRows;
  before(async () => {
    pressroom = await consoleFixture();
    log = await loggedRows(pressroom);
  });
  after(() => pressroom?.stop());

  async function warningsOf(request: object): Promise<unknown> {
    const { status, headers, body } = await pressroom.render({ html: html('PAGE'), ...request });
    expect(status, body.toString('latin1', 0, 300)).to.equal(200);
    return headers['x-warnings'];
  }

  for (const [what, request, warnings] of [
    ['no header', {}, undefined],
    ['a header that fits', { header: { html: '{{page}} of {{total}}' } }, undefined],
    [
      'a header as high as its height',
      { header: { html: box('20mm'), height: '20mm' } },
      undefined,
    ],
    [
      'a header a little higher than its height',
      { header: { html: box('21mm'), height: '20mm' } },
      'header_overflow',
    ],
    [
      'a header higher than the margin',
      { header: { html: box('31mm') }, margin: '30mm' },
      'header_overflow',
    ],
    ['a footer', { footer: { html: box('31mm') }, margin: '30mm' }, 'footer_overflow'],
    [
      'both',
      { header: { html: box('31mm') }, footer: { html: box('31mm') }, margin: '30mm' },
      'header_overflow, footer_overflow',
    ],
    ['an image that fits', { header: { html: svg(30) }, margin: '20mm' }, undefined],
    ['an image that does not', { header: { html: svg(300) }, margin: '20mm' }, 'header_overflow'],
    ['text that fits into one line', { header: { html: WORDS }, margin: '6mm' }, undefined],
    [
      'the same text in a narrow paper',
      { header: { html: WORDS }, margin: '6mm', paper_width: '60mm', paper_height: '90mm' },
      'header_overflow',
    ],
    [
      'the same text in a wide paper at another scale',
      { header: { html: WORDS }, margin: '6mm', scale: 2 },
      undefined,
    ],
    [
      'a page number alone that is too large',
      { header: { html: '<b style="font-size:60px">{{page}}</b>' }, margin: '10mm' },
      'header_overflow',
    ],
    [
      'a percentage, which needs standards mode',
      { header: { html: '<div style="height:100%">X</div>' }, margin: '10mm' },
      undefined,
    ],
    [
      'print styles',
      {
        header: {
          html: `<style>@media print { section { display: none } }</style><section>${box('31mm')}</section>`,
        },
        margin: '30mm',
        emulate_media: 'screen',
      },
      undefined,
    ],
    [
      'broken HTML',
      { header: { html: `</div></body>${box('31mm')}<b` }, margin: '30mm' },
      'header_overflow',
    ],
  ] as const)
    it(`is ${warnings ?? 'absent'} for ${what}`, async () => {
      expect(await warningsOf(request)).to.equal(warnings);
    });

  it('leaves nothing of the templates in the document', async () => {
    const pdf = await pressroom.pdf({
      html: html('<script>document.write(document.querySelectorAll("*").length)</script>'),
      header: { html: '<style>body { color: red }</style>HEADER' },
      wait_for_expression:
        '!document.querySelector("iframe, page-margin") && !window.frames.length',
      javascript: 'document.body.append("URL " + location.href + " HISTORY " + history.length)',
    });
    const plain = await pressroom.pdf({
      html: html('<script>document.write(document.querySelectorAll("*").length)</script>'),
      javascript: 'document.body.append("URL " + location.href + " HISTORY " + history.length)',
    });
    expect(await pdfText(pdf)).to.include((await pdfText(plain)).trim());
  });

  it('runs no script of a template', async () => {
    const pdf = await pressroom.pdf({
      html: html('<p id=p>QUIET</p>'),
      header: {
        html: '<svg onload="top.ran = 1"></svg><style onload="top.ran = 1">p{}</style><input autofocus onfocus="top.ran = 1">',
      },
      javascript: 'if (window.ran) document.body.textContent = "RAN"',
    });
    expect(await pdfText(pdf))
      .to.include('QUIET')
      .and.not.include('RAN');
  });

  it('is in the render log', async () => {
    const { headers } = await pressroom.render({
      html: html('PAGE'),
      header: { html: box('31mm') },
      margin: '30mm',
    });
    const row = await log.detail(headers['x-request-id']!);
    expect(row.warnings).to.deep.equal(['header_overflow']);
    const plain = await pressroom.render({ html: html('PAGE') });
    expect((await log.detail(plain.headers['x-request-id']!)).warnings).to.deep.equal([]);
  });

  it('is absent from the answer to a trial call', async () => {
    const { status, headers } = await pressroom.call(
      'POST',
      '/v1/trial/render',
      { 'content-type': 'application/json' },
      JSON.stringify({ html: html('PAGE'), header: { html: box('31mm') }, margin: '30mm' }),
    );
    expect(status).to.equal(200);
    expect(headers).to.not.have.property('x-warnings');
  });
});
