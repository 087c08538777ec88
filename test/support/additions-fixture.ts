// Pages, style sheets and scripts on two sites on loopback for tests of `css` and `javascript`. The
// installation may reach these sites and may not reach the victim.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Installation, installation } from './installation.ts';
import { startDnsServer } from './servers/dns-server.ts';
import { startWebServer, type WebServer } from './servers/web-server.ts';

const SQUARE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="200"><rect width="200" height="200" fill="blue"/></svg>';
const as =
  (type: string, body: string, more: Record<string, string> = {}) =>
  (_request: IncomingMessage, response: ServerResponse) =>
    response.writeHead(200, { 'content-type': type, ...more }).end(body);
const answer =
  (status: number, type = 'text/html', more: Record<string, string> = {}) =>
  (_request: IncomingMessage, response: ServerResponse) =>
    response.writeHead(status, { 'content-type': type, ...more }).end('<h1>NO</h1>');
/** A page with one large box, whose colour a test reads from the PDF. */
export const box = (head = '', body = '') =>
  // Sized by attributes because a CSP can forbid styles.
  `<!doctype html><html><head>${head}</head><body><table id="box" width="100%" height="400"><tr><td>BOX</table>${body}</body></html>`;
const POLICY = {
  'content-security-policy':
    "default-src 'none'; script-src 'nonce-a'; require-trusted-types-for 'script'",
};

export interface AdditionsFixture {
  web: WebServer;
  /** A server that no page may reach. */
  victim: WebServer;
  pressroom: Installation;
  /** The origin of the page and another site on the same server. */
  base: string;
  other: string;
  /** Number of times the slow font was sent. */
  fontsSent: number;
  /** Starts an installation with a short render timeout and four slots. */
  shortTimeout(): Promise<Installation>;
  close(): Promise<void>;
}

export async function additionsFixture(): Promise<AdditionsFixture> {
  const dns = await startDnsServer();
  for (const name of ['shop.example', 'other.example', 'hidden.example'])
    dns.set(name, '127.0.0.1');
  const victim = await startWebServer({ '/': 'SECRET' });
  const web = await startWebServer({
    '/': box(),
    '/strict': as(
      'text/html',
      box('', '<p id="p">P</p><script>document.write("NEVER")</script>'),
      POLICY,
    ),
    '/meta': box(`<meta http-equiv="content-security-policy" content="default-src 'none'">`),
    '/green.css': as('text/css', '#box { background: lime }'),
    '/unnamed.css': (_request, response) =>
      response
        .writeHead(200, { 'x-content-type-options': 'nosniff' })
        .end('#box { background: red }'),
    '/imports.css': as(
      'text/css',
      '@import "/missing.css"; @import "/cut.css"; #box { background: lime }',
    ),
    '/half.css': (_request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/css', 'content-length': '1000' })
        .write('#box { background: red }');
      setTimeout(() => response.socket!.destroy(), 100);
    },
    '/drawing.svg': as('image/svg+xml', SQUARE.replaceAll('"200"', '"600"')),
    '/drawing.css': as('text/css', 'rect { fill: lime }'),
    '/nothing.js': as('text/javascript', ''),
    '/late.woff': (request, response) =>
      void setTimeout(() => {
        fixture.fontsSent++;
        as('font/woff', 'no font', { 'access-control-allow-origin': '*' })(request, response);
      }, 1_000),
    '/late.css': (_request, response) =>
      void setTimeout(() => as('text/css', '#box { background: lime }')(_request, response), 300),
    '/untyped.css': (_request, response) =>
      response.writeHead(200).end('#box { background: lime }'),
    '/page.css': as('text/html', '<h1>a page</h1>'),
    '/plain.css': as('text/plain', '#box { background: red }'),
    '/broken.css': answer(500, 'text/css'),
    '/missing.css': answer(404),
    '/hop.css': (_request, response) =>
      response.writeHead(302, { location: `${other}/green.css` }).end(),
    '/hidden.css': (_request, response) =>
      response.writeHead(302, { location: `http://hidden.example:${victim.port}/` }).end(),
    '/cut.css': (_request, response) => response.socket!.destroy(),
    '/never.css': () => {},
    '/square.svg': as('image/svg+xml', SQUARE),
    '/writes.js': as(
      'text/javascript',
      'document.getElementById("box").textContent = "WRITTEN BY " + document.currentScript.src',
    ),
    '/throws.js': as(
      'text/javascript',
      'function f() { throw new TypeError("no such wheel") }\nf()',
    ),
    '/wrong.js': as('text/javascript', 'this is no script'),
    '/later.js': as(
      'text/javascript',
      'setTimeout(() => { throw new Error("later") }, 0); document.body.append("STARTED")',
    ),
    '/moves.js': as('text/javascript', 'location = "/next"'),
    '/page.js': as('text/html', '<h1>a page</h1>', { 'x-content-type-options': 'nosniff' }),
    '/half.js': (_request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/javascript', 'content-length': '1000' })
        .write('1');
      setTimeout(() => response.socket!.destroy(), 100);
    },
    '/missing.js': answer(404),
    '/hop.js': (_request, response) =>
      response.writeHead(302, { location: `${other}/throws.js` }).end(),
    '/hidden.js': (_request, response) =>
      response.writeHead(302, { location: `http://hidden.example:${victim.port}/` }).end(),
    '/never.js': () => {},
    '/next':
      '<h1>NEXT</h1><div id="box" style="height:600px"></div><img src="/slow.svg" onload="document.body.append(\'LOADED\')">',
    '/slow.svg': (_request, response) =>
      void setTimeout(() => as('image/svg+xml', SQUARE)(_request, response), 300),
    '/nothing': (_request, response) => response.writeHead(204).end(),
    '/throwing': box(
      '',
      '<script>setInterval(() => { throw new Error("of the page") }, 1)</script>',
    ),
  });
  const base = `http://shop.example:${web.port}`;
  const other = `http://other.example:${web.port}`;
  const start = (limit: string, slots = 2) =>
    installation({
      intranet: true,
      env: {
        PRESSROOM_DNS_SERVERS: dns.address,
        PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port}`,
        PRESSROOM_EGRESS_PORTS: `80,443,${victim.port}`,
        PRESSROOM_RENDER_TIMEOUT: limit,
        PRESSROOM_SLOTS: String(slots),
      },
    });
  const pressroom = await start('45s');
  const started = [pressroom];
  const fixture: AdditionsFixture = {
    web,
    victim,
    pressroom,
    base,
    other,
    fontsSent: 0,
    shortTimeout: async () => {
      const extra = await start('15s', 4);
      started.push(extra);
      return extra;
    },
    close: async () => {
      await Promise.all(started.map(each => each.stop()));
      await Promise.all([web.close(), victim.close(), dns.close()]);
    },
  };
  return fixture;
}
