// @proves header

import { expect } from 'chai';
import { parseRenderRequest } from '../../../../common/contract/render-request.ts';
import { PUBLIC } from '../../../support/request-error.ts';

/** Small pages have no space for the default margins. */
const margin = { top: '0', right: '0', bottom: '0', left: '0' };

const GOOD: object[] = [
  { html: ' ' },
  { html: '\u0000' },
  { url: 'https://example.com' },
  { url: 'HTTPS://EXAMPLE.com:8443/a?b#c' },
  { url: 'http://example.com:8080/@not-userinfo?to=me@example.com' },
  { url: 'http://8.8.8.8/' },
  { url: 'http://[2606:4700:4700::1111]/' },
  { url: 'http://bücher.example/straße' },
  { url: 'http://localhost.example.com/' },
  { url: `http://example.com/${'a'.repeat(8_173)}` },
  { html: 'x', format: 'a4' },
  { html: 'x', format: 'LEDGER' },
  { html: 'x', format: '0.5x200', margin },
  { html: 'x', format: '12.7mmx5080mm', margin },
  { html: 'x', format: '48pxx36pt', margin },
  { html: 'x', format: '.5inx3pc', margin },
  { html: 'x', format: '48xauto', margin },
  { html: 'x', format: '19200xauto' },
  { html: 'x', format: '800xauto', single_page: true, landscape: false },
  { html: 'x', format: 'A4', paper_width: '0.5', paper_height: '200in', margin },
  { html: 'x', paper_width: '5in', paper_height: '5in', single_page: false, landscape: true },
  { html: 'x', single_page: true, landscape: true },
  { html: 'x', single_page: false, pages: '1-3' },
  { html: 'x', scale: 0.1, zoom: 2 },
  { html: 'x', scale: 2, zoom: 0.1 },
  { html: 'x', margin: {} },
  { html: 'x', margin: { top: '0', right: '0.', bottom: '.0in', left: '0px' } },
  { html: 'x', format: '3x3', margin: { left: '2.1', top: '2.1' } },
  { html: 'x', format: '80mmxauto', margin: { top: '199.1in' } },
  { html: 'x', single_page: true, format: 'A6', margin: { top: '10in' } },
  { html: 'x', wait_delay: '30s' },
  { html: 'x', wait_delay: '1.1s28.9s' },
  { html: 'x', wait_delay: '-0s' },
  { html: 'x', wait_for_selector: '#a', wait_for_expression: 'true', wait_for_network_idle: false },
  { html: 'x', raise_for_status: true, emulate_media: 'screen', print_background: false },
  { html: 'x', pages: '999999999-' },
  { html: 'x', pages: '1-9999999999' },
  { html: 'x', header: {}, footer: {} },
  { html: 'x', header: { html: '' }, footer: { height: '0' } },
  {
    html: 'x',
    header: { html: 'Page {{page}} of {{  total\t}}', height: '20mm' },
    footer: { html: '<b class="pageNumber">', height: '.5in' },
  },
  { html: 'x', header: { html: 'the word class="date" and {{ alone and { {date} }' } },
  {
    html: 'x',
    header: {
      html: '<p class="Date dated my-title urls" title="url">x</p><!-- {{date}} class="date" -->',
    },
  },
  { html: 'x', header: { html: '<b>{{page}}</b>{{total}}<svg class="pageNumber"/>{{page}}' } },
  { html: 'x', header: { html: 'x'.repeat(65_536) } },
  { html: 'x', header: { html: '😀'.repeat(65_536) } },
  { html: 'x', header: { html: '{{'.repeat(32_768) } },
  { html: 'x', header: { height: '10.79in' }, margin },
  { html: 'x', cookies: [] },
  { html: 'x', cookies: [{ name: 'a', value: '', domain: 'localhost' }] },
  {
    url: 'https://example.com/',
    cookies: [
      {
        name: "!#$%&'*+-.^_`|~aZ9",
        value: 'a=b, "c" \\ é 日 😀',
        domain: '.Example.COM',
        path: '/a/b.c',
      },
    ],
  },
  {
    html: 'x',
    cookies: [
      {
        name: 'a',
        value: 'b'.repeat(4_095),
        domain: '192.0.2.1',
        secure: false,
        http_only: false,
        same_site: 'Strict',
      },
    ],
  },
  {
    html: 'x',
    cookies: [{ name: 'a', value: 'b', domain: '[2001:DB8::1]', same_site: 'None', secure: true }],
  },
  {
    html: 'x',
    cookies: [
      {
        name: '__Host-Http-a',
        value: 'b',
        domain: 'web1',
        path: '/',
        secure: true,
        http_only: true,
      },
    ],
  },
  {
    html: 'x',
    cookies: [
      { name: '__Host-', value: 'b', domain: 'example.com', secure: true },
      { name: '__Secure-a', value: 'b', domain: '.e.com', path: '/x', secure: true },
    ],
  },
  { html: 'x', cookies: [{ name: 'a', value: 'b', domain: '10.0.0.1' }] },
  {
    html: 'x',
    cookies: [
      {
        name: 'a',
        value: 'b',
        domain: `.${'a'.repeat(49)}.`.concat(`${'a'.repeat(49)}.`.repeat(4), 'abc'),
        path: `/${'a'.repeat(1_023)}`,
      },
    ],
  },
  {
    html: 'x',
    cookies: Array.from({ length: 180 }, (_, index) => ({
      name: `n${index}`,
      value: 'v',
      domain: 'example.com',
    })),
  },
  { html: 'x', extra_http_headers: {} },
  {
    html: 'x',
    extra_http_headers: {
      'X-A': '',
      'x-b': ' \t é ÿ "quoted" ',
      "!#$%&'*+-.^_`|~": 'x',
      Referer: 'https://example.com/',
    },
  },
  {
    html: 'x',
    extra_http_headers: { 'X-A': 'v'.repeat(8_192), proxy: 'x', Cookies: 'x', constructor: 'x' },
  },
  {
    html: 'x',
    extra_http_headers: Object.fromEntries(
      Array.from({ length: 64 }, (_, index) => [`X-${index}`, 'v']),
    ),
  },
  { url: 'https://example.com/', extra_http_headers: { aUTHORIZATION: 'Bearer x' } },
  { url: 'https://example.com/', auth: { username: '', password: '' } },
  { url: 'https://example.com/', auth: { username: 'Müller', password: 'a:b 日 😀' } },
  { html: 'x', css: 'p{}', javascript: 'https' },
  {
    html: 'x',
    css: ' https://example.com/a.css\n',
    javascript: 'HTTPS://EXAMPLE.com:8443/a.js?b#c',
  },
  { html: 'x', css: 'https://10.0.0.1/ {}', javascript: 'https://127.0.0.1/ is a label\nrun()' },
  { html: 'x', css: 'x'.repeat(262_144), javascript: '日'.repeat(262_143) },
  { html: 'x', margin: '10mm' },
  { html: 'x', margin: 0 },
  { html: 'x', margin: { top: 0, left: '1in' } },
  { html: 'x', lazy_load_images: true, sandbox: true },
  { html: 'x', lazy_load_images: false, sandbox: false },
  { html: 'x', metadata: {} },
  { html: 'x', metadata: { title: 'a\r\nb', author: 'a\tb', keywords: '\n' } },
  {
    html: 'x',
    metadata: {
      title: '',
      author: 'Müller & 山田 😀',
      subject: '(a\\)',
      keywords: 'x'.repeat(2_048),
    },
  },
  {
    html: 'x',
    metadata: { title: 'é'.repeat(1_024), author: '日'.repeat(682), subject: '😀'.repeat(512) },
  },
];

describe('valid render requests', () => {
  for (const body of GOOD) {
    it(`keep ${JSON.stringify(body).slice(0, 90)} unchanged`, () => {
      expect(parseRenderRequest(body, PUBLIC)).to.deep.equal(body);
    });
  }

  it('may use only the configured ports', () => {
    const body = { url: 'https://example.com:9443/' };
    expect(parseRenderRequest(body, { ...PUBLIC, ports: [9_443] })).to.deep.equal(body);
  });

  it('may use private addresses and additional ports with intranet', () => {
    for (const url of ['http://10.0.0.1/', 'http://localhost/', 'http://[fd00::1]:9000/']) {
      expect(
        parseRenderRequest(
          { url },
          { ports: [80], intranet: true, allowPorts: [9_000], maxTimeoutMs: 60_000 },
        ),
      ).to.deep.equal({ url });
    }
  });

  it('keep a large document without copying it', () => {
    const html = 'x'.repeat(10 * 2 ** 20);
    const before = process.memoryUsage().heapUsed + process.memoryUsage().external;
    const kept = Array.from({ length: 100 }, () => parseRenderRequest({ html }, PUBLIC));
    const grown = process.memoryUsage().heapUsed + process.memoryUsage().external - before;
    expect(kept.every(request => request.html === html)).to.equal(true);
    expect(grown).to.be.below(html.length);
  });
});
