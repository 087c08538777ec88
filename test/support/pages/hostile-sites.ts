// Hostile pages that need an origin or a server: storage, service workers, requests, navigation and
// cross-site frames.
import { endless, forever, type HostilePage, printed, printedScript } from './hostile-page.ts';

const pathOf = (name: string) => `/page/${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
const served = (page: HostilePage): HostilePage => ({ ...page, path: pathOf(page.name) });

/** 10 MB of incompressible data. */
const BLOB = `const piece = () => crypto.getRandomValues(new Uint8Array(65_536));
const blob = new Blob(Array.from({ length: 160 }, piece));`;

/** Data that the browser process stores for an origin. */
const storages: HostilePage[] = [
  endless(
    'IndexedDB to the bound',
    `${BLOB}
const open = indexedDB.open('x');
open.onupgradeneeded = () => open.result.createObjectStore('s', { autoIncrement: true });
open.onsuccess = async () => {
  const data = await blob.arrayBuffer();
  for (;;) {
    const change = open.result.transaction('s', 'readwrite');
    for (let i = 0; i < 5; i++) change.objectStore('s').add(data);
    await new Promise(done => { change.oncomplete = change.onabort = done; });
  }
};`,
    { memoryMib: 50 },
  ),
  endless(
    'CacheStorage to the bound',
    `${BLOB}
caches.open('x').then(async cache => {
  for (let n = 0; ; n++) await cache.put('/' + n, new Response(blob)).catch(() => {});
});`,
    { memoryMib: 50 },
  ),
  endless(
    'OPFS to the bound',
    `${BLOB}
navigator.storage.getDirectory().then(async folder => {
  for (let n = 0; ; n++) {
    const file = await folder.getFileHandle('f' + n, { create: true });
    const writable = await file.createWritable();
    await writable.write(blob);
    await writable.close();
  }
});`,
    { memoryMib: 50 },
  ),
  endless(
    'localStorage in a loop',
    `for (let n = 0; ; n++) {
  try { localStorage.setItem('k' + (n % 4), 'x'.repeat(1e6) + n); } catch { localStorage.clear(); }
}`,
  ),
  endless(
    'cookies in a loop',
    "for (let n = 0; ; n++) document.cookie = 'c' + (n % 300) + '=' + 'x'.repeat(4e3);",
  ),
  endless(
    'BroadcastChannel storm',
    `const text = 'x'.repeat(1e5);
const [a, b] = [new BroadcastChannel('x'), new BroadcastChannel('x')];
b.onmessage = () => b.postMessage(text);
a.onmessage = () => { a.postMessage(text); a.postMessage(text); };
a.postMessage(text);`,
  ),
  endless(
    'history.pushState flood',
    `let n = 0; ${forever("try { history.pushState({}, '', '?' + n++); } catch {}")}`,
  ),
  endless(
    'history.pushState flood of 2 MB',
    `const text = 'x'.repeat(2e6 - 100); let n = 0;
${forever("try { history.pushState(text, '', '?' + text + n++); } catch {}")}`,
  ),
];

/**
 * A frame in a separate process. When it has loaded, the page sends 100 MB of events at once, and
 * then slightly more than the worker reads.
 */
const HIDDEN_FILL = `const data = 'data:,' + 'x'.repeat(10_000);
let images = 0;
const load = count => { while (count-- > 0) new Image().src = data + images++; };
onmessage = () => { load(5_000); setInterval(load, 4, 3); };
const frame = document.createElement('iframe');
frame.src = 'http://127.0.1.1:$PORT/fill';
document.body.append(frame);`;

const requests: HostilePage[] = [
  endless(
    'synchronous requests in a loop',
    `for (let n = 0; ; n++) {
  const request = new XMLHttpRequest();
  request.open('GET', '/small?' + n, false);
  try { request.send(); } catch {}
}`,
    { requests: 100 },
  ),
  endless(
    'fetch flood of bytes',
    `for (let i = 0; i < 50; i++) (async () => {
  for (let n = 0; ; n++) await fetch('/stream?' + i + n).then(r => r.arrayBuffer()).catch(() => {});
})();`,
    { requests: 6 },
  ),
  endless(
    'fetch flood of requests',
    `for (let i = 0; i < 50; i++) (async () => {
  for (let n = 0; ; n++) await fetch('/small?' + i + '-' + n).catch(() => {});
})();`,
    { requests: 400 },
  ),
  endless(
    'WebSocket flood',
    `const text = 'x'.repeat(6e4);
for (let i = 0; i < 40; i++) {
  const socket = new WebSocket('ws://' + location.host + '/echo');
  socket.onopen = socket.onmessage = () => { socket.send(text); };
}`,
    { requests: 400 },
  ),
  endless(
    'WebSockets opened in a loop',
    forever(`try {
  new WebSocket('ws://' + location.host + '/echo').onopen = event => event.target.close();
} catch {}`),
    { requests: 20 },
  ),
  endless(
    'service workers',
    `for (let i = 0; i < 30; i++) {
  const options = { scope: '/scope/' + i + '/' };
  navigator.serviceWorker.register('/burn.js?' + i, options).catch(() => {});
}`,
    { requests: 5 },
  ),
  endless(
    'shared workers by the hundred',
    "for (let i = 0; i < 200; i++) new SharedWorker('/burn.js?' + i);",
    { requests: 50 },
  ),
  endless(
    'frames of a hundred sites',
    `for (let i = 1; i <= 100; i++) {
  const frame = document.createElement('iframe');
  frame.src = 'http://127.0.1.' + i + ':$PORT/burn';
  document.body.append(frame);
}`,
    { requests: 50 },
  ),
  endless('a frame that fills memory while more events wait than are read', HIDDEN_FILL, {
    memoryMib: 300,
  }),
  endless(
    'downloads of a server in a loop',
    `let n = 0;
setInterval(() => {
  const frame = document.createElement('iframe');
  frame.src = '/download?' + n++;
  document.body.append(frame);
}, 0);`,
    { requests: 50 },
  ),
];

const documents: HostilePage[] = [
  printedScript('navigation loop', "location = '/page/navigation-loop?' + Math.random();", {
    requests: 5,
  }),
  printedScript(
    'navigations between processes',
    `const next = location.search.includes('coop') ? 'plain' : 'coop';
location = location.pathname + '?' + next + Math.random();`,
    { requests: 5 },
  ),
  printedScript('location.reload of a site', 'location.reload();', { requests: 5 }),
  printed('endless document', '<p>x</p><script src="/stream.js"></script>', { memoryMib: 20 }),
  printed('gzip bomb', '<link rel="stylesheet" href="/bomb.css"><script src="/bomb.js"></script>', {
    memoryMib: 200,
  }),
  endless(
    'picture bomb',
    `const all = [];
for (let i = 0; i < 20; i++) {
  const picture = new Image();
  picture.src = '/bomb.png?' + i;
  document.body.append(picture);
  picture.decode().then(() => createImageBitmap(picture)).then(bitmap => all.push(bitmap));
}`,
    { memoryMib: 200 },
  ),
  endless(
    'font bomb',
    `fetch('/report/regular.ttf').then(response => response.arrayBuffer()).then(async data => {
  for (let n = 0; ; n++) {
    const face = new FontFace('f' + n, data);
    document.fonts.add(face);
    await face.load();
    const text = document.createElement('p');
    text.style.font = '900px f' + n;
    text.textContent = 'font';
    document.body.append(text);
    text.offsetHeight;
  }
});`,
  ),
];

export const hostileSites: readonly HostilePage[] = [...storages, ...requests, ...documents].map(
  served,
);
