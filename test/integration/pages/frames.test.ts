// @proves frames-and-workers

import { type RealPage, realPages } from '../../support/pages/real-pages.ts';

const body = (text: string, style = '') =>
  `<!doctype html><style>body { margin: 0 } ${style}</style><body>${text}`;

const frames: RealPage[] = [
  {
    what: 'frames of its own, of another site, and in one another',
    serve: ({ other }) => ({
      '/frames': `<h1>OUTER</h1><iframe srcdoc="<p>SRCDOC</p>"></iframe><iframe src=/same></iframe><iframe src="${other}/cross"></iframe>`,
      '/same': '<p>SAME</p>',
      '/cross': `<p>CROSS</p><iframe src="${other}/inner" height=50></iframe>`,
      '/inner': '<p>INNER</p>',
    }),
    text: ['OUTER', 'SRCDOC', 'SAME', 'CROSS', 'INNER'],
  },
  {
    what: 'a frame that holds itself',
    serve: { '/self': '<p>SELF</p><iframe src="/self"></iframe>' },
    text: ['SELF'],
  },
  {
    what: 'a frame that holds itself under ever new addresses',
    // Slower than the limit of requests would need to end it first.
    serve: {
      '/nest': (_request, response) =>
        void setTimeout(
          () =>
            response
              .writeHead(200, { 'content-type': 'text/html' })
              .end(
                '<p>NEST</p><script>const f = document.createElement("iframe"); f.src = "/nest?" + Math.random(); document.body.append(f)</script>',
              ),
          50,
        ),
    },
    fails: { reason: 'page_timeout', message: /load event/ },
  },
  {
    what: 'a frame that may not be reached',
    html: ({ victim }) => `<p>AROUND</p><iframe src="${victim}/"></iframe>`,
    text: ['AROUND'],
    without: ['SECRET'],
  },
  {
    what: 'a frame that never answers',
    serve: { '/waits': '<p>AROUND</p><iframe src=/silent></iframe>', '/silent': () => {} },
    fails: { reason: 'page_timeout', message: /load event/ },
  },
  {
    what: 'a frame that tries to move its page',
    serve: ({ victim }) => ({
      '/holds': `<p>STAYS</p><iframe sandbox="allow-scripts" srcdoc="<script>try { top.location = '${victim}/' } catch {}</script>"></iframe>`,
    }),
    text: ['STAYS'],
  },
  {
    what: 'a hundred frames',
    html: `<p>MANY</p>${'<iframe srcdoc="<b>F</b>" width=20 height=20></iframe>'.repeat(100)}`,
    text: ['MANY'],
  },
];

const workers: RealPage[] = [
  {
    what: 'a page whose service worker answers for it',
    at: 'secure',
    serve: {
      '/app':
        '<p id=o>FIRST</p><script>navigator.serviceWorker.register("/sw.js").then(() => navigator.serviceWorker.ready).then(() => location.reload())</script>',
      '/sw.js': (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/javascript' })
          .end(
            'oninstall = () => skipWaiting(); onactivate = event => event.waitUntil(clients.claim()); onfetch = event => { if (event.request.mode === "navigate") event.respondWith(new Response("<h1 id=sw>FROM THE WORKER</h1>", { headers: { "content-type": "text/html" } })) }',
          ),
    },
    options: { wait_for_selector: '#sw' },
    text: ['FROM THE WORKER'],
  },
  {
    what: 'the same page afterwards without that service worker',
    at: 'secure',
    serve: { '/app': '<p>FIRST</p>' },
    text: ['FIRST'],
    without: ['FROM THE WORKER'],
  },
  {
    what: 'a service worker that tries to reach where it may not',
    at: 'secure',
    serve: ({ victim }) => ({
      '/app2':
        '<p>PAGE</p><p id=o></p><script>navigator.serviceWorker.onmessage = event => { o.textContent = event.data; o.className = "done" }; navigator.serviceWorker.register("/sw2.js").then(() => navigator.serviceWorker.ready).then(({ active }) => active.postMessage("go"))</script>',
      '/sw2.js': (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/javascript' })
          .end(
            `onmessage = event => fetch("${victim}/", { mode: "no-cors" }).then(() => "REACHED", () => "KEPT OUT").then(text => event.source.postMessage(text))`,
          ),
    }),
    options: { wait_for_selector: '.done' },
    text: ['KEPT OUT'],
  },
  {
    what: 'a service worker that never settles',
    at: 'secure',
    serve: {
      '/app3': '<p>PAGE</p><script>navigator.serviceWorker.register("/sw3.js")</script>',
      '/sw3.js': (_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/javascript' })
          .end('oninstall = event => event.waitUntil(new Promise(() => {})); for (;;);'),
    },
    text: ['PAGE'],
  },
  {
    what: 'web workers',
    html: body(
      '<p id=o></p><script>new Worker(URL.createObjectURL(new Blob(["postMessage(6 * 7)"]))).onmessage = event => { o.textContent = "WORKED " + event.data; o.className = "done" }</script>',
    ),
    options: { wait_for_selector: '.done' },
    text: ['WORKED 42'],
  },
];

realPages('frames', frames);
realPages('workers of a page', workers);
