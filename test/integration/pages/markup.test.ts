// @proves markup

import { expect } from 'chai';
import { type RealPage, realPages } from '../../support/pages/real-pages.ts';
import { pdfWords } from '../../support/pdf.ts';

const body = (text: string, style = '') =>
  `<!doctype html><style>body { margin: 0 } ${style}</style><body>${text}`;

const markup: RealPage[] = [
  {
    what: 'broken HTML',
    html: '<table><p>LOOSE<tr><td>CELL</table><b><i>CROSSED</b></i><div/><li>ITEM</ul></div></body>AFTER<!-- never closed',
    text: ['LOOSE', 'CELL', 'CROSSED', 'ITEM', 'AFTER'],
  },
  { what: 'a tag that never ends', html: '<h1>SEEN</h1><div class="', text: ['SEEN'] },
  { what: 'a script that never ends', html: '<h1>SEEN</h1><script>if (1 < 2) {', text: ['SEEN'] },
  { what: 'a style that never ends', html: '<h1>SEEN</h1><style>h1 { color: red', text: ['SEEN'] },
  { what: 'no markup at all', html: 'just words & < more', text: ['just words & < more'] },
  {
    what: 'two documents in one',
    html: '<!doctype html><html><body>ONE</body></html><!doctype html><html><body>TWO</body></html>',
    text: ['ONE', 'TWO'],
  },
  {
    what: 'a frame set',
    html: `<frameset cols="50%,50%"><frame src="data:text/html,LEFT"><frame src="data:text/html,RIGHT"></frameset>`,
    text: ['LEFT', 'RIGHT'],
  },
  {
    what: 'errors in scripts',
    html: '<script>throw new Error("x")</script><script>nonsense(</script><h1>SEEN</h1><script>Promise.reject(1)</script>',
    text: ['SEEN'],
  },
  {
    what: 'a page that breaks its own globals',
    html: '<form name=fonts></form><h1>SEEN</h1><script>Promise = null; Object = null; JSON = undefined; window.Array = 1; setTimeout = 0; document.querySelector = null</script>',
    text: ['SEEN'],
  },
];

const sheets: RealPage[] = [
  {
    what: 'something fixed on each page',
    html: body(
      '<div style="position:fixed;top:0">FIXED</div><p style="break-after:page;margin-top:3em">P1</p><p style="break-after:page">P2</p><p>P3</p>',
    ),
    pages: 3,
    look: async pdf =>
      expect(
        (await pdfWords(pdf)).filter(({ text }) => text === 'FIXED').map(({ page }) => page),
      ).to.deep.equal([1, 2, 3]),
  },
  {
    what: 'a table whose head is repeated',
    html: body(
      `<table><thead><tr><th>HEAD</th></tr></thead>${'<tr><td>row</td></tr>'.repeat(150)}</table>`,
    ),
    look: async pdf =>
      expect((await pdfWords(pdf)).filter(({ text }) => text === 'HEAD').length).to.be.greaterThan(
        2,
      ),
  },
  {
    what: 'page breaks where they are asked for',
    html: body(
      '<p>A</p><p style="break-before:page">B</p><p style="page-break-before:always">C</p>',
    ),
    pages: 3,
  },
  {
    what: 'columns and floats',
    html: body(`<div style="columns:3">${'word '.repeat(3_000)}LASTWORD</div>`),
    text: ['LASTWORD'],
  },
  {
    what: '@page rules, whose margins give way to the request',
    html: body(
      '<p>HERE</p>',
      '@page { size: A5 landscape; margin: 50mm; @top-left { content: "BOX" } } @page :first { margin: 0 }',
    ),
    text: ['HERE'],
    pages: 1,
  },
  {
    what: 'counters',
    html: body(
      '<h2>a</h2><h2>b</h2>',
      'h2 { counter-increment: n } h2::before { content: "NR" counter(n) " " }',
    ),
    text: ['NR1 a', 'NR2 b'],
  },
];

const elements: RealPage[] = [
  {
    what: 'custom elements and shadow DOM',
    html: body(
      '<x-card>SLOTTED</x-card><script>customElements.define("x-card", class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: "closed" }).innerHTML = "<style>b { color: red }</style><b>SHADOW</b> <slot></slot>" } })</script>',
    ),
    text: ['SHADOW', 'SLOTTED'],
  },
  {
    what: 'shadow DOM without a script',
    html: body(
      '<div><template shadowrootmode="open"><p>DECLARED</p><slot></slot></template>LIGHT</div>',
    ),
    text: ['DECLARED', 'LIGHT'],
  },
  {
    what: 'forms with what is filled in',
    html: body(
      '<input value=TYPED><textarea>AREA</textarea><select><option>NO<option selected>CHOSEN</select><input type=password value=HIDDEN><button>PRESS</button><script>document.querySelector("input").value = "SET"</script>',
    ),
    text: ['SET', 'AREA', 'CHOSEN', 'PRESS'],
    without: ['HIDDEN', 'TYPED'],
  },
  {
    what: 'closed and open details',
    html: body(
      '<details><summary>SUM</summary>CLOSED</details><details open><summary>SUM2</summary>OPEN</details>',
    ),
    text: ['SUM', 'OPEN'],
    without: ['CLOSED'],
  },
  {
    what: 'an open dialog element',
    html: body('<p>PAGE</p><dialog id=d>MODAL</dialog><script>d.showModal()</script>'),
    text: ['PAGE', 'MODAL'],
  },
  {
    what: 'video, audio, object and embed with nothing to play',
    html: body(
      '<video src="/none.mp4" poster="/none.png">V</video><audio controls src="/none.mp3">A</audio><object data="/none.bin">INSTEAD</object><embed src="/none.swf"><p>AFTER</p>',
    ),
    text: ['INSTEAD', 'AFTER'],
  },
  {
    what: 'an image that fails',
    serve: { '/pictures': '<img alt=INSTEAD src=/none.png><p>AFTER</p>' },
    text: ['INSTEAD', 'AFTER'],
  },
  {
    what: 'text that only exists after a wait',
    html: body(
      '<p id=o></p><script>setTimeout(() => { o.textContent = "ARRIVED"; o.className = "done" }, 300)</script>',
    ),
    options: { wait_for_selector: '.done' },
    text: ['ARRIVED'],
  },
];

realPages('markup', markup);
realPages('elements', elements);
realPages('sheets', sheets);
