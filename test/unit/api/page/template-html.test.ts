import { expect } from 'chai';
import { templateHtml } from '../../../../api/page/header-footer.ts';

describe('the HTML of a header', () => {
  const same = [
    'plain',
    '<b class="pageNumber">1</b> of <i>2</i>',
    '<p style="color:red;background:url(data:image/png;base64,AA==)">x</p>',
    '<svg viewBox="0 0 9 9"><linearGradient id="g"/><rect fill="url(#g)"/></svg>',
    '<style>b:after{content:"“"}</style>',
    '<img src="data:image/png;base64,AA==" alt="a(b) C:\\temp">',
    '</div></p>x<b',
    '日本語 😀',
    '',
  ];
  for (const html of same)
    it(`does not change: ${html}`, () => expect(templateHtml(html)).to.equal(html));

  const changed: [string, string][] = [
    ['a<script>if (1<2) "</b>"</script>b', 'a<!---->b'],
    ['a<SCRIPT src=x></SCRIPT >b', 'a<!---->b'],
    ['a<link rel=stylesheet href=x>b<meta charset=x>c<base href=x>d', 'a<!---->b<!---->c<!---->d'],
    ['a<iframe src=x><b>inside</b></iframe>b', 'a<!---->b'],
    ['a<object data=x>other</object>b<embed src=x>c', 'a<!---->other<!---->b<!---->c'],
    ['a<noscript><link rel=stylesheet href=x></noscript>b', 'a<!---->b'],
    ['a<script>left open', 'a<!---->'],
    ['<style>@import "x"; b{color:red}</style>', '<style>@no-import "x"; b{color:red}</style>'],
    ['<style>@IMPORT url(x)', '<style>@no-import url(data:,)'],
    ['<style>@\\69 mp\\6Frt "x"</style>', '<style>@no-import "x"</style>'],
    [
      '<style>a{background:url( "http://x/(1).png" ) red}</style>',
      '<style>a{background:url(data:, ) red}</style>',
    ],
    [
      '<style>@font-face{font-family:F;src:url(#f),url(x.woff) format("woff")}</style>',
      '<style>@font-face{font-family:F;src:url(data:,),url(data:,) format("woff")}</style>',
    ],
    ['<b style="clip-path:u\\72 l(http://x/#a)">x</b>', '<b style="clip-path:url(data:,)">x</b>'],
    [
      '<svg><rect fill="url(http://x/#a)" y=\'"\'/></svg>',
      '<svg><rect fill="url(data:,)" y="&quot;"/></svg>',
    ],
    [
      '<svg><style>&#64;import "x&lt;"</style></svg>',
      '<svg><style>@no-import &quot;x&lt;&quot;</style></svg>',
    ],
    ['<svg><script href=x></script></svg>y', '<svg><!----><!----></svg>y'],
    ['<svg><style>@import "x"</svg><link>y', '<svg><style>@no-import &quot;x&quot;</svg><!---->y'],
    ['<<meta>svg><<meta>svg onload=x>', '<<!---->svg><<!---->svg onload=x>'],
  ];
  for (const [html, clean] of changed)
    it(`contains nothing that loads or runs: ${html}`, () =>
      expect(templateHtml(html)).to.equal(clean));

  it('does not grow and takes linear time, whatever it contains', () => {
    const hostile = [
      '<b id=1>',
      '<p>',
      'url("',
      "url('",
      'url( ',
      '@font-face',
      '@font-face{url(',
      '\\6',
      '<style>',
      '<svg>',
      '<!--',
      '<a style="',
      '&#64;',
    ];
    for (const start of ['', '<style>'])
      for (const piece of hostile) {
        const html = start + piece.repeat(65_536 / piece.length);
        // A tenth of a second at most when it is linear; the square of the length took minutes.
        const startMs = performance.now();
        expect(templateHtml(html).length).to.be.at.most(html.length * 2);
        expect(performance.now() - startMs, piece).to.be.lessThan(5_000);
      }
  });
});
