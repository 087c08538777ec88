// @proves single_page
// Height of a single page: it contains all content, ends where the content ends, and there is no
// second page.
import { expect } from 'chai';
import { html, type Installation, installation } from '../../support/installation.ts';
import { pdfColour, pdfInfo, pdfText, pdfWords } from '../../support/pdf.ts';

const MM_PER_PX = 25.4 / 96;
const HALF_MM = 0.5;
/** Three seconds on an idle machine, and far less than the time limit of a render. */
const DECIDED_MS = 20_000;
const NONE = { top: '0', right: '0', bottom: '0', left: '0' };

const page = (body: string, css = '') => html(body, `<style>body{margin:0}${css}</style>`);
const rows = (count: number, heightPx: number) =>
  Array.from(
    { length: count },
    (_, row) => `<div style="height:${heightPx}px">row${row}</div>`,
  ).join('');
const tableRows = (count: number) =>
  Array.from(
    { length: count },
    (_, row) => `<tr style="height:30px"><td style="padding:0">row${row}</td></tr>`,
  ).join('');
const svg = (width: number, height: number) =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="teal"/></svg>`)}`;
const tall = rows(100, 30);

/** Title, HTML, height in px without margins, and further fields of the request. */
const CASES: [string, string, number, object?][] = [
  ['plain rows', page(tall), 3_000],
  ['less than a sheet', page(rows(3, 100)), 300],
  ['a fractional height', page('<div style="height:1500.4px">row0</div>'), 1_500.4],
  ['a table', page(`<table style="border-spacing:0;width:100%">${tableRows(100)}</table>`), 3_000],
  [
    'a table with head and foot',
    page(
      `<table style="border-spacing:0"><thead><tr style="height:30px"><th style="padding:0">head</th></tr></thead><tfoot><tr style="height:30px"><td style="padding:0">foot</td></tr></tfoot><tbody>${tableRows(100)}</tbody></table>`,
    ),
    3_060,
  ],
  [
    'floats',
    page(
      `<div style="float:left;height:2000px">row0</div><div style="float:right;height:1500px">row1</div>`,
    ),
    2_000,
  ],
  ['a short float', page('<div style="float:left;height:500px">row0</div>'), 500],
  [
    'position: fixed at the top',
    page(`<div style="position:fixed;top:0">FIXED</div>${tall}`),
    3_000,
  ],
  [
    'position: fixed at the bottom',
    page(`<div style="position:fixed;bottom:0">FIXED</div>${tall}`),
    3_000,
  ],
  [
    'position: fixed on all sides',
    page(`<div style="position:fixed;inset:0;border:3px solid red">FIXED</div>${tall}`),
    3_000,
  ],
  [
    'position: absolute',
    page('<div style="position:absolute;top:2500px;height:100px">LOW</div>row0'),
    2_600,
  ],
  [
    'position: absolute on a short page',
    page('<div style="position:absolute;top:500px;height:100px">LOW</div>row0'),
    600,
  ],
  [
    'position: sticky',
    page(`<div style="position:sticky;top:0;height:30px">STUCK</div>${tall}`),
    3_030,
  ],
  ['columns', page(`<div style="columns:2;column-gap:0">${tall}</div>`), 1_500],
  ['short columns', page(`<div style="columns:2;column-gap:0">${rows(20, 30)}</div>`), 300],
  [
    'margins that collapse through the body',
    page('<p style="margin:50px 0;height:2000px">row0</p>'),
    2_100,
  ],
  [
    'collapsing margins on a short page',
    page('<p style="margin:50px 0;height:200px">row0</p>'),
    300,
  ],
  [
    'paddings and borders',
    page(rows(60, 30), 'html{padding:40px 0}body{border:5px solid;padding:20px 0}'),
    1_930,
  ],
  ['html { height: 100% }', page(tall, 'html,body{height:100%}'), 3_000],
  ['a flex column', page(tall, 'body{display:flex;flex-direction:column;min-height:100vh}'), 3_000],
  [
    'flex rows',
    page(
      `<div style="display:flex"><div style="flex:1">${rows(60, 30)}</div><div>${tall}</div></div>`,
    ),
    3_000,
  ],
  [
    'a grid',
    page(`<div style="display:grid;grid-template-columns:1fr 1fr">${rows(200, 30)}</div>`),
    3_000,
  ],
  [
    'an iframe',
    page(
      `<iframe style="border:0;display:block;width:100%;height:2000px" srcdoc="row0<div style='position:absolute;top:1900px'>LOW</div>"></iframe>`,
    ),
    2_000,
  ],
  [
    'images without a size',
    page(`<img style="display:block" src="${svg(300, 200)}">`.repeat(20)),
    4_000,
  ],
  [
    'custom elements and shadow roots',
    page(`<x-y><template shadowrootmode="open">${rows(30, 30)}</template></x-y>`),
    900,
  ],
  ['no doctype', `<body style="margin:0">${tall}`, 3_000],
  ['no doctype and little content', `<body style="margin:0">${rows(3, 30)}`, 90],
  ['html { overflow: hidden }', page(tall, 'html{overflow:hidden}'), 3_000],
  ['a scrollable body', page(tall, 'html,body{height:100%;overflow:auto}'), 3_000],
  [
    'breaks between pages',
    page('<div style="break-after:page;height:300px">row0</div>'.repeat(5)),
    1_500,
  ],
  [
    'legacy breaks before pages',
    page('<h1 style="page-break-before:always;margin:0;height:300px">row0</h1>'.repeat(5)),
    1_500,
  ],
  [
    'named pages',
    page('<div style="page:a;height:300px">row0</div><div style="page:b;height:300px">row1</div>'),
    600,
  ],
  ['a size and margins in @page', page(tall, '@page{size:A5 landscape;margin:50mm}'), 3_000],
  ['content at half scale', page(tall), 1_500, { scale: 0.5 }],
  ['content at double scale', page(tall), 6_000, { scale: 2 }],
  [
    'screen media',
    page(`<div class="a">${tall}</div>`, '@media print{.a{display:none}}'),
    3_000,
    { emulate_media: 'screen' },
  ],
  ['a landscape page', page(tall), 3_000, { landscape: true }],
  ['a continuous roll', page(tall), 3_000, { format: '80mmxauto' }],
  [
    'margins',
    page(tall),
    3_144,
    { margin: { top: '1in', right: '0', bottom: '0.5in', left: '0' } },
  ],
  [
    'header and footer',
    page(tall),
    3_144,
    {
      header: { html: 'HEAD {{page}} of {{total}}', height: '1in' },
      footer: { html: 'END', height: '0.5in' },
    },
  ],
  [
    'header and footer at half scale',
    page(tall),
    1_644,
    {
      scale: 0.5,
      header: { html: 'HEAD {{page}} of {{total}}', height: '1in' },
      footer: { html: 'END', height: '0.5in' },
    },
  ],
];

const paragraphs = (count: number) =>
  Array.from({ length: count }, (_, row) => `<p>row${row}</p>`).join('');
const email = (content: string) =>
  `<table width="100%" cellpadding="0" bgcolor="#eeeeee"><tr><td align="center"><table width="600"><tr><td><font face="Arial">${content}</font></td></tr></table></td></tr></table>`;

/** Documents without a doctype, as in e-mails: title, HTML and height in px. */
const QUIRKS: [string, string, number][] = [
  [
    'a table with a paragraph in a font',
    '<table width=100%><tr><td><font><p>row0</p></font></td></tr></table>',
    44,
  ],
  ['a paragraph in bold', '<b><p>row0</p></b>', 42],
  ['a heading with large margins in bold', '<b><h1 style="margin:100px">row0</h1></b>', 237],
  ['paragraphs in a span', `<span>${paragraphs(5)}</span>`, 178],
  ['centred paragraphs', `<center><font>${paragraphs(2)}</font></center>`, 76],
  [
    'nested tables',
    email(`<h1 style="margin:30px 0">row99</h1>${paragraphs(4)}${email('<p>row98</p>')}`),
    283,
  ],
  ['a long message', email(paragraphs(200)), 6_810],
  ['a message that almost fills the tallest sheet', `<b>${paragraphs(560)}</b>`, 19_048],
  ['a right-to-left table', `<html dir=rtl>${email(paragraphs(5))}`, 188],
  [
    'a right-to-left body that is too wide',
    `<body dir=rtl><table width=1000><tr><td><font>${paragraphs(20)}</font></table>`,
    540,
  ],
  [
    'a table as tall as the viewport',
    `<p>row0</p><table width=100% height=100%><tr><td><b>${paragraphs(3)}</b></table>`,
    1_150,
  ],
  ['an empty body', '<body>', 48],
  ['a negative margin at the end', '<div style="margin-bottom:-20px">row0<br>row1</div>', 60],
  ['a large negative margin at the end', '<p>row0</p><p style="margin-bottom:-60px">row1</p>', 69],
  [
    'a table with a negative margin at the end',
    '<b>row0</b><table style="margin-bottom:-30px"><tr><td>row1</table>',
    60,
  ],
];

/** Fixed elements on short and long pages: title, HTML and height in px. */
const FIXED: [string, string, number][] = [
  [
    'at the bottom of a short page',
    `<div style="position:fixed;bottom:0">FIXED</div>${rows(3, 30)}`,
    110,
  ],
  [
    'that are taller than the viewport',
    '<div style="position:fixed;top:0;height:1500px">FIXED<p style="margin-top:1400px">LOW</p></div>',
    1_500,
  ],
  [
    'that overflow the bottom',
    `<div style="position:fixed;bottom:-50px;height:100px">FIXED</div>${tall}`,
    3_000,
  ],
  [
    'below the viewport',
    `<div style="position:fixed;bottom:-200px;height:100px">Away</div>${tall}`,
    3_000,
  ],
  [
    'transformed below the viewport',
    `<div style="position:fixed;bottom:0;transform:translateY(100%)">Away</div>${tall}`,
    3_000,
  ],
];

/** Elements placed from the lower edge of the page: title, HTML and height in px. */
const ABSOLUTE: [string, string, number][] = [
  [
    'that overflow the bottom of a short page',
    page('row0<div style="position:absolute;bottom:-30px">LOW</div>'),
    1_153,
  ],
  [
    'that overflow the bottom of a long page',
    page(`${tall}<div style="position:absolute;bottom:-30px">LOW</div>`),
    3_030,
  ],
  [
    'that overflow the bottom without a doctype',
    '<p>row0</p><div style="position:absolute;bottom:-30px">LOW</div>',
    1_153,
  ],
  [
    'with an image at the bottom without a doctype',
    `<p>row0</p><div style="position:absolute;bottom:0"><b><img width="30" height="40" src="${svg(30, 40)}"></b></div>`,
    1_127,
  ],
  [
    'that begin below the viewport',
    page('row0<div style="position:absolute;top:100%">LOW</div>'),
    1_141,
  ],
];

describe('a single page', () => {
  let pressroom: Installation;
  before(async () => {
    pressroom = await installation();
  });
  after(() => pressroom?.stop());

  const print = (request: { html: string; format?: string; [field: string]: unknown }) =>
    pressroom.pdf({
      margin: NONE,
      ...request,
      ...(request.format?.endsWith('auto') ? {} : { single_page: true }),
    });

  async function expectWhole(
    request: { html: string; format?: string },
    heightPx: number,
    toleranceMm: number,
  ) {
    const pdf = await print(request);
    const info = await pdfInfo(pdf);
    expect(info.pages).to.equal(1);
    expect(info.heightMm).to.be.closeTo(heightPx * MM_PER_PX, toleranceMm);
    const written = new Set(
      JSON.stringify(request).match(/\b(row\d+|FIXED|LOW|STUCK|HEAD|END|head|foot)\b(?=[ <])/g),
    );
    const read = new Set((await pdfText(pdf)).split(/\s+/));
    expect([...written].filter(word => !read.has(word))).to.deep.equal([]);
  }

  for (const [what, document, heightPx, options = {}] of CASES)
    it(`fits ${what}`, () => expectWhole({ html: document, ...options }, heightPx, HALF_MM));

  /** The precision of the search: 8 px or 1 % of the height. */
  const searchedMm = (heightPx: number) => Math.max(8, heightPx / 100) * MM_PER_PX + HALF_MM;
  for (const [what, document, heightPx] of QUIRKS)
    it(`fits ${what} without a doctype`, async () => {
      const start = performance.now();
      await expectWhole({ html: document }, heightPx, searchedMm(heightPx));
      expect(performance.now() - start).to.be.below(DECIDED_MS);
    });

  for (const [what, document, heightPx] of FIXED)
    it(`fits fixed elements ${what}`, () => expectWhole({ html: page(document) }, heightPx, 1));

  for (const [what, document, heightPx] of ABSOLUTE)
    it(`fits absolutely positioned elements ${what}`, () =>
      expectWhole({ html: document }, heightPx, 1));

  it('prints e-mail HTML on a roll as one page', async () => {
    const pdf = await pressroom.pdf({ html: email(paragraphs(3)), format: '80mmxauto' });
    expect((await pdfInfo(pdf)).pages).to.equal(1);
  });

  it('fails with output_limit soon when the content fits no page', async () => {
    const start = performance.now();
    const error = await pressroom.renderError({
      single_page: true,
      html: page(
        '<x-y><template shadowrootmode="open"><style>p{height:110vh}</style><p>x</template></x-y>',
      ),
    });
    expect(error).to.include({ status: 502, reason: 'output_limit' });
    expect(error.message).to.include('does not fit on one page of at most 200 in');
    expect(
      (await pressroom.renderError({ single_page: true, html: `<b>${paragraphs(600)}</b>` }))
        .message,
    ).to.include('at most 200 in');
    expect(performance.now() - start).to.be.below(DECIDED_MS);
  });

  for (const [format, widthMm] of [
    ['A5', 210],
    ['A4', 297],
    ['Letter', 279.4],
    ['Ledger', 279.4],
    ['A0', 1_189],
  ] as const)
    it(`has the width of ${format} in landscape`, async () => {
      const pdf = await print({ html: page(tall), format, landscape: true });
      expect(await pdfInfo(pdf)).to.include({ pages: 1 });
      expect((await pdfInfo(pdf)).widthMm).to.be.closeTo(widthMm, HALF_MM);
      expect((await pdfInfo(pdf)).heightMm).to.be.closeTo(3_000 * MM_PER_PX, HALF_MM);
    });

  for (const [what, widthPx] of [
    ['1.5 times as wide', 1_200],
    ['almost four times as wide', 3_000],
  ] as const)
    it(`shrinks content that is ${what} as the page`, async () => {
      const wide = `<div style="width:${widthPx}px;height:2000px">LEFT<span style="float:right">RIGHT</span></div><div style="height:1000px">row0</div>`;
      const pdf = await print({ html: page(wide) });
      const { pages, widthMm, heightMm } = await pdfInfo(pdf);
      expect(pages).to.equal(1);
      expect(widthMm).to.be.closeTo(210, HALF_MM);
      expect(heightMm).to.be.closeTo((3_000 * 210) / widthPx, 3);
      const words = await pdfWords(pdf);
      expect(words.map(({ text }) => text)).to.have.members(['LEFT', 'RIGHT', 'row0']);
      expect(words.find(({ text }) => text === 'RIGHT')!.xMm).to.be.within(180, 210);
    });

  it('shrinks right-to-left content that is too wide', async () => {
    const wide =
      '<div style="width:1500px;height:2000px">RIGHT<span style="float:left">LEFT</span></div>';
    const pdf = await print({
      html: `<!doctype html><html dir="rtl"><style>body{margin:0}</style>${wide}`,
    });
    const words = await pdfWords(pdf);
    expect(words.find(({ text }) => text === 'LEFT')!.xMm).to.be.within(0, 20);
    expect(words.find(({ text }) => text === 'RIGHT')!.xMm).to.be.within(180, 210);
  });

  it('does not shrink content because of hidden overflow', async () => {
    const menu = '<div style="position:absolute;left:4000px;width:100px">MENU</div>';
    const pdf = await print({
      html: page(
        `${menu}<span style="margin-left:100mm">SEEN</span>${rows(50, 30)}`,
        'html,body{overflow-x:hidden}',
      ),
    });
    expect((await pdfWords(pdf)).find(({ text }) => text === 'SEEN')!.xMm).to.be.greaterThan(60);
    expect((await pdfInfo(pdf)).pages).to.equal(1);
  });

  it('paints backgrounds to the bottom edge', async () => {
    const pdf = await print({ html: page('<div style="height:2000px;background:#00f"></div>') });
    const { heightMm } = await pdfInfo(pdf);
    expect(await pdfColour(pdf, 100, heightMm - 1)).to.deep.equal([0, 0, 255]);
  });

  it('draws header and footer once at the top and bottom edges', async () => {
    const pdf = await print({
      html: page(tall),
      header: { html: 'HEAD {{page}} of {{total}}', height: '20mm' },
      footer: { html: 'FOOT', height: '20mm' },
    });
    const { heightMm } = await pdfInfo(pdf);
    const words = await pdfWords(pdf);
    const at = (word: string) => words.filter(({ text }) => text === word).map(({ yMm }) => yMm);
    expect(at('HEAD')).to.have.length(1);
    expect(at('HEAD')[0]).to.be.within(0, 20);
    expect(at('FOOT')).to.have.length(1);
    expect(at('FOOT')[0]).to.be.within(heightMm - 20, heightMm);
    expect(at('row0')[0]).to.be.within(20, 26);
    expect(at('row99')[0]).to.be.within(heightMm - 29, heightMm - 20);
    expect((await pdfText(pdf)).replace(/\s+/g, ' ')).to.include('HEAD 1 of 1');
  });
});
