import { expect } from 'chai';
import { renderSettings } from '../../../../api/page/render-settings.ts';
import { invoice } from '../../../../bench/invoice.ts';
import { parseRenderRequest } from '../../../../common/contract/render-request.ts';

const isStatic = (body: object) =>
  renderSettings(
    parseRenderRequest(body, {
      ports: [80],
      intranet: false,
      allowPorts: [],
      maxTimeoutMs: 60_000,
    }),
  ).isStatic;

describe('a static document', () => {
  const yes: [string, string][] = [
    ['a heading', '<h1>Hello</h1>'],
    ['an invoice with its styles', invoice(1)],
    ['a picture in itself', '<img alt="once upon a time" src = "data:image/png;base64,AAAA">'],
    ['a drawing', '<svg viewBox="0 0 9 9"><rect width="9" height="9" fill="red"/></svg>'],
    ['print styles', '<style>@media print { p { color: red } } @page { margin: 0 }</style><p>text'],
  ];
  for (const [what, html] of yes)
    it(`is ${what}`, () => {
      expect(isStatic({ html })).to.equal(true);
    });

  const no: [string, string][] = [
    ['a script', '<script>1</script>'],
    ['a handler', '<body onload="draw()">'],
    ['a handler after a slash', '<svg/onload=draw()>'],
    ['a stylesheet by link', '<LINK rel=stylesheet href=a.css>'],
    ['an import', '<style>@import "a.css"</style>'],
    ['a font', '<style>@font-face { font-family: x }</style>'],
    ['a background image', '<style>p { background: url(a.png) }</style>'],
    ['a background attribute', '<table background = a.png>'],
    ['an animation', '<style>p { animation: x 1s } @keyframes x {}</style>'],
    ['a transition', '<p style="transition: 1s">'],
    ['an escape that may hide one', '<style>@\\66ont-face {}</style>'],
    ['a frame', '<iframe src="https://example.com/"></iframe>'],
    ['a refresh', '<meta http-equiv=refresh content="0;url=/">'],
    ['loading put off', '<img loading=lazy src=a.png>'],
    ['sources by size', '<img srcset="a.png 1x, b.png 2x">'],
    ['a canvas', '<canvas></canvas>'],
    ['a picture from elsewhere', '<img src="https://example.com/a.png">'],
    ['one without quotes', '<img src=a.png>'],
    ['progress of unknown length', '<progress>'],
    ['a moving drawing', '<svg><animate attributeName=x /></svg>'],
    ['content that is laid out late', '<p style="content-visibility: auto">'],
    ['a very long text', 'x'.repeat(300_000)],
  ];
  for (const [what, html] of no)
    it(`does not have ${what}`, () => {
      expect(isStatic({ html })).to.equal(false);
    });

  const waits = [
    { wait_for_selector: 'p' },
    { wait_for_expression: '1' },
    { wait_for_network_idle: true },
    { wait_delay: '1ms' },
    { single_page: true },
    { css: 'p { color: red }' },
    { javascript: '1' },
    { lazy_load_images: true },
    { cookies: [{ name: 'a', value: '1', domain: 'example.com' }] },
    { extra_http_headers: { 'X-Tenant': 'blue' } },
  ];
  for (const option of waits)
    it(`is not assumed with ${Object.keys(option)[0]}`, () => {
      expect(isStatic({ html: '<p>text', ...option })).to.equal(false);
    });

  it('is never a URL', () => {
    expect(isStatic({ url: 'http://example.com/' })).to.equal(false);
  });
});
