// @proves navigation

import { realPages } from '../../support/pages/real-pages.ts';
import type { Page } from '../../support/servers/web-server.ts';

const answer =
  (
    body: string | Buffer,
    type = 'text/html',
    headers: Record<string, string> = {},
    status = 200,
  ): Page =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': type, ...headers }).end(body);
const next = { '/next': '<h1 id=next>NEXT</h1>' };
const found = { wait_for_selector: '#next' };

realPages('pages that move on', [
  {
    what: 'where a refresh of 0 s leads',
    serve: { '/now': '<meta http-equiv=refresh content="0;url=/next"><h1>FIRST</h1>', ...next },
    options: found,
    text: ['NEXT'],
    without: ['FIRST'],
  },
  {
    what: 'where a refresh of 1 s leads, when it is waited for',
    serve: { '/soon': '<meta http-equiv=refresh content="1;url=/next"><h1>FIRST</h1>', ...next },
    options: found,
    text: ['NEXT'],
  },
  {
    what: 'a page before its refresh of an hour',
    serve: { '/hour': '<meta http-equiv=refresh content="3600;url=/next"><h1>FIRST</h1>', ...next },
    text: ['FIRST'],
  },
  {
    what: 'a page that refreshes itself without end',
    serve: { '/again': '<meta http-equiv=refresh content="0"><h1>AGAIN</h1>' },
    text: ['AGAIN'],
  },
  {
    what: 'a page that refreshes itself without end, while a wait runs',
    serve: { '/again': '<meta http-equiv=refresh content="0"><h1>AGAIN</h1>' },
    options: { wait_delay: '700ms' },
    text: ['AGAIN'],
  },
  {
    what: 'html that refreshes to a page',
    html: ({ base }) => `<meta http-equiv=refresh content="0;url=${base}/next"><h1>FIRST</h1>`,
    options: found,
    text: ['NEXT'],
  },
  {
    what: 'where a script leads before the load',
    serve: { '/script': '<script>location = "/next"</script><h1>FIRST</h1>', ...next },
    text: ['NEXT'],
    without: ['FIRST'],
  },
  {
    what: 'where a script leads after the load',
    serve: {
      '/onload': '<script>onload = () => { location = "/next" }</script><h1>FIRST</h1>',
      ...next,
    },
    options: found,
    text: ['NEXT'],
  },
  {
    what: 'a form that sends itself',
    serve: {
      '/form':
        '<form method=post action=/next name=f><input name=a value=1></form><script>f.submit()</script>',
      '/next': (request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end(`<h1 id=next>BY ${request.method}</h1>`),
    },
    options: found,
    text: ['BY POST'],
  },
  {
    what: 'a page that goes on to itself before it has loaded, for ever',
    serve: { '/loop': '<script>location = "/loop?" + Math.random()</script><h1>LOOP</h1>' },
    fails: { reason: 'page_timeout', message: /load event/ },
  },
  {
    what: 'a page that loads itself again and again',
    serve: { '/reload': '<h1>RELOADED</h1><script>onload = () => location.reload()</script>' },
    text: ['RELOADED'],
  },
  {
    what: 'a page that loads itself again and again, while a wait runs',
    serve: { '/reload': '<h1>RELOADED</h1><script>onload = () => location.reload()</script>' },
    options: { wait_delay: '700ms' },
    text: ['RELOADED'],
  },
  {
    what: 'a page that loads itself again and again, and what it waits for never comes',
    serve: { '/reload': '<h1>RELOADED</h1><script>onload = () => location.reload()</script>' },
    options: { wait_for_selector: '#never' },
    fails: { reason: 'page_timeout', message: /wait_for_selector/ },
  },
  {
    what: 'a page that writes addresses without end',
    serve: {
      '/push':
        '<h1>PUSHED</h1><script>for (let i = 0; i < 1000; i++) history.pushState(0, "", "/p" + i); setInterval(() => history.pushState(0, "", "/q" + Math.random()), 1)</script>',
    },
    text: ['PUSHED'],
  },
  {
    what: 'a page that goes back and forth between its own addresses',
    serve: {
      '/back':
        '<h1>BACK</h1><script>for (let i = 0; i < 9; i++) history.pushState(i, "", "/b" + i); onpopstate = () => history.go(history.state > 5 ? -1 : 1); history.back()</script>',
    },
    options: { wait_delay: '300ms' },
    text: ['BACK'],
  },
  {
    what: 'a page that goes back to where it came from',
    serve: { '/back': '<h1>BACK</h1><script>history.back()</script>' },
    options: { wait_for_selector: '#never' },
    fails: { reason: 'page_unreachable', message: /empty page/ },
  },
  {
    what: 'html that goes back',
    html: '<h1>BACK</h1><script>history.back(); onload = () => history.go(-2)</script>',
    options: { wait_delay: '300ms' },
    text: ['BACK'],
  },
  {
    what: 'a whole document though the page moves on to it when it has loaded',
    serve: {
      '/first': '<h1>FIRST</h1><script>onload = () => { location = "/second" }</script>',
      '/second': (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).write('<h1 id=top>TOP</h1>');
        setTimeout(() => response.end('<h1>BOTTOM</h1>'), 300);
      },
    },
    options: { wait_for_selector: '#top' },
    text: ['TOP BOTTOM'],
  },
  {
    what: 'what a page has shown until it stops its own loading',
    serve: {
      '/stop': '<h1>SHOWN</h1><img src=/silent.png><script>setTimeout(stop, 50)</script>',
      '/silent.png': () => {},
    },
    text: ['SHOWN'],
  },
  {
    what: 'a page that was replaced after its load',
    html: '<h1>FIRST</h1><script>onload = () => { document.open(); document.write("<h1>SECOND</h1>"); document.close() }</script>',
    text: ['SECOND'],
    without: ['FIRST'],
  },
  {
    what: 'a page that rewrites itself without end',
    html: '<h1>FIRST</h1><script>setInterval(() => { document.open(); document.write("<h1>WRITTEN</h1>"); document.close() }, 5)</script>',
    options: { wait_for_expression: 'document.body?.innerText.includes("WRITTEN")' },
    text: ['WRITTEN'],
  },
  {
    what: 'a page that is left open after document.open',
    html: '<h1>FIRST</h1><script>onload = () => { document.open(); document.write("<h1>OPEN</h1>") }</script>',
    text: ['OPEN'],
  },
  {
    what: 'a page that removes its own root',
    html: '<h1>GONE</h1><script>onload = () => document.documentElement.remove()</script>',
    without: ['GONE'],
    pages: 1,
  },
  {
    what: 'redirects without end by the server',
    serve: {
      '/round': (_request, response) => response.writeHead(307, { location: '/round' }).end(),
    },
    fails: { reason: 'page_unreachable', message: /redirects/ },
  },
]);

realPages(
  'main documents that are no ordinary HTML',
  [
    {
      what: 'nothing (204)',
      serve: { '/204': answer('', 'text/html', {}, 204) },
      fails: { reason: 'page_unreachable', message: /empty response/ },
    },
    { what: 'an empty page', serve: { '/blank': '' }, pages: 1 },
    {
      what: 'a text',
      serve: { '/text': answer('PLAIN <b>TEXT</b>', 'text/plain') },
      text: ['PLAIN <b>TEXT</b>'],
    },
    {
      what: 'JSON',
      serve: { '/json': answer('{"a": ["JSON", 1]}', 'application/json') },
      text: ['{"a": ["JSON", 1]}'],
    },
    {
      what: 'XML',
      serve: {
        '/xml': answer('<?xml version="1.0"?><list><item>XML</item></list>', 'application/xml'),
      },
      text: ['<item>XML</item>'],
    },
    {
      what: 'XML with a stylesheet of its own',
      serve: {
        '/xml': answer(
          '<?xml version="1.0"?><?xml-stylesheet type="text/css" href="/xml.css"?><list><item>XML</item></list>',
          'text/xml',
        ),
        '/xml.css': answer('item::before { content: "STYLED " }', 'text/css'),
      },
      text: ['STYLED XML'],
      without: ['<item>'],
    },
    {
      what: 'broken XML',
      serve: { '/xml': answer('<?xml version="1.0"?><list><item>XML</list>', 'application/xml') },
      text: [/error/],
    },
    {
      what: 'XHTML',
      serve: {
        '/xhtml': answer(
          '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>XHTML</p></body></html>',
          'application/xhtml+xml',
        ),
      },
      text: ['XHTML'],
    },
    {
      what: 'an image',
      serve: {
        '/image': answer(
          '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="60"><text y="40" font-size="30">IMAGE</text></svg>',
          'image/svg+xml',
        ),
      },
      text: ['IMAGE'],
    },
    {
      what: 'a PDF',
      serve: { '/pdf': answer('%PDF-1.4\n%%EOF', 'application/pdf') },
      fails: { reason: 'page_unreachable', message: /PDF|download/ },
    },
    {
      what: 'something without a type',
      serve: {
        '/untyped': (_request, response) =>
          response.writeHead(200).end('<!doctype html><h1>SNIFFED</h1>'),
      },
      text: ['SNIFFED'],
    },
    {
      what: 'a document that never ends',
      serve: {
        '/endless': (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/html' }).write('<h1>BEGUN</h1>');
        },
      },
      fails: { reason: 'page_timeout', message: /load event/ },
    },
    {
      what: 'a document that drips without end',
      serve: {
        '/drip': (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/html' });
          const timer = setInterval(() => response.write('<p>drop</p>'), 20);
          response.on('close', () => clearInterval(timer));
        },
      },
      fails: { reason: 'page_timeout', message: /load event/ },
    },
    {
      what: 'a document that floods without end',
      serve: {
        '/flood': (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/plain' });
          const more = () => {
            while (!response.destroyed && response.write('x'.repeat(65_536)));
          };
          response.on('drain', more);
          more();
        },
      },
      fails: { reason: 'output_limit', message: /network/ },
    },
    {
      what: 'a document that is cut off in its chunks',
      serve: {
        '/cut': (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/html' }).write('<h1>HALF</h1>');
          setTimeout(() => response.socket!.destroy(), 50);
        },
      },
      fails: { reason: 'page_unreachable', message: /could not be opened/ },
    },
    {
      what: 'a document shorter than it says',
      serve: {
        '/short': (_request, response) => {
          response
            .writeHead(200, { 'content-type': 'text/html', 'content-length': '5000' })
            .write('<h1>HALF</h1>');
          setTimeout(() => response.socket!.end(), 50);
        },
      },
      fails: { reason: 'page_unreachable', message: /could not be opened/ },
    },
  ],
  { PRESSROOM_EGRESS_MAX_BYTES: '8MiB' },
);
