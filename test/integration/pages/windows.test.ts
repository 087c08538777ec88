// @proves windows

import { realPages } from '../../support/pages/real-pages.ts';

const script = (text: string, body = '') =>
  `<!doctype html><body>${body}<p id="o"></p><script>${text}</script><p>AND THE REST</p>`;
const says = "const say = text => { o.textContent += ' ' + text };";
const download = (_request: unknown, response: import('node:http').ServerResponse) =>
  response
    .writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="downloaded.bin"',
    })
    .end('x'.repeat(50_000));
const toDownload = (text: string) => ({
  '/page': `<h1>YOUR DOWNLOAD</h1><a id=a href=/file download=downloaded.bin>x</a>${text}`,
  '/file': download,
});

realPages('pages with dialogs', [
  {
    what: 'a page with every dialog, each answered with OK',
    html: script(
      `${says} alert('x'); say('CONFIRM-' + confirm('x')); say('PROMPT-' + prompt('x', 'default'));`,
    ),
    text: ['CONFIRM-true', 'PROMPT-default', 'AND THE REST'],
  },
  {
    what: '100 alerts in a row',
    html: script("for (let i = 0; i < 100; i++) alert(i); o.textContent = 'ALL SEEN'"),
    text: ['ALL SEEN'],
  },
  {
    what: 'alerts without end',
    html: script('for (;;) alert(1)'),
    fails: { reason: 'page_timeout', message: /2 s.*load event/ },
  },
  {
    what: 'a dialog while it is printed',
    html: script(
      `addEventListener('beforeprint', () => { alert(1); o.textContent = 'BEFORE PRINT' })`,
    ),
    text: ['BEFORE PRINT'],
  },
  {
    what: 'a dialog after the load event',
    html: script(`onload = () => setTimeout(() => { alert(1); o.textContent = 'LATE' })`),
    options: { wait_for_expression: "o.textContent === 'LATE'" },
    text: ['LATE'],
  },
  {
    what: 'a page that asks before it is left, and leaves',
    serve: {
      '/page': script("onbeforeunload = () => 'stay'; onload = () => { location = '/next' }"),
      '/next': '<h1 id=next>NEXT</h1>',
    },
    options: { wait_for_selector: '#next' },
    text: ['NEXT'],
  },
  {
    what: 'dialogs of frames',
    serve: { '/alerts': '<script>alert(2)</script>' },
    html: ({ other }) =>
      script(
        '',
        `<iframe srcdoc="<script>alert(1);document.write('INSIDE')</script>"></iframe><iframe src="${other}/alerts"></iframe>`,
      ),
    text: ['INSIDE', 'AND THE REST'],
  },
]);

realPages('pages that print and close', [
  {
    what: 'a page that calls print()',
    html: script('print(); onload = () => print()'),
    text: ['AND THE REST'],
  },
  {
    what: 'a page that calls print() a thousand times',
    html: script('for (let i = 0; i < 1000; i++) print()'),
    text: ['AND THE REST'],
  },
  {
    what: 'what a page prepares for print, and not what it does after it',
    html: script(
      "onbeforeprint = () => { o.textContent = 'PREPARED' }; onafterprint = () => { o.textContent = 'TIDIED' }",
    ),
    text: ['PREPARED'],
    without: ['TIDIED'],
  },
  {
    what: 'a page that changes when its media become print',
    html: script(
      "matchMedia('print').onchange = () => {}; o.textContent = matchMedia('print').matches ? 'FOR PRINT' : 'FOR SCREEN'",
    ),
    text: ['FOR PRINT'],
  },
  { what: 'a page that closes itself', html: script('close()'), text: ['AND THE REST'] },
  {
    what: 'a page that prints itself and closes',
    serve: { '/receipt': '<body onload="print(); close()"><h1>RECEIPT</h1>' },
    text: ['RECEIPT'],
  },
  {
    what: 'html that prints itself and closes',
    html: '<body onload="print(); close()"><h1>RECEIPT</h1>',
    text: ['RECEIPT'],
  },
  {
    what: 'a page that closes itself later',
    html: script('setTimeout(() => { close(); o.className = "closed" }, 100)'),
    options: { wait_for_selector: '.closed' },
    text: ['AND THE REST'],
  },
]);

realPages('pages with popups', [
  {
    what: 'a page that opens windows, which do not come',
    html: ({ victim, base }) =>
      script(
        `${says} say(String(open('${victim}/'))); say(String(open('${base}/x'))); say(String(open('about:blank')))`,
      ),
    text: ['null null null', 'AND THE REST'],
  },
  {
    what: 'a page that opens windows by links and forms',
    html: ({ victim }) =>
      script(
        'a.click(); f.submit(); b.click()',
        `<a id=a target=_blank href="${victim}/">x</a><form id=f target=w action="${victim}/"></form><a id=b target=_blank rel=opener href="${victim}/">x</a>`,
      ),
    text: ['AND THE REST'],
  },
  {
    what: 'a thousand windows',
    html: script('for (let i = 0; i < 1000; i++) open("about:blank", "w" + i)'),
    text: ['AND THE REST'],
  },
  {
    what: 'a window without a connection to its page',
    serve: ({ victim }) => ({ '/page': script(`open('${victim}/', '_blank', 'noopener')`) }),
    text: ['AND THE REST'],
  },
]);

realPages('pages with downloads', [
  {
    what: 'a page beside a download that a link starts',
    serve: toDownload('<script>a.click()</script>'),
    text: ['YOUR DOWNLOAD'],
  },
  {
    what: 'a page beside a download that it starts after its load',
    serve: toDownload('<script>onload = () => a.click()</script>'),
    options: { wait_delay: '300ms' },
    text: ['YOUR DOWNLOAD'],
  },
  {
    what: 'a page that goes to a download by script',
    serve: toDownload("<script>onload = () => { location = '/file' }</script>"),
    options: { wait_delay: '300ms' },
    text: ['YOUR DOWNLOAD'],
  },
  {
    what: 'a page that goes to a download before its load, which stops it',
    serve: toDownload("<script>location = '/file'</script>"),
    fails: { reason: 'page_unreachable', message: /before it had loaded/ },
  },
  {
    what: 'html that goes to a download before its load, which stops it',
    serve: { '/file': download, '/silent.png': () => {} },
    html: ({ base }) => script(`location = '${base}/file'`, `<img src="${base}/silent.png">`),
    fails: { reason: 'page_unreachable', message: /before it had loaded/ },
  },
  {
    what: 'a page that refreshes to a download',
    serve: toDownload('<meta http-equiv=refresh content="0;url=/file">'),
    options: { wait_delay: '300ms' },
    text: ['YOUR DOWNLOAD'],
  },
  {
    what: 'a page with a download in a frame',
    serve: toDownload('<iframe src=/file></iframe>'),
    text: ['YOUR DOWNLOAD'],
  },
  {
    what: 'html that goes to a download',
    serve: { '/file': download },
    html: ({ base }) => script(`onload = () => { location = '${base}/file' }`),
    options: { wait_delay: '300ms' },
    text: ['AND THE REST'],
  },
  {
    what: 'a download made of a blob',
    html: script(
      "const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['x'.repeat(1e6)])); a.download = 'downloaded.bin'; a.click()",
    ),
    text: ['AND THE REST'],
  },
  {
    what: 'a hundred downloads',
    html: script(
      "for (let i = 0; i < 100; i++) { const a = document.createElement('a'); a.href = 'data:application/zip,xxxx'; a.download = 'downloaded' + i; a.click() }",
    ),
    text: ['AND THE REST'],
  },
  {
    what: 'a document that is a download',
    serve: { '/only-file': download },
    fails: { reason: 'page_unreachable', message: /download/ },
  },
]);
