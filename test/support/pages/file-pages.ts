// Documents that try to read local files in every way a page can. With HTTP URLs instead of file
// URLs, the same documents show the content.
import { mkdirSync, writeFileSync } from 'node:fs';

/** A bitmap of one colour. */
function bitmap(red: number, green: number, blue: number, side = 100): Buffer {
  const head = Buffer.alloc(54);
  head.write('BM');
  head.writeUInt32LE(54 + side * side * 4, 2);
  head.writeUInt32LE(54, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(side, 18);
  head.writeInt32LE(side, 22);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(32, 28);
  return Buffer.concat([head, Buffer.alloc(side * side * 4, Buffer.from([blue, green, red, 255]))]);
}

/** The files by name. Each contains the secret or has a colour that nothing else has. */
export const secretFiles = (
  secret: string,
): Record<string, [type: string, content: string | Buffer]> => ({
  'a.txt': ['text/plain', secret],
  'a.html': ['text/html', `<body style="background:#f0f">${secret}</body>`],
  'a.css': ['text/css', `body::after { content: "${secret}" } body { background: #f0f }`],
  'a.js': ['text/javascript', `document.body?.append("${secret}")`],
  'a.json': ['application/json', JSON.stringify(secret)],
  'a.bmp': ['image/bmp', bitmap(255, 0, 255)],
  'a.svg': [
    'image/svg+xml',
    `<svg xmlns="http://www.w3.org/2000/svg" id="a" width="90" height="90"><rect id="r" width="90" height="90" fill="#f0f"/><text>${secret}</text></svg>`,
  ],
  'a.xml': ['text/xml', `<a>${secret}</a>`],
  'a.xsl': [
    'text/xsl',
    `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html><body>${secret}</body></html></xsl:template></xsl:stylesheet>`,
  ],
});

/** Writes files that all users can read, so that only Chrome's rules protect them. */
export function writeSecretFiles(folder: string, secret: string): void {
  mkdirSync(folder, { mode: 0o755 });
  for (const [name, [, content]] of Object.entries(secretFiles(secret)))
    writeFileSync(`${folder}/${name}`, content, { mode: 0o644 });
}

/** Elements that load without a script. `at` returns the URL of a file. */
const elements = (at: (name: string) => string): string =>
  [
    `<link rel="stylesheet" href="${at('a.css')}">`,
    `<link rel="manifest" href="${at('a.json')}"><link rel="icon" href="${at('a.bmp')}"><link rel="prefetch" href="${at('a.txt')}">`,
    `<link rel="preload" as="image" href="${at('a.bmp')}"><link rel="modulepreload" href="${at('a.js')}">`,
    `<style>@import "${at('a.css')}"; @font-face { font-family: f; src: url("${at('a.txt')}") } .b { font: 9px f; width: 90px; height: 90px; background: url("${at('a.bmp')}"); cursor: url("${at('a.bmp')}"), auto; list-style-image: url("${at('a.bmp')}"); border-image: url("${at('a.bmp')}") 1; mask-image: url("${at('a.svg')}#r") }</style>`,
    `<div class="b">.</div><table background="${at('a.bmp')}"><tr><td>.</table>`,
    `<img src="${at('a.bmp')}"><img srcset="${at('a.bmp')} 1x"><picture><source srcset="${at('a.bmp')}"><img></picture><input type="image" src="${at('a.bmp')}">`,
    `<iframe src="${at('a.txt')}"></iframe><iframe src="${at('a.html')}"></iframe><iframe src="${at('')}"></iframe>`,
    `<object data="${at('a.html')}"></object><object data="${at('a.bmp')}" type="image/bmp"></object><embed src="${at('a.svg')}"><embed src="${at('a.txt')}" type="text/plain">`,
    `<svg width="90" height="90"><use href="${at('a.svg')}#a"/><image href="${at('a.bmp')}" width="9" height="9"/><filter id="x"><feImage href="${at('a.bmp')}"/></filter><rect width="9" height="9" filter="url(#x)"/><foreignObject width="90" height="90"><iframe xmlns="http://www.w3.org/1999/xhtml" src="${at('a.txt')}"/></foreignObject></svg>`,
    `<video src="${at('a.bmp')}" poster="${at('a.bmp')}" autoplay><track default src="${at('a.txt')}"></video><audio src="${at('a.txt')}"></audio>`,
    `<script src="${at('a.js')}"></script><script type="module" src="${at('a.js')}"></script><script type="module">import "${at('a.js')}"</script>`,
    `<iframe srcdoc='<img src="${at('a.bmp')}"><iframe src="${at('a.txt')}"></iframe>'></iframe>`,
    `<iframe src='data:text/html,<img src="${at('a.bmp')}"><iframe src="${at('a.html')}"></iframe>'></iframe>`,
    `<iframe src='data:text/xml,<?xml-stylesheet type="text/xsl" href="${at('a.xsl')}"?><a/>'></iframe>`,
    `<frameset><frame src="${at('a.html')}"></frameset><portal src="${at('a.html')}"></portal><fencedframe src="${at('a.html')}"></fencedframe>`,
    '<input type="file"><input type="file" webkitdirectory>',
  ].join('\n');

/** A script that tries every API, appends the results to the page and sets `window.done`. */
const attempts = (
  addresses: string[],
): string => `<pre id="got"></pre><iframe name="target"></iframe><script>(async () => {
  const addresses = ${JSON.stringify(addresses)};
  const got = text => { document.querySelector('#got').append(String(text)) };
  const soon = (target, good) => new Promise(resolve => { target.onerror = resolve; target[good] = event => resolve(event); setTimeout(resolve, 400) });
  const xhr = address => new Promise(resolve => { const call = new XMLHttpRequest(); call.onloadend = () => resolve(call.responseText); call.open('GET', address); call.send() });
  const frame = async (address, how) => { const made = document.createElement('iframe'); document.body.append(made); how(made, address); await soon(made, 'onload'); return made.contentDocument?.body?.textContent };
  const tries = [
    address => fetch(address).then(answer => answer.text()),
    address => fetch(address, { mode: 'no-cors' }).then(answer => answer.text()),
    xhr,
    address => import(address),
    address => soon(new Worker(address), 'onmessage').then(event => event?.data),
    address => soon(new Worker(URL.createObjectURL(new Blob(['fetch(' + JSON.stringify(address) + ').then(a => a.text()).then(postMessage); try { importScripts(' + JSON.stringify(address) + ') } catch {}']))), 'onmessage').then(event => event?.data),
    address => soon(new SharedWorker(address).port, 'onmessage').then(event => event?.data),
    address => soon(new EventSource(address), 'onmessage').then(event => event?.data),
    address => frame(address, (made, where) => { made.src = where }),
    address => frame(address, (made, where) => { made.contentWindow.location = where }),
    address => { const made = document.createElement('iframe'); made.src = URL.createObjectURL(new Blob(['<iframe src="' + address + '"></iframe><img src="' + address + '">'], { type: 'text/html' })); document.body.append(made); return soon(made, 'onload').then(() => '') },
    address => { open(address, 'target') },
    address => { const form = document.createElement('form'); form.action = address; form.target = 'target'; document.body.append(form); form.submit() },
    address => { const link = document.createElement('a'); link.href = address; link.target = 'target'; document.body.append(link); link.click(); link.download = 'x' },
    address => { document.querySelector('input').value = address },
    address => { const image = new Image(); image.src = address; document.body.append(image); return soon(image, 'onload').then(() => '') },
    () => showOpenFilePicker().then(() => 'picked'),
    address => navigator.serviceWorker.register(address).then(() => ''),
    address => CSS.paintWorklet?.addModule(address).then(() => ''),
    address => new FontFace('g', 'url(' + address + ')').load().then(() => ''),
  ];
  await Promise.all(addresses.flatMap(address => tries.map(attempt => Promise.race([Promise.resolve().then(() => attempt(address)).then(text => got(text ?? ''), () => {}), new Promise(resolve => setTimeout(resolve, 2000))]))));
  window.done = true;
})()</script>`;

/** `base` is the URL of the folder; `more` are other spellings of file URLs. */
export const filePage = (base: string, more: string[] = []): string =>
  `<!doctype html><html><head><meta charset="utf-8"><title>T</title></head><body>SHOWN
  ${elements(name => `${base}/${name}`)}
  ${more.map(address => `<iframe src="${address}"></iframe><img src="${address}"><object data="${address}"></object>`).join('\n')}
  ${attempts([...['a.txt', 'a.html', 'a.js', 'a.bmp'].map(name => `${base}/${name}`), ...more])}</body></html>`;
