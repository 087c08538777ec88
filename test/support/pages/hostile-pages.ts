// Hostile pages of HTML only. They need no origin and no server: anonymous clients can send them.
import { endless, forever, type HostilePage, printed, printedScript } from './hostile-page.ts';

/** (module (func (export "f") (loop (br 0)))) */
const WASM_LOOP =
  '0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,7,5,1,1,102,0,0,10,9,1,7,0,3,64,12,0,11,11';
const WORKER = "URL.createObjectURL(new Blob(['for (;;);']))";
const TEXT_2_MB = "const text = 'x'.repeat(2e6); let n = 0;";

/** Floods of messages to the browser process, the worker or the API. */
const messages: HostilePage[] = [
  endless('console flood of small lines', 'for (;;) console.log(1);'),
  endless('console flood of 1 MB lines', "const s = 'x'.repeat(1e6); for (;;) console.log(s);"),
  endless(
    'console flood of stacks and objects',
    `function deep(n) { n > 0 ? deep(n - 1) : console.trace({ a: { b: [] } }, 'x', document); }
for (;;) deep(100);`,
  ),
  endless('endless errors', forever("setTimeout(() => { throw new Error('x'.repeat(1e4)); });")),
  endless(
    'endless rejections',
    forever("for (let i = 0; i < 100; i++) Promise.reject('x'.repeat(1e4));"),
  ),
  endless('location.hash flood', `let n = 0; ${forever('location.hash = n++;')}`),
  endless('location.hash flood of 2 MB', `${TEXT_2_MB} ${forever('location.hash = text + n++;')}`),
  endless(
    'data URL flood',
    `const text = 'data:image/png;base64,' + 'A'.repeat(1e6); let n = 0;
${forever('new Image().src = text + n++;')}`,
  ),
  endless(
    'data URLs of 100 MB',
    `for (;;) {
  const image = new Image();
  image.src = 'data:image/png;base64,' + 'A'.repeat(1e8);
}`,
    { memoryMib: 150 },
  ),
  endless(
    'postMessage storm',
    `onmessage = ({ data }) => postMessage(data, '*');
for (let i = 0; i < 10_000; i++) postMessage('x'.repeat(1e3), '*');`,
  ),
  endless(
    'timers by the hundred thousand',
    'for (let i = 0; i < 1e5; i++) setInterval(() => {}, 0);',
  ),
  endless('dialogs in a loop', "for (;;) { alert(1); confirm('x'.repeat(1e6)); prompt('x'); }"),
  endless('print in a loop', 'for (;;) print();'),
  endless('popups in a loop', forever("for (let i = 0; i < 100; i++) open('about:blank#' + i);")),
  endless(
    'icons and titles of 2 MB in a loop',
    `${TEXT_2_MB} const icon = document.createElement('link');
icon.rel = 'icon'; document.head.append(icon);
${forever("document.title = text + n; icon.href = 'data:image/png,' + text + n++;")}`,
  ),
  endless('object URLs in a loop', "const b = new Blob(['x']); for (;;) URL.createObjectURL(b);"),
  endless(
    'permission queries in a loop',
    forever("for (let i = 0; i < 1e3; i++) navigator.permissions.query({ name: 'geolocation' });"),
  ),
  endless(
    'downloads in a loop',
    `const a = document.createElement('a');
a.download = 'x'; a.href = URL.createObjectURL(new Blob(['x'.repeat(1e6)]));
${forever('a.click();')}`,
  ),
  printed('location.reload in html', '<img src="$BASE/small"><script>location.reload()</script>', {
    requests: 2,
  }),
  printed(
    'meta refresh of 0 s in html',
    '<meta http-equiv="refresh" content="0"><img src="$BASE/small">',
    { requests: 2 },
  ),
  printedScript('title of 10 MB', "document.title = 'x'.repeat(1e7)", { cpuS: 0.05 }),
];

const SVG_USES = Array.from(
  { length: 9 },
  (_, level) => `<g id="a${level + 1}">${`<use href="#a${level}"/>`.repeat(10)}</g>`,
).join('');
const SVG_FILTER = `<filter id="f" x="0" y="0" width="1" height="1">
<feTurbulence baseFrequency=".9" numOctaves="10"/><feMorphology radius="40"/>
<feGaussianBlur stdDeviation="90"/></filter>`;
const FILTERED = '<rect width="4000" height="4000" filter="url(#f)"/>'.repeat(40);

/** CPU load in one or many threads. */
const processors: HostilePage[] = [
  endless('workers by the hundred', `for (let i = 0; i < 300; i++) new Worker(${WORKER});`),
  endless(
    'workers started and ended in a loop',
    `const url = ${WORKER};
${forever('const w = new Worker(url); setTimeout(() => w.terminate());')}`,
  ),
  endless(
    'WebAssembly burn',
    `const bytes = new Uint8Array([${WASM_LOOP}]);
new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports.f();`,
  ),
  endless('regular expression burn', "/^(a+)+$/.test('a'.repeat(60) + 'b');"),
  endless(
    'layout thrash',
    `document.body.innerHTML = '<table>' + '<tr><td>x<td>y'.repeat(5e3) + '</table>';
for (let i = 0; ; i++) { document.body.style.width = (i % 500) + 'px'; document.body.offsetHeight; }`,
  ),
  endless('document.write in a loop', "for (;;) document.write('<p>x');"),
  endless(
    'offline audio',
    `for (let i = 0; i < 100; i++) {
  const context = new OfflineAudioContext(2, 1e8, 48_000);
  for (let j = 0; j < 20; j++) {
    const tone = context.createOscillator();
    tone.connect(context.destination);
    tone.start();
  }
  context.startRendering();
}`,
  ),
  endless(
    'WebRTC connections by the hundred',
    `for (let i = 0; i < 400; i++) {
  const connection = new RTCPeerConnection();
  connection.createDataChannel('x');
  connection.createOffer().then(offer => connection.setLocalDescription(offer));
}`,
    { memoryMib: 20 },
  ),
  endless(
    'selector bomb',
    `const rules = Array.from({ length: 2e3 }, (_, i) =>
  \`body:has(p:nth-last-child(\${i}n+1) ~ p) p:has(+ p)::before { content: '\${i}' }\`);
document.head.append(Object.assign(document.createElement('style'), { textContent: rules.join('') }));
document.body.innerHTML = '<p>x'.repeat(5e3);
for (let i = 0; ; i++) {
  document.body.className = 'a' + i;
  document.body.append(document.createElement('p'));
  document.body.offsetHeight;
}`,
  ),
  printed('SVG filters', `<svg width="4000" height="4000">${SVG_FILTER}${FILTERED}</svg>`),
  printed('SVG of a billion uses', `<svg><g id="a0"><circle r="1"/></g>${SVG_USES}</svg>`),
  printedScript('endless beforeprint', "addEventListener('beforeprint', () => { for (;;); });"),
];

/** Memory of the renderer, the browser process or the PDF. */
const memories: HostilePage[] = [
  endless(
    'strings of 100 MB',
    "const a = []; for (;;) a.push(JSON.stringify('x'.repeat(1e8) + a.length));",
    {
      memoryMib: 200,
    },
  ),
  endless('memory to the bound', 'const a = []; for (;;) a.push(new Uint8Array(1e7).fill(1));', {
    memoryMib: 300,
  }),
  endless(
    'crash by a full heap',
    'const a = []; for (;;) a.push(new Array(1e6).fill(a.length + 0.5));',
    {
      memoryMib: 300,
    },
  ),
  endless(
    'WebAssembly memory',
    `const all = [];
for (;;) {
  const memory = new WebAssembly.Memory({ initial: 4096 });
  new Uint8Array(memory.buffer).fill(1);
  all.push(memory);
}`,
    { memoryMib: 300 },
  ),
  endless(
    'Blobs',
    `const data = new Uint8Array(2e7).fill(1), all = [];
for (let i = 0; i < 400; i++) all.push(new Blob([data]));`,
    { memoryMib: 300 },
  ),
  endless(
    'canvas bomb',
    `const all = [];
for (;;) {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 8192;
  const context = canvas.getContext('2d');
  context.fillRect(0, 0, 8192, 8192);
  all.push(canvas, context.getImageData(0, 0, 8192, 8192));
}`,
    { memoryMib: 300 },
  ),
  endless(
    'WebGL bomb',
    `const data = new Uint8Array(4096 * 4096 * 4).fill(1);
for (let i = 0; i < 16; i++) {
  const gl = document.createElement('canvas').getContext('webgl');
  for (let n = 0; n < 20; n++) {
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 4096, 4096, 0, gl.RGBA, gl.UNSIGNED_BYTE, data);
  }
  gl.finish();
}`,
    { memoryMib: 100 },
  ),
  endless(
    'millions of elements',
    `const some = () => Array.from({ length: 1e3 }, () => document.createElement('p'));
for (;;) document.body.append(...some());`,
    { memoryMib: 100 },
  ),
  printedScript(
    'iframes 1,000 deep',
    `let inside = document;
for (let i = 0; i < 1e3 && inside; i++) {
  const frame = inside.createElement('iframe');
  inside.body.append(frame);
  inside = frame.contentDocument;
}`,
  ),
  endless(
    'frames opened in a loop',
    forever(`for (let i = 0; i < 20; i++) {
  const frame = document.createElement('iframe');
  frame.srcdoc = '<p>x';
  document.body.append(frame);
  setTimeout(() => frame.remove());
}`),
  ),
  endless(
    'forks of blob: pages',
    `const fork = \`<script>
const text = document.documentElement.outerHTML;
for (let i = 0; i < 3; i++) {
  const frame = document.createElement('iframe');
  frame.src = URL.createObjectURL(new Blob([text], { type: 'text/html' }));
  document.documentElement.append(frame);
}<\\/script>\`;
const frame = document.createElement('iframe');
frame.src = URL.createObjectURL(new Blob([fork], { type: 'text/html' }));
document.body.append(frame);`,
  ),
  printedScript('text of 50 MB', "document.body.textContent = 'word '.repeat(1e7);"),
  printed('PDF of 100,000 pages', '<div style="height:10000000vh">x</div>'),
  printedScript(
    'PDF of many pictures',
    `for (let i = 0; i < 400; i++) {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 600;
  const context = canvas.getContext('2d');
  const image = context.createImageData(600, 600);
  for (let at = 0; at < image.data.length; at += 65_536)
    crypto.getRandomValues(image.data.subarray(at, at + 65_536));
  context.putImageData(image, 0, 0);
  document.body.append(canvas);
}`,
  ),
];

export const hostilePages: readonly HostilePage[] = [...messages, ...processors, ...memories];
