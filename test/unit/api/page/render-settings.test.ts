// @proves url, raise_for_status, paper_width, paper_height, landscape, margin, scale, zoom
// @proves header.html, header.height, footer.html, footer.height, cookies.name, cookies.domain
// @proves auth.username, auth.password, css, javascript, lazy_load_images, metadata, sandbox

import { expect } from 'chai';
import fc from 'fast-check';
import { type RenderSettings, renderSettings } from '../../../../api/page/render-settings.ts';
import { NAMED_FORMATS } from '../../../../common/contract/paper.ts';
import { parseRenderRequest } from '../../../../common/contract/render-request.ts';
import { PUBLIC } from '../../../support/request-error.ts';

const A4 = NAMED_FORMATS.A4;

const BARE: Omit<RenderSettings, 'isStatic'> = {
  isolation: 'fresh',
  source: { kind: 'html', html: 'x' },
  headers: {},
  cookies: [],
  lazyImages: false,
  finishAnimations: false,
  failOnResourceError: false,
  media: 'print',
  waits: { networkIdle: false, delayMs: 0 },
  paper: { widthIn: 210 / 25.4, heightIn: 297 / 25.4 },
  singlePage: false,
  cssPageSize: false,
  print: {
    scale: 1,
    printBackground: true,
    marginIn: { top: 0.4, right: 0.4, bottom: 0.4, left: 0.4 },
    marginsHold: false,
  },
  metadata: {},
  sandbox: false,
};
const fromUrl = (
  url: string,
  raiseForStatus: 'errors' | 'all' | 'never',
): Partial<RenderSettings> => ({
  source: { kind: 'url', url, raiseForStatus },
});
const printed = (print: Partial<RenderSettings['print']>): Partial<RenderSettings> => ({
  print: { ...BARE.print, ...print },
});
const waiting = (waits: Partial<RenderSettings['waits']>): Partial<RenderSettings> => ({
  waits: { ...BARE.waits, ...waits },
});
const sheet = (widthIn: number, heightIn: number, singlePage = false): Partial<RenderSettings> => ({
  paper: { widthIn, heightIn },
  singlePage,
});

const noMargin = { top: '0', right: '0', bottom: '0', left: '0' };

/**
 * A request (with `html: 'x'` unless it has a url), and in what its settings differ from the bare
 * ones.
 */
const SETTINGS: [title: string, body: Record<string, unknown>, differs: Partial<RenderSettings>][] =
  [
    ['a document alone gets every default', {}, {}],
    [
      'an address fails on 4xx and 5xx by default',
      { url: 'https://example.com/a?b#c' },
      fromUrl('https://example.com/a?b#c', 'errors'),
    ],
    [
      'redirects fail as well when raise_for_status is true',
      { url: 'https://example.com/', raise_for_status: true },
      fromUrl('https://example.com/', 'all'),
    ],
    [
      'nothing fails when raise_for_status is false',
      { url: 'https://example.com/', raise_for_status: false },
      fromUrl('https://example.com/', 'never'),
    ],
    [
      'an address is opened as the parser writes it',
      { url: 'HTTP://0X08.8.0x8.010:80/../a' },
      fromUrl('http://8.8.8.8/a', 'errors'),
    ],
    [
      'a host in another script is opened by its ASCII name',
      { url: 'https://Bücher.example' },
      fromUrl('https://xn--bcher-kva.example/', 'errors'),
    ],
    ['a document does not care for raise_for_status', { raise_for_status: true }, {}],
    ['screen styles', { emulate_media: 'screen' }, { media: 'screen' }],
    ['a named size', { format: 'letter' }, sheet(8.5, 11)],
    ['Ledger lies on its side', { format: 'Ledger' }, sheet(17, 11)],
    ['landscape turns the sheet', { landscape: true }, sheet(A4.heightIn, A4.widthIn)],
    ['landscape turns Ledger upright', { format: 'ledger', landscape: true }, sheet(11, 17)],
    ['a size in inches', { format: '8.5x13' }, sheet(8.5, 13)],
    ['the unit of one side does not spread', { format: '50.8mmx3' }, sheet(2, 3)],
    [
      'paper sides override the format',
      { format: 'A3', paper_width: '96px', paper_height: '360pt', margin: noMargin },
      { ...sheet(1, 5), ...printed({ marginIn: { top: 0, right: 0, bottom: 0, left: 0 } }) },
    ],
    [
      'landscape turns paper sides too',
      { paper_width: '4', paper_height: '6', landscape: true },
      sheet(6, 4),
    ],
    [
      'a single page is laid out on the named size',
      { single_page: true },
      sheet(A4.widthIn, A4.heightIn, true),
    ],
    [
      'a single page in landscape has the turned width',
      { single_page: true, landscape: true },
      sheet(A4.heightIn, A4.widthIn, true),
    ],
    [
      'auto height is a single page, laid out as tall as A4',
      { format: '101.6mmxauto' },
      sheet(4, A4.heightIn, true),
    ],
    [
      'a bare width beside auto is pixels',
      { format: '960xauto', single_page: true },
      sheet(10, A4.heightIn, true),
    ],
    ['scale', { scale: 0.5 }, printed({ scale: 0.5 })],
    ['zoom without scale', { zoom: 1.5 }, printed({ scale: 1.5 })],
    ['scale before zoom', { scale: 0.5, zoom: 1.5 }, printed({ scale: 0.5 })],
    ['a scale of 1 before zoom', { scale: 1, zoom: 1.5 }, {}],
    ['no backgrounds', { print_background: false }, printed({ printBackground: false })],
    [
      'some margins, the others by default',
      { margin: { top: '25.4mm', left: '0' } },
      printed({ marginIn: { top: 1, right: 0.4, bottom: 0.4, left: 0 } }),
    ],
    ['an empty margin is the default', { margin: {} }, {}],
    [
      'pages in document order, each once',
      { pages: '7-, 2, 1-3' },
      printed({ pageRanges: '1-3,7-' }),
    ],
    ['a selector', { wait_for_selector: '#ready' }, waiting({ selector: '#ready' })],
    [
      'an expression',
      { wait_for_expression: 'window.ready' },
      waiting({ expression: 'window.ready' }),
    ],
    [
      'network idle and a pause',
      { wait_for_network_idle: true, wait_delay: '1s500ms' },
      waiting({ networkIdle: true, delayMs: 1_500 }),
    ],
    ['no pause', { wait_delay: '0' }, {}],
    [
      'one margin for all sides',
      { margin: '1in' },
      printed({ marginIn: { top: 1, right: 1, bottom: 1, left: 1 }, marginsHold: true }),
    ],
    ['a time limit of its own', { timeout: '1.5s' }, { timeoutMs: 1_500 }],
    [
      'a header without placeholders goes on as it is',
      { header: { html: '<b>A &amp; B</b> <br>' } },
      printed({ headerHtml: '<b>A &amp; B</b> <br>' }),
    ],
    [
      'placeholders become what Chrome fills in',
      { footer: { html: '<i>{{page}}</i> of {{ total }}' } },
      printed({
        footerHtml: '<i><span class="pageNumber"></span></i> of <span class="totalPages"></span>',
      }),
    ],
    [
      'what stands beside a placeholder stays text',
      { header: { html: '&lt;i> &#123;{page}} &lt;b&gt; &amp;&nbsp;<!-- {{page}} -->' } },
      printed({
        headerHtml: '&lt;i> <span class="pageNumber"></span> &lt;b> &amp;&nbsp;<!-- {{page}} -->',
      }),
    ],
    ['an empty header keeps its space', { header: { html: '' } }, printed({ headerHtml: '' })],
    ['headers without content', { header: {}, footer: {} }, {}],
    [
      'the height of a header counts when it is more than the margin',
      {
        header: { height: '2in' },
        footer: { height: '0.1in' },
        margin: { top: '1in', bottom: '1in' },
      },
      printed({ marginIn: { top: 2, right: 0.4, bottom: 1, left: 0.4 } }),
    ],
    [
      'the height of a footer counts against the default margin',
      { footer: { height: '50.8mm', html: 'x' } },
      printed({ marginIn: { top: 0.4, right: 0.4, bottom: 2, left: 0.4 }, footerHtml: 'x' }),
    ],
    [
      'a cookie with its defaults',
      { cookies: [{ name: 'a', value: 'b', domain: 'Example.COM' }] },
      {
        cookies: [
          {
            name: 'a',
            value: 'b',
            domain: 'example.com',
            path: '/',
            secure: false,
            httpOnly: false,
          },
        ],
      },
    ],
    [
      'cookies with all that they can have, in their order',
      {
        cookies: [
          {
            name: 'a',
            value: '',
            domain: '.example.com',
            path: '/x',
            secure: true,
            http_only: true,
            same_site: 'None',
          },
          { name: 'b', value: 'é', domain: '[2001:DB8:0::1]', same_site: 'Lax' },
        ],
      },
      {
        cookies: [
          {
            name: 'a',
            value: '',
            domain: '.example.com',
            path: '/x',
            secure: true,
            httpOnly: true,
            sameSite: 'None',
          },
          {
            name: 'b',
            value: 'é',
            domain: '[2001:db8::1]',
            path: '/',
            secure: false,
            httpOnly: false,
            sameSite: 'Lax',
          },
        ],
      },
    ],
    [
      'headers without the white space around them',
      { extra_http_headers: { 'X-A': ' 1\t', y: '' } },
      { headers: { 'X-A': '1', y: '' } },
    ],
    [
      'Authorization apart from the others',
      {
        url: 'https://example.com/',
        extra_http_headers: { aUTHorization: ' Bearer x', 'X-A': '1' },
      },
      {
        ...fromUrl('https://example.com/', 'errors'),
        authorization: 'Bearer x',
        headers: { 'X-A': '1' },
      },
    ],
    [
      'authentication',
      { url: 'https://example.com/', auth: { username: 'a', password: ':b' } },
      {
        ...fromUrl('https://example.com/', 'errors'),
        basicAuth: { username: 'a', password: ':b' },
      },
    ],
    [
      'inline additions as they are',
      { css: ' p {}\n', javascript: 'run()' },
      { css: { kind: 'inline', text: ' p {}\n' }, javascript: { kind: 'inline', text: 'run()' } },
    ],
    [
      'addresses of additions as the parser writes them',
      { css: ' HTTPS://EXAMPLE.com/a/../b.css\n', javascript: 'http://example.com:80' },
      {
        css: { kind: 'url', url: 'https://example.com/b.css' },
        javascript: { kind: 'url', url: 'http://example.com/' },
      },
    ],
    [
      'text that only begins with an address is inline',
      { css: 'https://example.com/ {}' },
      { css: { kind: 'inline', text: 'https://example.com/ {}' } },
    ],
    ['lazy images', { lazy_load_images: true }, { lazyImages: true }],
    ['resource errors', { fail_on_resource_error: true }, { failOnResourceError: true }],
    ['finished animations', { finish_animations: true }, { finishAnimations: true }],
    ['sandbox', { sandbox: true }, { sandbox: true }],
    [
      'metadata, the empty ones too',
      { metadata: { title: '', author: 'A' } },
      { metadata: { title: '', author: 'A' } },
    ],
    [
      'false where false is the default',
      {
        lazy_load_images: false,
        sandbox: false,
        metadata: {},
        cookies: [],
        extra_http_headers: {},
      },
      {},
    ],
    [
      'false where false is the default, of the page too',
      { landscape: false, single_page: false, wait_for_network_idle: false },
      {},
    ],
  ];

describe('the settings of a render', () => {
  for (const [title, body, differs] of SETTINGS) {
    it(`translates: ${title}`, () => {
      const request = parseRenderRequest('url' in body ? body : { html: 'x', ...body }, PUBLIC);
      const expected = { ...BARE, ...differs };
      const marginsHold = ['margin', 'header', 'footer'].some(field => field in body);
      const { isStatic, ...settings } = renderSettings(request);
      expect(isStatic).to.be.a('boolean');
      expect(settings).to.deep.equal({ ...expected, print: { ...expected.print, marginsHold } });
    });
  }

  it('have no undefined members', () => {
    for (const [, body] of SETTINGS) {
      const made = renderSettings(
        parseRenderRequest('url' in body ? body : { html: 'x', ...body }, PUBLIC),
      );
      for (const part of [made, made.waits, made.print, made.source])
        expect(Object.values(part)).not.to.include(undefined);
    }
  });

  it('leave at least half an inch of every page that the contract accepts', () => {
    const side = fc.integer({ min: 5, max: 60 }).map(tenths => tenths / 10);
    const margin = fc.option(fc.integer({ min: 0, max: 30 }).map(tenths => tenths / 10));
    fc.assert(
      fc.property(
        side,
        side,
        margin,
        margin,
        margin,
        margin,
        fc.boolean(),
        (width, height, top, right, bottom, left, landscape) => {
          const given = Object.fromEntries(
            Object.entries({ top, right, bottom, left }).flatMap(([name, value]) =>
              value === null ? [] : [[name, `${value}in`]],
            ),
          );
          const [wide, tall] = landscape ? [height, width] : [width, height];
          const remaining = Math.min(
            wide - (left ?? 0.4) - (right ?? 0.4),
            tall - (top ?? 0.4) - (bottom ?? 0.4),
          );
          const request = { html: 'x', format: `${width}x${height}`, landscape, margin: given };
          if (remaining < 0.49) {
            expect(() => parseRenderRequest(request, PUBLIC)).to.throw(
              /leave less than 0\.5 inches/,
            );
            return;
          }
          const { paper, print } = renderSettings(parseRenderRequest(request, PUBLIC));
          expect(paper.widthIn - print.marginIn.left - print.marginIn.right).to.be.at.least(0.4999);
          expect(paper.heightIn - print.marginIn.top - print.marginIn.bottom).to.be.at.least(
            0.4999,
          );
        },
      ),
      { numRuns: 500 },
    );
  });
});
