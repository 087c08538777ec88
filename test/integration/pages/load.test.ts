// @proves page-load

import { expect } from 'chai';
import { type RealPage, realPages } from '../../support/pages/real-pages.ts';
import { pdfInfo } from '../../support/pdf.ts';
import type { Page } from '../../support/servers/web-server.ts';

const paragraphs = (count: number) =>
  Array.from(
    { length: count },
    (_, n) =>
      `<p>Paragraph ${n} of a long document, with words enough for a line or two of text on a sheet.</p>`,
  ).join('');
const script = (text: string) =>
  `<!doctype html><body><p id=o>PAGE</p><script>${text}</script><p>AFTER</p>`;
/** The beginning of an image of 1000 by 1000 pixels, whose data never come. */
const PNG_HEAD = Buffer.from(
  '89504e470d0a1a0a0000000d49484452000003e8000003e80802000000c2c13fc300ffffff49444154',
  'hex',
);
const dripping: Page = (_request, response) => {
  response.writeHead(200, { 'content-type': 'image/png' }).write(PNG_HEAD);
  const timer = setInterval(() => response.write('\0'), 50);
  response.on('close', () => clearInterval(timer));
};
const chain: Page = (request, response) => {
  const n = Number(new URL(request.url!, 'http://x').searchParams.get('n'));
  response
    .writeHead(200, { 'content-type': 'text/css' })
    .end(`@import url("/chain.css?n=${n + 1}"); p { color: red }`);
};

const never: RealPage[] = [
  {
    what: 'a script that never ends',
    html: script('for (;;);'),
    fails: { reason: 'page_timeout', message: /load event/ },
  },
  {
    what: 'a script that never ends after the load',
    html: script('onload = () => setTimeout(() => { for (;;); })'),
    options: { wait_for_selector: '#never' },
    fails: { reason: 'page_timeout', message: /load event|fonts|wait_for_selector/ },
  },
  {
    what: 'a script that never ends when it is printed',
    html: script('onbeforeprint = () => { for (;;); }'),
    fails: { reason: 'page_timeout', message: /PDF to be printed/ },
  },
  {
    what: 'promises that never end',
    html: script('const again = () => Promise.resolve().then(again); again()'),
    fails: { reason: 'page_timeout', message: /load event/ },
  },
  {
    what: 'an expression that never ends',
    html: script(''),
    options: { wait_for_expression: '(() => { for (;;); })()' },
    fails: { reason: 'page_timeout', message: /wait_for_expression/ },
  },
  {
    what: 'an image that never answers',
    serve: { '/image': '<img src=/silent.png><p>PAGE', '/silent.png': () => {} },
    fails: { reason: 'page_timeout', message: /load event/ },
  },
  {
    what: 'an image that drips without end',
    serve: { '/image': '<img src=/drip.png><p>PAGE', '/drip.png': dripping },
    fails: { reason: 'page_timeout', message: /load event/ },
  },
  {
    what: 'a stylesheet that never answers',
    serve: { '/style': '<link rel=stylesheet href=/silent.css><p>PAGE', '/silent.css': () => {} },
    fails: { reason: 'page_timeout', message: /load event/ },
  },
  {
    what: 'a script that never answers',
    serve: { '/script': '<script src=/silent.js></script><p>PAGE', '/silent.js': () => {} },
    fails: { reason: 'page_timeout', message: /load event/ },
  },
  {
    what: 'a script put off that never answers',
    serve: { '/script': '<script src=/silent.js async></script><p>PAGE', '/silent.js': () => {} },
    fails: { reason: 'page_timeout', message: /load event/ },
  },
  {
    what: 'a fetch that never answers, when the network is to be idle',
    serve: { '/fetch': '<p>PAGE<script>fetch("/silent")</script>', '/silent': () => {} },
    options: { wait_for_network_idle: true },
    fails: { reason: 'page_timeout', message: /network to be idle/ },
  },
  {
    what: 'a page that fetches without end, when the network is to be idle',
    serve: {
      '/poll':
        '<p>PAGE<script>const again = () => fetch("/ok").then(again, again); again()</script>',
      '/ok': 'ok',
    },
    options: { wait_for_network_idle: true },
    fails: { reason: 'page_timeout', message: /network to be idle/ },
  },
];

const busy: RealPage[] = [
  {
    what: 'a fetch that never answers and is not awaited',
    serve: { '/fetch': '<p>PAGE<script>fetch("/silent")</script>', '/silent': () => {} },
    text: ['PAGE'],
  },
  {
    what: 'an image put off that never answers',
    serve: {
      '/lazy': '<p>PAGE</p><div style="height:9000px"></div><img loading=lazy src=/silent.png>',
      '/silent.png': () => {},
    },
    text: ['PAGE'],
  },
  {
    what: 'style sheets that import one another up to the limit of requests',
    serve: { '/chain': '<link rel=stylesheet href="/chain.css?n=0"><p>PAGE', '/chain.css': chain },
    text: ['PAGE'],
  },
  {
    what: 'a stylesheet that imports itself',
    serve: {
      '/ring': '<link rel=stylesheet href=/ring.css><p>PAGE',
      '/ring.css': (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/css' })
          .end('@import "/ring.css"; p::after { content: " STYLED" }'),
    },
    text: ['PAGE STYLED'],
  },
  {
    what: 'a thousand timers',
    html: script(
      'for (let i = 0; i < 1000; i++) setInterval(() => { o.textContent = "TICK " + i }, 0)',
    ),
    options: { wait_delay: '200ms' },
    text: ['TICK', 'AFTER'],
  },
  {
    what: 'frames of animation without end',
    html: script(
      'const step = () => { o.style.width = Math.random() * 500 + "px"; requestAnimationFrame(step) }; step()',
    ),
    options: { wait_delay: '200ms' },
    text: ['AFTER'],
  },
  {
    what: 'a page that changes itself without end',
    html: script(
      'setInterval(() => { for (let i = 0; i < 50; i++) document.body.append("x ") }, 1)',
    ),
    options: { wait_delay: '200ms' },
    text: ['AFTER'],
  },
  {
    what: 'a page that says much',
    html: script(
      'for (let i = 0; i < 20000; i++) console.log("x".repeat(100), i, { a: { b: document } })',
    ),
    text: ['AFTER'],
  },
  {
    what: 'a page that stores much',
    serve: {
      '/store':
        '<p>PAGE<script>try { for (;;) localStorage.setItem(Math.random(), "x".repeat(1e5)) } catch (e) { document.title = "full" }</script>',
    },
    options: { wait_for_expression: 'document.title === "full"' },
    text: ['PAGE'],
  },
];

const large: RealPage[] = [
  {
    what: '5 MB of HTML',
    html: `<h1>TOP</h1><!-- ${'x'.repeat(2 ** 20)} -->${'<p hidden>x</p>'.repeat(270_000)}<h1>BOTTOM</h1>`,
    text: ['TOP', 'BOTTOM'],
    pages: 1,
  },
  {
    what: '1 MB of text in one paragraph',
    html: `${'word '.repeat(200_000)}<b>LASTWORD</b>`,
    text: ['LASTWORD'],
  },
  {
    what: '300 pages',
    html: Array.from({ length: 300 }, (_, n) => `<h1 style="break-after:page">PAGE-${n + 1}-</h1>`)
      .join('')
      .replace(/break-after:page(">PAGE-300-)/, '$1'),
    pages: 300,
    text: ['PAGE-1-', 'PAGE-150-', 'PAGE-300-'],
  },
  {
    what: 'many pages of ordinary text',
    html: paragraphs(5_000),
    text: ['Paragraph 0 ', 'Paragraph 4999 '],
    look: async pdf => expect((await pdfInfo(pdf)).pages).to.be.greaterThan(100),
  },
  {
    what: '100,000 elements',
    html: `<style>i { font-size: 4px }</style>${'<i>a </i>'.repeat(100_000)}<b>LAST</b>`,
    text: ['LAST'],
  },
  {
    what: '5,000 elements in one another',
    html: `${'<div>'.repeat(5_000)}DEEP${'</div>'.repeat(5_000)}<p>AFTER</p>`,
    text: ['DEEP', 'AFTER'],
  },
  {
    what: '500 tables in one another',
    html: `${'<table><tr><td>'.repeat(500)}DEEP`,
    text: ['DEEP'],
  },
  {
    what: 'a table of 5,000 rows',
    html: `<table border=1>${Array.from({ length: 5_000 }, (_, n) => `<tr><td>ROW${n}</td><td>value</td><td>${n * n}</td></tr>`).join('')}</table>`,
    text: ['ROW0 ', 'ROW4999 '],
  },
  {
    what: 'a table of 500 columns',
    html: `<table border=1><tr>${'<td>c</td>'.repeat(499)}<td>LASTCOL</td></tr></table><p>AFTER</p>`,
    text: ['AFTER'],
  },
  { what: 'a very long word', html: `<p>${'w'.repeat(20_000)}</p><p>AFTER</p>`, text: ['AFTER'] },
  {
    what: 'an image as a data: URL of 100 MB',
    html: script(
      'const i = new Image(); i.onload = i.onerror = () => { document.title = "seen" }; i.src = "data:image/png;base64," + "A".repeat(1e8); document.body.append(i)',
    ),
    options: { wait_for_expression: 'document.title === "seen"' },
    text: ['AFTER'],
  },
  {
    what: 'a navigation to a data: URL of 100 MB',
    html: script('onload = () => { location = "data:text/html," + "A".repeat(1e8) }'),
    options: { wait_delay: '1s' },
    text: ['AFTER'],
  },
  {
    what: 'a frame that is moved to a data: URL of 100 MB',
    html: script(
      'const f = document.createElement("iframe"); document.body.append(f); onload = () => { f.src = "data:text/html," + "A".repeat(1e8) }',
    ),
    options: { wait_for_selector: '#never' },
    fails: { reason: 'output_limit', message: /several megabytes/ },
  },
  {
    what: 'a blob of 100 MB',
    html: script('const b = new Blob([new Uint8Array(1e8)]); o.textContent = "BLOB " + b.size'),
    text: ['BLOB 100000000'],
  },
  {
    what: 'a page that is very wide',
    html: '<div style="width:100000px">WIDE</div><p>AFTER</p>',
    text: ['WIDE', 'AFTER'],
  },
  {
    what: 'an element taller than Chrome can lay out',
    html: '<p>TOP</p><div style="height:99999999999px"></div>',
    fails: { reason: 'page_timeout', message: /printed/ },
  },
];

realPages('what never ends', never);
realPages('what is busy', busy);
realPages('what is large', large);
