import { type Attack, attacks } from '../../support/pages/attack-pages.ts';
import { ANYWHERE, PAGE_ONLY, XHR } from '../../support/pages/attack-scripts.ts';

const js = (body: string) => ({ type: 'text/javascript', body });
const EVERYTHING = ANYWHERE + XHR + PAGE_ONLY;
const script = (what: string, code: string, more: Attack['serve'] = {}, done?: string): Attack => ({
  what,
  serve: { '/': `<!doctype html><h1>PAGE</h1><script type=module>${code}</script>`, ...more },
  ...(done && { done }),
});
const frame = (what: string, html: string, more: Attack['serve'] = {}): Attack => ({
  what,
  serve: { '/': `<!doctype html><h1>PAGE</h1>${html}`, ...more },
});
const tag = (code: string) => `<script>${code}</script>`;
const literal = (text: string) => JSON.stringify(text).replaceAll('</', '<\\/');
const attribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** Waits until WebRTC has gathered its candidates. */
const gathered = (servers: string) => `
  const peer = new RTCPeerConnection({ iceServers: [${servers}], iceCandidatePoolSize: 4 });
  peer.createDataChannel("x");
  peer.onicegatheringstatechange = () => { if (peer.iceGatheringState === "complete") window.done = true };
  await peer.setLocalDescription(await peer.createOffer());`;

attacks('a script that connects to a private address', [
  script('from a page', EVERYTHING),
  { what: 'from html', html: `<h1>PAGE</h1>${tag(EVERYTHING)}` },
  script(
    'after a redirect',
    'for (const mode of ["cors", "no-cors"]) fetch("/away?" + mode, { mode }).catch(() => {}); fetch("/keep", { method: "POST", body: "x" }).catch(() => {}); new EventSource("/events"); new Worker("/away.js"); navigator.sendBeacon("/beacon", "x")',
    {
      '/away': { status: 302, headers: { location: 'http://%V/' } },
      '/keep': { status: 307, headers: { location: 'http://%V/' } },
      '/events': { status: 301, headers: { location: 'http://%V/' } },
      '/beacon': { status: 308, headers: { location: 'http://%V/' } },
      '/away.js': { status: 302, headers: { location: 'http://%Q/' } },
    },
  ),
  script(
    'when the page is unloaded',
    'fetchLater?.("https://%Q/", { activateAfter: 0 }); addEventListener("pagehide", () => navigator.sendBeacon("http://%Q/", "x")); fetch("http://%V/").catch(() => {})',
  ),
  frame('from a frame of the same site', '<iframe src=/frame></iframe>', {
    '/frame': tag(EVERYTHING),
  }),
  frame(
    'from a frame of another site, with a process of its own',
    '<iframe src="http://%O/frame"></iframe>',
    {
      '/frame': `${tag(EVERYTHING)}<img src="http://%V/"><iframe src="http://%S/inner"></iframe>`,
      '/inner': tag(PAGE_ONLY.replace(/^/, 'const quiet = work => { try { work() } catch {} };')),
    },
  ),
  frame(
    'from srcdoc frames',
    `<iframe srcdoc="${attribute(tag(EVERYTHING))}"></iframe><iframe srcdoc="${attribute(`<iframe srcdoc="${attribute(tag(ANYWHERE))}"></iframe>`)}"></iframe>`,
  ),
  frame('from a sandboxed frame', `<iframe sandbox=allow-scripts src=/frame></iframe>`, {
    '/frame': tag(EVERYTHING),
  }),
  frame(
    'from a blob',
    tag(
      `const frame = document.createElement("iframe"); frame.src = URL.createObjectURL(new Blob([${literal(tag(EVERYTHING))}], { type: "text/html" })); document.body.append(frame)`,
    ),
  ),
  frame(
    'from a data: URL',
    tag(
      `const frame = document.createElement("iframe"); frame.src = "data:text/html," + encodeURIComponent(${literal(tag(EVERYTHING))}); document.body.append(frame)`,
    ),
  ),
  frame(
    'from about:blank',
    tag(
      `const frame = document.createElement("iframe"); document.body.append(frame); frame.contentWindow.eval(${literal(EVERYTHING)})`,
    ),
  ),
  script('from a worker', 'new Worker("/worker.js")', {
    '/worker.js': js(`${ANYWHERE}${XHR} quiet(() => importScripts("http://%V/"))`),
  }),
  script(
    'from a module worker',
    'new Worker("/worker.js", { type: "module" }); new Worker("/static.js", { type: "module" })',
    {
      '/worker.js': js(`${ANYWHERE}${XHR} import("http://%V/").catch(() => {})`),
      '/static.js': js('import "http://%V/"'),
    },
  ),
  script('from a worker inside a worker', 'new Worker("/outer.js")', {
    '/outer.js': js('new Worker("/inner.js")'),
    '/inner.js': js(ANYWHERE + XHR),
  }),
  script(
    'from a worker of a blob and of a data: URL',
    `new Worker(URL.createObjectURL(new Blob([${literal(ANYWHERE)}]))); new Worker("data:text/javascript," + encodeURIComponent(${literal(ANYWHERE)}))`,
  ),
  script(
    'from a shared worker',
    'new SharedWorker("/worker.js"); new SharedWorker("/module.js", { type: "module" })',
    {
      '/worker.js': js(ANYWHERE + XHR),
      '/module.js': js(ANYWHERE),
    },
  ),
  script('from a service worker', 'navigator.serviceWorker.register("/sw.js")', {
    '/sw.js': js(
      `oninstall = () => skipWaiting(); ${ANYWHERE.replace('quiet(() => { new EventSource("http://%V/") });', '')} onactivate = event => event.waitUntil(caches.open("a").then(cache => cache.addAll(["http://%V/"])).catch(() => {}))`,
    ),
  }),
  script(
    'from a service worker that imports a script',
    'for (const at of ["/sw.js", "/modules.js"]) navigator.serviceWorker.register(at, { type: at === "/sw.js" ? "classic" : "module", scope: at + "/" }).catch(() => {})',
    { '/sw.js': js('importScripts("http://%V/")'), '/modules.js': js('import "http://%V/"') },
  ),
  script(
    'through a service worker’s fetch handler',
    'await navigator.serviceWorker.register("/sw.js"); await navigator.serviceWorker.ready; const frame = document.createElement("iframe"); frame.src = "/in.html"; document.body.append(frame)',
    {
      '/sw.js': js(
        'onfetch = event => { if (/in[.]html|[.]png/.test(event.request.url)) event.respondWith(fetch(event.request.url.endsWith("png") ? "http://%V/" : "http://%V/", { mode: "no-cors" }).catch(() => new Response("<img src=/a.png>", { headers: { "content-type": "text/html" } }))) }',
      ),
    },
  ),
  script(
    'in the background',
    'const quiet = work => Promise.resolve().then(work).catch(() => {}); const worker = await navigator.serviceWorker.register("/sw.js").then(() => navigator.serviceWorker.ready); await Promise.race([Promise.all([quiet(() => worker.backgroundFetch.fetch("a", ["http://%Q/"])), quiet(() => worker.sync.register("a")), quiet(() => worker.navigationPreload.enable()), quiet(() => worker.showNotification("a", { icon: "http://%Q/" })), quiet(() => worker.pushManager.subscribe())]), new Promise(resolve => setTimeout(resolve, 700))]); window.done = true',
    { '/sw.js': js('onsync = event => event.waitUntil(fetch("http://%Q/"))') },
    'window.done',
  ),
  script(
    'by browser features that send requests',
    'const quiet = work => Promise.resolve().then(work).catch(() => {}); quiet(() => navigator.credentials.get({ identity: { providers: [{ configURL: "http://%Q/", clientId: "1", nonce: "1" }] } })); quiet(() => new PaymentRequest([{ supportedMethods: "https://%Q/" }], { total: { label: "x", amount: { currency: "EUR", value: "1" } } }).canMakePayment()); quiet(() => navigator.joinAdInterestGroup({ owner: location.origin, name: "a", biddingLogicURL: "http://%Q/" }, 9)); quiet(() => sharedStorage.worklet.addModule("http://%Q/")); quiet(() => { navigator.mediaSession.metadata = new MediaMetadata({ artwork: [{ src: "http://%Q/" }] }) }); quiet(() => { document.body.append(Object.assign(document.createElement("fencedframe"), { config: new FencedFrameConfig("http://%Q/") })) }); quiet(() => new Notification("a", { icon: "http://%Q/" })); quiet(() => navigator.registerProtocolHandler("web+a", "http://%Q/%25s")); quiet(() => new TCPSocket("127.0.0.1", 1)); quiet(() => navigator.share({ url: "http://%Q/" })); quiet(() => { document.body.append(Object.assign(document.createElement("portal"), { src: "http://%Q/" })) }); setTimeout(() => { window.done = true }, 700)',
    {},
    'window.done',
  ),
  script(
    'by speculation rules',
    'document.head.append(Object.assign(document.createElement("script"), { type: "speculationrules", textContent: JSON.stringify(Object.fromEntries(["prefetch", "prerender"].map(how => [how, [{ urls: ["http://%Q/", "https://%Q/"], eagerness: "immediate" }]]))) })); setTimeout(() => { window.done = true }, 700)',
    {},
    'window.done',
  ),
  script(
    'by WebTransport',
    'const at = "%Q"; const tries = ["https://" + at + "/", "https://127.0.0.1:" + at.split(":")[1] + "/", "https://[::1]:" + at.split(":")[1] + "/", "https://localhost:" + at.split(":")[1] + "/"]; await Promise.allSettled(tries.map(url => new WebTransport(url, url.includes("::1") ? { serverCertificateHashes: [{ algorithm: "sha-256", value: new Uint8Array(32) }] } : {}).ready)); window.done = true',
    {},
    'window.done',
  ),
  script(
    'by WebRTC, with STUN',
    `const at = "%Q"; const port = at.split(":")[1]; ${gathered('{ urls: ["stun:" + at, "stun:127.0.0.1:" + port, "stun:[::1]:" + port, "stun:localhost:" + port] }')}`,
    {},
    'window.done',
  ),
  script(
    'by WebRTC, with TURN over every transport',
    `const at = "%Q"; const port = at.split(":")[1]; const login = { username: "u", credential: "p" }; ${gathered('...["udp", "tcp"].flatMap(transport => ["turn", "turns"].flatMap(scheme => [at, "127.0.0.1:" + port, "[::1]:" + port].map(host => ({ urls: scheme + ":" + host + "?transport=" + transport, ...login }))))')}`,
    {},
    'window.done',
  ),
  script(
    'by WebRTC, with the victim as the peer',
    `const port = "%Q".split(":")[1];
    const [one, two] = [new RTCPeerConnection(), new RTCPeerConnection()];
    one.createDataChannel("x");
    await one.setLocalDescription(await one.createOffer());
    await two.setRemoteDescription(one.localDescription);
    await two.setLocalDescription(await two.createAnswer());
    await one.setRemoteDescription(two.localDescription);
    const lines = ["udp 2122260223 127.0.0.1 " + port + " typ host", "udp 2122260222 ::1 " + port + " typ host", "tcp 1518280447 127.0.0.1 " + port + " typ host tcptype passive", "udp 1686052607 127.0.0.2 " + port + " typ srflx raddr 0.0.0.0 rport 0"];
    for (const [at, line] of lines.entries()) for (const peer of [one, two]) await peer.addIceCandidate({ candidate: "candidate:" + at + " 1 " + line, sdpMid: "0" }).catch(() => {});
    setTimeout(() => { window.done = true }, 1500);`,
    {},
    'window.done',
  ),
]);
