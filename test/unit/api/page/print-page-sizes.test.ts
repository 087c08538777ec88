import { expect } from 'chai';
import { pageSizeOverrides } from '../../../../api/page/print.ts';
import { renderSettings } from '../../../../api/page/render-settings.ts';
import { parseRenderRequest } from '../../../../common/contract/render-request.ts';
import { PUBLIC } from '../../../support/request-error.ts';

const rules = (request: object) =>
  pageSizeOverrides(renderSettings(parseRenderRequest(request, PUBLIC)));

describe('page-size overrides', () => {
  it('are empty when the page cannot set a size', () => {
    expect(rules({ html: '<h1>x</h1>' })).to.equal(undefined);
    expect(rules({ html: '<h1>x</h1>', margin: { top: '1in' }, header: { html: 'x' } })).to.equal(
      undefined,
    );
  });
  it('are empty when the page only sets its own paper size', () => {
    expect(rules({ html: '<style>@page { size: A4 }</style>' })).to.equal(undefined);
    expect(rules({ html: '<style>@page{size:letter;}</style>', format: 'Letter' })).to.equal(
      undefined,
    );
  });
  it('are set when the page has or may have its own size', () => {
    for (const html of [
      '<style>@page{margin:0}</style>',
      '<style>@page{size:A4;margin:0}</style>',
      '<style>@page{size:A5}</style>',
      '<style>@page{size:A4}@page :first{margin:0}</style>',
      '<link rel=stylesheet href=//a.example/x.css>',
      '<style>@import "x"</style>',
      '<script defer src="x"></script>',
      '<style>@\\70 age{margin:0}</style>',
    ])
      expect(rules({ html }), html).to.equal('@page{size:auto!important}');
    expect(rules({ url: 'http://a.example/' })).to.equal('@page{size:auto!important}');
    expect(rules({ html: 'x', css: '@page{margin:0}' })).to.equal('@page{size:auto!important}');
    expect(rules({ html: '<style>@page{size:A4}</style>', landscape: true })).to.equal(
      '@page{size:auto!important}',
    );
  });
  it('contain the requested margins', () => {
    const html = '<style>@page{margin:0}</style>';
    const held = '@page{size:auto!important;margin:0.4in 0.4in 0.4in 1in!important}';
    expect(rules({ html, margin: { left: '1in' } })).to.equal(held);
    expect(rules({ html, header: { html: 'x' } })).to.equal(held.replace(' 1in', ' 0.4in'));
    expect(rules({ html, footer: { height: '2in' } })).to.equal(
      '@page{size:auto!important;margin:0.4in 0.4in 2in 0.4in!important}',
    );
  });
  it('keep a single page in one piece', () => {
    expect(rules({ html: 'x', single_page: true })).to.match(
      /margin:0\.4in 0\.4in 0\.4in 0\.4in!important.*break-before:auto!important/,
    );
  });
});
