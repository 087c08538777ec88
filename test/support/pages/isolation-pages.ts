// A site whose first page stores every kind of browser state and whose second page reports what it
// finds.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { startWebServer, type WebServer } from '../servers/web-server.ts';

/** What the second page found. Each field is a kind of browser state. */
export interface Finding {
  cookie: string;
  /** The cookies that the server received, including HttpOnly ones. */
  sent: string;
  local: string | null;
  session: string | null;
  name: string;
  history: number;
  databases: string[];
  caches: string[];
  serviceWorkers: number;
  /** Whether the network or a service worker responded. */
  served: string;
  locked: number;
  files: string[];
  locks: string[];
  used: boolean;
  persisted: boolean;
  /** Number of clients of the shared worker, including this page. */
  shared: number;
  blob: string;
  fonts: number;
  mark: string;
  permissions: string[];
  etag: string;
  hints: string;
}

export interface Report extends Finding {
  /** A number that the server sends once. A repeated number comes from a cache. */
  cached: string;
  /** The client port of the connection. */
  connection: number;
}

const LEAVE = `
  const wait = (target, event) => new Promise((resolve, reject) => { target['on' + event] = () => resolve(target); target.onerror = reject });
  (async () => {
    document.cookie = 'mark=left; max-age=3600';
    localStorage.mark = sessionStorage.mark = window.name = 'left';
    history.pushState({}, '', '#left');
    const opening = indexedDB.open('left');
    opening.onupgradeneeded = () => opening.result.createObjectStore('left').put('x'.repeat(100000), 'left');
    await wait(opening, 'success');
    opening.result.close();
    await (await caches.open('left')).add('/cached');
    await navigator.serviceWorker.register('/service-worker.js');
    await navigator.serviceWorker.ready;
    const call = new XMLHttpRequest();
    call.open('GET', '/locked', true, 'ann', 'sesame');
    call.send();
    await wait(call, 'load');
    await (await navigator.storage.getDirectory()).getFileHandle('left', { create: true });
    await navigator.storage.persist();
    await Notification.requestPermission();
    await fetch('/etag');
    await fetch('/cached');
    location = '/look' + location.search;
  })().catch(error => { document.title = String(error); fetch('/failed', { method: 'POST', body: String(error.stack ?? error) }) });`;

const LOOK = `
  const who = new URLSearchParams(location.search).get('who');
  const text = async path => (await fetch(path)).text();
  const names = async folder => { const found = []; for await (const name of folder.keys()) found.push(name); return found };
  const state = name => navigator.permissions.query({ name }).then(({ state }) => name + ' ' + state, () => name + ' unknown');
  (async () => {
    const received = [];
    new BroadcastChannel('left').onmessage = ({ data }) => received.push(data);
    new BroadcastChannel('left').postMessage(who);
    const shared = new SharedWorker('/shared-worker.js', 'left');
    const clients = await new Promise(resolve => { shared.port.onmessage = ({ data }) => resolve(data) });
    if (who === 'first') {
      window.mark = 'left';
      document.fonts.add(new FontFace('left', 'local(Arial)'));
      await fetch('/blob', { method: 'POST', body: URL.createObjectURL(new Blob(['left'])) });
      await new Promise(resolve => navigator.locks.request('left', () => { resolve(); return new Promise(() => {}) }));
    }
    const report = {
      cookie: document.cookie,
      local: localStorage.getItem('mark'),
      session: sessionStorage.getItem('mark'),
      name: window.name,
      history: history.length,
      databases: (await indexedDB.databases()).map(({ name }) => name),
      caches: await caches.keys(),
      serviceWorkers: (await navigator.serviceWorker.getRegistrations()).length,
      served: await text('/served'),
      locked: (await fetch('/locked')).status,
      files: await names(await navigator.storage.getDirectory()),
      locks: (await navigator.locks.query()).held.map(({ name }) => name),
      used: (await navigator.storage.estimate()).usage > 0,
      persisted: await navigator.storage.persisted(),
      shared: clients,
      blob: await text(await text('/blob')).catch(() => ''),
      fonts: document.fonts.size,
      mark: String(window.mark),
      permissions: await Promise.all(['geolocation', 'notifications', 'persistent-storage', 'midi', 'clipboard-read'].map(state)),
      etag: await text('/etag'),
      cached: await text('/cached'),
    };
    await fetch('/report?who=' + who, { method: 'POST', body: JSON.stringify(report) });
    if (new URLSearchParams(location.search).has('hold')) await fetch('/hold');
    await fetch('/received', { method: 'POST', body: JSON.stringify(received) });
    window.done = true;
  })().catch(error => fetch('/failed', { method: 'POST', body: String(error.stack ?? error) }));`;

const SERVICE_WORKER = `
  self.onactivate = event => event.waitUntil(clients.claim());
  self.onfetch = event => { if (event.request.url.endsWith('/served')) event.respondWith(new Response('the service worker')) };`;
const SHARED_WORKER = `let clients = 0; self.onconnect = ({ ports: [port] }) => port.postMessage(++clients);`;

export interface IsolationSite extends WebServer {
  url: string;
  /** The reports by `who`, in order of arrival. */
  reports: Map<string, Report>;
  /** The messages that each page received on its BroadcastChannel. */
  received: string[][];
  failures: string[];
  /** Resolves when a page is held. `release` continues it. */
  held(): Promise<void>;
  release(): void;
  /** The last number that the server has sent. */
  given(): number;
}

const bodyOf = async (request: IncomingMessage) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
};

export async function startIsolationSite(): Promise<IsolationSite> {
  const reports = new Map<string, Report>();
  const received: string[][] = [];
  const failures: string[] = [];
  let given = 0;
  let blob = '';
  let holding = Promise.withResolvers<ServerResponse>();
  const as =
    (type: string, text: string, headers: object = {}) =>
    (_request: IncomingMessage, response: ServerResponse) =>
      response.writeHead(200, { 'content-type': type, ...headers }).end(text);
  const page = (script: string, headers: object = {}) =>
    as('text/html', `<!doctype html><title>T</title><body>page<script>${script}</script>`, headers);
  const take =
    (keep: (text: string, request: IncomingMessage) => void) =>
    (request: IncomingMessage, response: ServerResponse) =>
      void bodyOf(request).then(text => {
        keep(text, request);
        response.writeHead(204).end();
      });
  const keepBlob = take(text => {
    blob = text;
  });
  const web = await startWebServer({
    '/leave': page(LEAVE, {
      'set-cookie': 'hidden=left; HttpOnly; Max-Age=3600',
      'accept-ch': 'sec-ch-ua-platform-version',
    }),
    '/look': page(LOOK),
    '/service-worker.js': as('text/javascript', SERVICE_WORKER),
    '/shared-worker.js': as('text/javascript', SHARED_WORKER),
    '/served': as('text/plain', 'the network'),
    '/cached': (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'max-age=3600' })
        .end(String(++given)),
    '/etag': ({ headers }, response) =>
      response
        .writeHead(200, { etag: '"left"', 'cache-control': 'no-cache' })
        .end(headers['if-none-match'] ?? 'none'),
    '/locked': ({ headers }, response) =>
      response
        .writeHead(headers.authorization ? 200 : 401, { 'www-authenticate': 'Basic realm="left"' })
        .end('locked'),
    '/blob': (request, response) => {
      if (request.method === 'GET') response.end(blob);
      else keepBlob(request, response);
    },
    '/report': take((text, { url, headers, socket }) =>
      reports.set(url!.split('who=')[1]!, {
        ...JSON.parse(text),
        sent: (headers.cookie ?? '').split('; ').sort().join('; '),
        hints: String(headers['sec-ch-ua-platform-version'] ?? 'none'),
        connection: socket.remotePort!,
      }),
    ),
    '/received': take(text => received.push(JSON.parse(text))),
    '/failed': take(text => failures.push(text)),
    '/hold': (_request, response) => holding.resolve(response),
  });
  return {
    ...web,
    url: `http://127.0.0.1:${web.port}`,
    reports,
    received,
    failures,
    held: async () => void (await holding.promise),
    release: () => {
      void holding.promise.then(response => response.end());
      holding = Promise.withResolvers();
    },
    given: () => given,
  };
}
