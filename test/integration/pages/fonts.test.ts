import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type RealPage, realPages } from '../../support/pages/real-pages.ts';
import { pdfFonts } from '../../support/pdf.ts';
import type { Page } from '../../support/servers/web-server.ts';
import { skip } from '../../support/skip.ts';

const page = (source: string, text = 'SAMPLE') =>
  `<style>@font-face { font-family: Own; src: ${source} } p { font-family: Own, sans-serif }</style><p>${text}</p>`;

realPages('web fonts that do not come', [
  {
    what: 'text whose web font is not there',
    serve: { '/lost': page('url(/none.woff2)') },
    text: ['SAMPLE'],
  },
  {
    what: 'text whose web font is none',
    serve: { '/bad': page('url(/bad.woff2)'), '/bad.woff2': 'no font' },
    text: ['SAMPLE'],
  },
  {
    what: 'text whose web font may not be reached',
    serve: ({ victim }) => ({ '/private': page(`url(${victim}/f.woff2)`) }),
    text: ['SAMPLE'],
  },
  {
    what: 'a page whose unused web font never answers',
    serve: {
      // In one sheet before the text: a busy Chrome may lay text out before it has read the rest.
      '/unused':
        '<style>@font-face { font-family: Own; src: url(/silent.woff2) } p { font-family: serif }</style><p>SAMPLE</p>',
      '/silent.woff2': () => {},
    },
    text: ['SAMPLE'],
  },
  {
    what: 'a web font that never answers',
    serve: { '/silent': page('url(/silent.woff2)'), '/silent.woff2': () => {} },
    fails: { reason: 'page_timeout', message: /load event|fonts/ },
  },
]);

/** A font that no page of these falls back to. */
const FILE = ['liberation', 'liberation2']
  .map(folder => `/usr/share/fonts/truetype/${folder}/LiberationMono-Bold.ttf`)
  .find(existsSync);
const inFont: RealPage['look'] = async pdf => {
  const fonts = await pdfFonts(pdf);
  expect(fonts.map(({ name }) => name).join()).to.include('LiberationMono-Bold');
  expect(fonts.filter(({ embedded }) => !embedded)).to.deep.equal([]);
};

if (FILE) {
  const font = readFileSync(FILE);
  const asFont: Page = (_request, response) =>
    response.writeHead(200, { 'content-type': 'font/ttf' }).end(font);
  const late: Page = (request, response) => void setTimeout(asFont, 400, request, response);
  const rows: RealPage[] = [
    {
      what: 'text in a web font',
      serve: { '/good': page('url(/own.ttf)'), '/own.ttf': asFont },
      look: inFont,
    },
    {
      what: 'text in a web font that comes late',
      serve: { '/late': page('url(/late.ttf)'), '/late.ttf': late },
      look: inFont,
    },
    {
      what: 'html in a web font of a data: URL',
      html: page(`url(data:font/ttf;base64,${font.toString('base64')})`),
      look: inFont,
    },
    {
      what: 'html in a web font that a script asks for',
      html: `<p id=o>SAMPLE</p><script>new FontFace('Own', 'url(data:font/ttf;base64,${font.toString('base64')})').load().then(font => { document.fonts.add(font); o.style.fontFamily = 'Own'; o.className = 'done' })</script>`,
      options: { wait_for_selector: '.done' },
      look: inFont,
    },
  ];
  realPages('web fonts', rows);
} else
  it('prints text in a web font', function () {
    skip(this, 'there is no font to serve: the package fonts-liberation is not installed');
  });
