import { type Attack, attacks } from '../../support/pages/attack-pages.ts';

const markup = (what: string, body: string, more: Attack['serve'] = {}, done?: string): Attack => ({
  what,
  serve: { '/': `<!doctype html><h1>PAGE</h1>${body}`, ...more },
  ...(done && { done }),
});
const script = (what: string, code: string, more: Attack['serve'] = {}, done?: string) =>
  markup(what, `<script>${code}</script>`, more, done);
const css = (what: string, text: string) =>
  markup(`from a stylesheet, ${what}`, `<style>${text}</style><div id=a>A</div><ul><li>B</ul>`);
const svg = (what: string, body: string) =>
  markup(
    `from an SVG, ${what}`,
    `<svg xmlns:xlink="http://www.w3.org/1999/xlink" width=100 height=100>${body}</svg>`,
  );
const headers = (
  what: string,
  fields: Record<string, string>,
  body = '',
  done = 'performance.now() > 500',
): Attack => ({
  what: `by ${what}`,
  serve: { '/': { headers: fields, body: `<!doctype html><h1>PAGE</h1>${body}` } },
  done,
});
const xml = (what: string, body: string, more: Attack['serve'] = {}): Attack => ({
  what: `from XML, ${what}`,
  serve: { '/': { type: 'application/xml', body }, ...more },
});
const away = { status: 302, headers: { location: 'http://%V/' } };

attacks('a page that loads a resource from a private address', [
  markup(
    'in an image, in each form',
    `<img src="http://%V/"><img srcset="https://%V/ 1x"><picture><source srcset="//%V/ 1x"><img></picture><input type=image src="http://%V/">
     <body background="http://%V/"><table background="http://%V/"><tr><td>x</table><video poster="http://%V/"></video><img src="/away">`,
    { '/away': away },
  ),
  script(
    'in an image that a script creates',
    'new Image().src = "http://%V/"; document.createElement("img").srcset = "http://%V/ 2x"',
  ),
  markup(
    'in a lazy image',
    '<p style="height:9000px"><img loading=lazy src="http://%Q/">',
    {},
    'performance.now() > 500',
  ),
  css(
    'as backgrounds',
    '#a { background: url(http://%V/), image-set("http://%V/" 1x), -webkit-image-set(url(https://%V/) 1x), -webkit-cross-fade(url(http://%V/), url(http://%V/), 50%) }',
  ),
  css(
    'as content and borders',
    '#a::before { content: url(http://%V/) } #a { border-image: url(http://%V/) 1; mask-image: url(http://%V/); shape-outside: url(http://%V/); float: left } li { list-style: url("http://%V/") }',
  ),
  css(
    'as filters and paths',
    '#a { filter: url(http://%Q/#f); clip-path: url(http://%V/#f); backdrop-filter: url(http://%Q/#f) } ul { mask: url(http://%V/#m) } li { cursor: url(http://%Q/), auto; offset-path: url(http://%Q/#p) }',
  ),
  css(
    'as imports',
    '@import "http://%V/"; @import url(//%V/) print; @import url("https://%V/") layer(a) supports(display: grid);',
  ),
  css(
    'as fonts',
    '@font-face { font-family: f; src: url(http://%V/) format("woff2"), url(https://%V/) } #a { font-family: f }',
  ),
  css('in escapes', '#a { background: \\75rl(\\68ttp://%V/) }'),
  markup(
    'in imports of its own style sheets',
    '<link rel=stylesheet href=/a.css><link rel=stylesheet href=/b.css>',
    {
      '/a.css': { type: 'text/css', body: '@import "/b.css"; h1 { background: url(http://%V/) }' },
      '/b.css': { type: 'text/css', body: '@import "http://%V/"' },
    },
  ),
  markup(
    'in links',
    '<link rel=stylesheet href="http://%V/"><link rel=preload as=font crossorigin href="http://%V/"><link rel=preload as=style href="http://%V/"><link rel="alternate stylesheet" title=x href="http://%V/">',
  ),
  markup(
    'in links that headless Chrome may ignore',
    '<link rel=icon href="http://%Q/"><link rel=apple-touch-icon href="http://%Q/"><link rel=manifest href="http://%Q/"><link rel=search href="http://%Q/"><link rel=dns-prefetch href="http://%Q/"><link rel=preconnect href="https://%Q/"><link rel="compression-dictionary" href="http://%Q/"><link rel=pingback href="http://%Q/"><link rel=canonical href="http://%Q/"><link rel=next href="http://%Q/"><link rel=prerender href="http://%Q/">',
    {},
    'performance.now() > 700',
  ),
  script(
    'in fonts that a script loads',
    'new FontFace("f", "url(http://%V/)").load().catch(() => {})',
  ),
  markup(
    'in embedded documents',
    '<object data="http://%V/"></object><embed src="http://%V/"><iframe src="http://%V/"></iframe><object type="image/svg+xml" data="https://%V/"></object><object data="http://%Q/" type="application/pdf"></object>',
  ),
  {
    what: 'in a frameset',
    serve: {
      '/': '<frameset cols="*,*"><frame src="http://%V/"><frame src="/page"></frameset>',
      '/page': '<h1>PAGE</h1>',
    },
  },
  markup(
    'in frames that redirect, refresh or navigate',
    '<iframe src=/away></iframe><iframe src=/refresh></iframe><iframe src=/moves></iframe><iframe srcdoc="<meta http-equiv=refresh content=0;http://%V/>"></iframe><iframe credentialless src="http://%V/"></iframe>',
    {
      '/away': away,
      '/refresh': { headers: { refresh: '0;url=http://%V/' } },
      '/moves': '<script>location = "http://%V/"</script>',
    },
  ),
  markup(
    'in a frame that is the target of a form and of a link',
    '<iframe name=f></iframe><iframe name=g></iframe><form target=f method=post action="http://%V/"></form><a target=g href="http://%V/">x</a><script>document.forms[0].submit(); document.links[0].click()</script>',
  ),
  markup(
    'in a new window',
    '<form target=_blank action="http://%Q/"></form><a target=_blank href="http://%Q/">x</a><script>document.forms[0].submit(); document.links[0].click(); window.open("http://%Q/"); window.open("http://%Q/", "x", "noopener")</script>',
    {},
    'performance.now() > 700',
  ),
  svg(
    'as images',
    '<image href="http://%V/" width=9 height=9 /><image xlink:href="http://%V/" width=9 height=9 /><filter id=f><feImage href="http://%V/"/></filter><rect filter="url(#f)" width=9 height=9 />',
  ),
  svg(
    'as referenced elements',
    '<use href="http://%Q/#a"/><use xlink:href="https://%Q/#a"/><rect fill="url(http://%V/#a)" width=9 height=9 /><path marker-start="url(http://%V/#m)" d="M0 0L9 9"/><text><textPath href="http://%Q/#p">x</textPath></text>',
  ),
  svg(
    'in HTML and in styles',
    '<foreignObject width=99 height=99><div style="background:url(http://%V/)"><img src="http://%V/"><iframe src="http://%V/"></iframe></div></foreignObject><style>@import "http://%V/"; rect { fill: url(http://%V/#x) }</style><rect width=9 height=9 />',
  ),
  svg(
    'as scripts and by animation',
    '<script href="http://%V/"></script><image width=9 height=9><set attributeName=href to="http://%V/"/></image><image width=9 height=9><animate attributeName=href values="http://%V/;http://%Q/" dur=1s /></image>',
  ),
  markup(
    'in an SVG image, which loads no resources',
    '<img src=/drawing.svg><div style="width:9px;height:9px;background:url(/drawing.svg)"></div>',
    {
      '/drawing.svg': {
        type: 'image/svg+xml',
        body: '<?xml-stylesheet href="http://%Q/"?><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="http://%Q/"/><use href="http://%Q/#a"/><style>@import "http://%Q/"; @font-face { font-family: f; src: url(http://%Q/) } text { font-family: f }</style><text>x</text><script href="http://%Q/"/></svg>',
      },
    },
    'performance.now() > 500',
  ),
  {
    what: 'in an SVG document',
    serve: {
      '/': {
        type: 'image/svg+xml',
        body: '<?xml-stylesheet href="http://%V/" type="text/css"?><svg xmlns="http://www.w3.org/2000/svg" width="400" height="200"><text y="50">PAGE</text><image href="http://%V/" width="9" height="9"/><script href="http://%V/"/></svg>',
      },
    },
  },
  xml(
    'as a stylesheet',
    '<?xml version="1.0"?><?xml-stylesheet type="text/css" href="http://%V/"?><a>PAGE</a>',
  ),
  xml(
    'as entities and in the document type',
    '<?xml version="1.0"?><!DOCTYPE html SYSTEM "http://%Q/" [<!ENTITY e SYSTEM "http://%Q/"><!ENTITY % p SYSTEM "http://%Q/"> %p;]><html xmlns="http://www.w3.org/1999/xhtml"><body>PAGE &e;<img src="http://%V/"/></body></html>',
  ),
  xml(
    'in an XSL transformation',
    '<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="/sheet.xsl"?><a/>',
    {
      '/sheet.xsl': {
        type: 'text/xsl',
        body: '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html><body>PAGE<img src="http://%V/"/><xsl:copy-of select="document(\'http://%Q/\')"/></body></html></xsl:template></xsl:stylesheet>',
      },
    },
  ),
  markup(
    'in MathML',
    '<math><mtext href="http://%Q/">x</mtext><annotation-xml encoding="text/html"><img src="http://%V/"></annotation-xml></math>',
  ),
  markup(
    'in audio and video',
    '<video src="http://%V/"></video><video><source src="https://%V/" type="video/mp4"></video><audio preload=auto src="http://%V/"></audio><video src=/film crossorigin><track default src="http://%V/"></video>',
    {
      '/film': { type: 'video/mp4', body: '' },
    },
  ),
  markup(
    'in scripts and modules',
    '<script src="http://%V/"></script><script type=module src="http://%V/"></script><script async src="https://%V/"></script><script type=module>import "http://%V/"</script><script type=module>import("http://%V/").catch(() => {}); import("http://%V/", { with: { type: "json" } }).catch(() => {}); import("http://%V/", { with: { type: "css" } }).catch(() => {})</script><link rel=modulepreload href="http://%V/"><script src=/away></script>',
    { '/away': away },
  ),
  markup(
    'in modules of an import map',
    '<script type=importmap>{"imports": {"a": "http://%V/", "b/": "http://%V/"}}</script><script type=module>import "a"</script><script type=module>import("b/c").catch(() => {})</script>',
  ),
  markup(
    'in relative URLs with a base',
    '<base href="http://%V/"><img src="x.png"><script src="y.js"></script>',
  ),
  script(
    'in worklets',
    'for (const load of [() => CSS.paintWorklet.addModule("http://%V/"), () => new AudioContext().audioWorklet.addModule("http://%V/")]) load().catch(() => {})',
  ),
  headers('a Link header that preloads', {
    link: '<http://%V/>; rel=preload; as=image, <http://%V/>; rel=preload; as=script, <http://%V/>; rel=modulepreload',
  }),
  headers('a Link header that only connects', {
    link: '<http://%Q/>; rel=preconnect, <http://%Q/>; rel=dns-prefetch, <http://%Q/>; rel=stylesheet, <https://%Q/>; rel=prefetch',
  }),
  headers(
    'reports of the Content-Security-Policy',
    {
      'content-security-policy': "img-src 'none'; report-uri http://%V/",
      'content-security-policy-report-only':
        "font-src 'none'; style-src 'none'; report-uri https://%V/",
    },
    '<img src=/x><style>h1 { color: red }</style>',
  ),
  headers(
    'browser reports',
    {
      'report-to': '{"group":"default","max_age":99,"endpoints":[{"url":"http://%Q/"}]}',
      'reporting-endpoints': 'default="https://%Q/", csp="http://%Q/"',
      nel: '{"report_to":"default","max_age":99,"success_fraction":1}',
      'content-security-policy': "img-src 'none'; report-to csp",
      'cross-origin-opener-policy-report-only': 'same-origin; report-to="default"',
      'permissions-policy-report-only': 'geolocation=();report-to=default',
    },
    '<img src=/x><script>document.domain; navigator.geolocation.getCurrentPosition(() => {})</script>',
  ),
  headers(
    'headers that name other servers',
    {
      'alt-svc': 'h2="%Q", h3="%Q", clear="%Q"',
      'accept-ch': 'sec-ch-ua',
      'speculation-rules': '"http://%V/"',
      sourcemap: 'http://%Q/',
      'content-location': 'http://%Q/',
      'x-frame-options': 'ALLOW-FROM http://%Q/',
      'attribution-reporting-register-source': '{"destination":"http://%Q/"}',
      'use-as-dictionary': 'match="/*"',
      'critical-ch': 'sec-ch-ua',
    },
    '<img src=/again>',
  ),
  headers(
    'source maps',
    {},
    '<script src="data:text/javascript,1//%23 sourceMappingURL=http://%Q/"></script><style>h1 { color: red } /*# sourceMappingURL=http://%Q/ */</style>',
  ),
  {
    what: 'in header and footer',
    serve: { '/': '<h1>PAGE</h1>' },
    options: {
      header: {
        html: '<style>@import "http://%Q/"; @font-face { font-family: F; src: url(http://%Q/) } span { font-family: F }</style><span style="font-size:10px">H</span><iframe src="http://%Q/"></iframe>',
      },
      footer: {
        html: '<script>new Image().src = "http://%Q/"</script><object data="http://%Q/"></object><video src="http://%Q/"></video>',
      },
    },
    done: 'true',
  },
  {
    what: 'in css of the request',
    html: '<h1>PAGE</h1>',
    options: {
      css: '@import "http://%V/"; h1 { background: url(http://%V/) } @font-face { font-family: f; src: url(http://%V/) } h1 { font-family: f }',
    },
  },
  {
    what: 'in javascript of the request',
    html: '<h1>PAGE</h1>',
    options: {
      javascript:
        'fetch("http://%V/").catch(() => {}); import("http://%V/").catch(() => {}); new Image().src = "http://%V/"; undefined',
    },
  },
  {
    what: 'in a lazy image that lazy_load_images loads',
    html: '<h1>PAGE</h1><p style="height:9000px"><img loading=lazy src="http://%V/">',
    options: { lazy_load_images: true },
  },
]);
