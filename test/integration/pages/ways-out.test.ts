import { type RealPage, realPages } from '../../support/pages/real-pages.ts';

/** Everything in a page that reaches a network without being waited for. `$` is the address. */
const WAYS: [string, string][] = [
  ['a beacon', '<script>navigator.sendBeacon("$", "x")</script>'],
  [
    'a request that outlives its page',
    '<script>fetch("$", { method: "POST", mode: "no-cors", keepalive: true, body: "x" }).catch(() => {})</script>',
  ],
  ['a stream of events', '<script>new EventSource("$")</script>'],
  ['a prefetch', '<link rel=prefetch href="$">'],
  ['a preload', '<link rel=preload as=image href="$">'],
  ['a module that is preloaded', '<link rel=modulepreload href="$">'],
  [
    'a prerendered page',
    '<link rel=prerender href="$"><script type=speculationrules>{"prerender":[{"source":"list","urls":["$"],"eagerness":"immediate"}]}</script>',
  ],
  [
    'a prefetched page',
    '<script type=speculationrules>{"prefetch":[{"source":"list","urls":["$"],"eagerness":"immediate"}]}</script>',
  ],
  [
    'a ping of a link',
    '<a href="#x" ping="$">x</a><script>document.currentScript.previousElementSibling.click()</script>',
  ],
  [
    'a script of a worker',
    '<script>new Worker(URL.createObjectURL(new Blob([`importScripts("$")`])))</script>',
  ],
  [
    'a shared worker',
    '<script>new SharedWorker(URL.createObjectURL(new Blob([`fetch("$", { mode: "no-cors" }).catch(() => {})`])))</script>',
  ],
  [
    'an image of a canvas pattern, a cursor and a list',
    '<ul style="list-style-image:url($);cursor:url($),auto"><li>x</ul><div style="mask-image:url($)">x</div>',
  ],
  [
    'a track of a video',
    '<video src="$"><track src="$" default></video><audio src="$" autoplay></audio>',
  ],
  [
    'an SVG that uses another',
    '<svg><use href="$#a"/><image href="$" width=9 height=9 /><filter id=f><feImage href="$"/></filter></svg>',
  ],
];

/**
 * Each page does the same twice, and is printed when its own site has seen it. The private address
 * is looked at after every row.
 */
function bothWays(way: string, markup: string): RealPage {
  let arrived = false;
  return {
    what: `beside ${way}`,
    at: 'secure',
    serve: ({ victim, secure }) => ({
      '/way': `<h1>PAGE</h1>${markup.replaceAll('$', `${victim}/`)}${markup.replaceAll('$', `${secure}/seen`)}`,
      '/seen': (_request, response) => {
        arrived = true;
        response.writeHead(404).end();
      },
      '/asked': (_request, response) => response.end(String(arrived)),
    }),
    options: { wait_for_expression: 'fetch("/asked").then(answer => answer.json())' },
    text: ['PAGE'],
  };
}

realPages('a page that would reach a private address', [
  ...WAYS.map(([way, markup]) => bothWays(way, markup)),
  {
    what: 'beside a connection made ahead',
    serve: ({ victim }) => ({
      '/ahead': `<link rel=preconnect href="${victim}/"><link rel=dns-prefetch href="${victim}/"><h1>PAGE</h1>`,
    }),
    options: { wait_delay: '300ms' },
    text: ['PAGE'],
  },
]);
