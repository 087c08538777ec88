// Documents that would leave traces in the next one if a warm page were not reset: each changes
// something about the page beside its own content.
import { readFileSync } from 'node:fs';

const STANDARDS = '<!doctype html>';
const TEXT =
  '<h1>Invoice 1</h1><p class=a>Some text <b>of</b> a document.</p><table border=1 width=100%><tr><td>1<td>2</table><ol><li>x<li>y</ol>';
const styled = (css: string, body = TEXT) => `${STANDARDS}<style>${css}</style>${body}`;

/** A font that differs visibly from the default one. */
const FONT = readFileSync('/usr/share/fonts/truetype/liberation/LiberationMono-Bold.ttf', 'base64');

const STYLES = [
  `@font-face{font-family:"Times New Roman";src:url(data:font/ttf;base64,${FONT})}body{font-family:"Times New Roman"}`,
  `@font-face{font-family:x;src:url(data:font/ttf;base64,${FONT})}body{font-family:x}`,
  'body{font-family:x}',
  'body{counter-reset:c 7}p::before{counter-increment:c;content:counter(c) " "}',
  'p::before{counter-increment:c;content:counter(c) " "}',
  'li{counter-increment:list-item 5}',
  '@page{size:A5 landscape;margin:3cm}',
  '@page{margin:0}',
  '@page{@top-center{content:"Page " counter(page)}}',
  '@page :first{margin-top:6cm}',
  '@page a{size:A6}.a{page:a}',
  '.a{page:a}',
  '@property --x{syntax:"<color>";inherits:true;initial-value:red}p{color:var(--x)}',
  'p{color:var(--x,blue)}',
  '@layer one,two;@layer two{p{color:green}}@layer one{p{color:red}}',
  '@layer one{p{color:red}}@layer two{p{color:purple}}',
  ':root{color-scheme:dark}',
  'html{background:#def}',
  'html{font-size:30px}p{font-size:1rem}',
  '@counter-style s{system:cyclic;symbols:"*" "+"}ol{list-style:s}',
  'ol{list-style:s}',
  '@media print{p{color:orange}}@media screen{p{color:cyan}}',
  '@container (min-width:1px){p{color:brown}}body{container-type:inline-size}',
  'html{writing-mode:vertical-rl}',
  'html{direction:rtl}',
  'p{column-count:2}',
  'body{quotes:"<" ">"}p::before{content:open-quote}p::after{content:close-quote}',
  '::selection{color:red}p{user-select:all}',
  ':target{color:red}a:link{color:green}',
  'html{zoom:1.4}',
  'html{overflow:hidden;height:100px}',
  '@font-palette-values --p{font-family:x;base-palette:1}p{font-palette:--p}',
  '@view-transition{navigation:auto}',
  'html{scroll-padding:9cm;scroll-behavior:smooth}',
  'body{position:fixed;inset:2cm}',
];

const HEADS = [
  '<html lang=ar dir=auto>',
  '<html lang=zh><body><q>直す 骨</q>',
  '<html lang=ja><body><q>直す 骨</q>',
  '<title>Another title</title>',
  '<meta name=color-scheme content=dark>',
  '<meta name=viewport content="width=300">',
  '<meta name=theme-color content=red>',
  '<meta name=referrer content=unsafe-url>',
  '<meta http-equiv=content-language content=tr><p style="text-transform:uppercase">iii</p>',
  '<p style="text-transform:uppercase">iii</p>',
  '<meta http-equiv=Content-Security-Policy content="style-src \'none\'"><style>p{color:red}</style>',
  '<meta http-equiv=Content-Security-Policy content="img-src \'none\'">',
  '<meta http-equiv=default-style content=second><style title=first>p{color:red}</style><style title=second>p{color:blue}</style>',
  '<style title=first>p{color:red}</style><style title=second>p{color:blue}</style>',
  '<meta http-equiv=x-dns-prefetch-control content=on>',
  '<meta name=text-scale content=scale>',
];

const BODIES = [
  '<dialog open>A dialog</dialog>',
  '<details open><summary>s</summary>text</details>',
  '<input value=text><select><option>1<option selected>2</select><textarea>t</textarea>',
  '<form><input type=radio name=r checked><input type=radio name=r></form>',
  "<img alt=red src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='40' height='40'><rect fill='red' width='40' height='40'/></svg>\">",
  '<svg width=50 height=50><defs><linearGradient id=g><stop stop-color=red /><stop offset=1 stop-color=blue /></linearGradient></defs><rect fill="url(#g)" width=50 height=50 /></svg>',
  '<svg width=50 height=50><rect fill="url(#g)" width=50 height=50 /></svg>',
  '<a href=#x>a link</a><p id=x>target</p>',
  `<p>${'A long text that fills pages. '.repeat(600)}</p>`,
  '<p style="margin-bottom:40cm">a</p><p>b</p>',
];

/** About sixty documents in standards mode, quirks mode and limited quirks mode. */
export const TRACE_DOCUMENTS: readonly string[] = [
  ...STYLES.map(css => styled(css)),
  ...HEADS.map(head => `${STANDARDS}${head}${TEXT}`),
  ...BODIES.map(body => `${STANDARDS}${body}${TEXT}`),
  TEXT,
  `<table style="font-size:30px"><tr><td>quirks${TEXT}</table>`,
  `<!doctype html public "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">${TEXT}`,
  `${STANDARDS}${TEXT}`,
  `${STANDARDS}<p>`,
];
