// Abusive pages: each ends within its limits with a PDF or a clear error, while renders of another
// account on the same worker succeed.
import { readFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { expect } from 'chai';
import { chromeProcesses } from '../../fault/harness/chrome-processes.ts';
import { html, type Installation, installation } from '../../support/installation.ts';
import { pdfText } from '../../support/pdf.ts';

const RENDER_MEMORY_MIB = 300;
/**
 * All Chrome processes together: the limit of one render, the overshoot until it is detected, and
 * the browser's own memory.
 */
const CHROME_MIB = 1_200;
const LIMIT_S = 8;

/**
 * A black PNG with `side` × `side` pixels of one bit: a few KiB that decode to gigabytes.
 * https://www.w3.org/TR/png-3/
 */
function hugePng(side: number): string {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head[8] = 1; // one bit per pixel, grey
  const rows = deflateSync(Buffer.alloc(side * (Math.ceil(side / 8) + 1)));
  const png = [
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return `data:image/png;base64,${Buffer.concat(png).toString('base64')}`;
}

/** `(module (func (export "run") (loop (br 0))))` */
const ENDLESS_WASM =
  '[0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,7,7,1,3,114,117,110,0,0,10,9,1,7,0,3,64,12,0,11,11]';
const spin = `new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(${ENDLESS_WASM}))).exports.run()`;
const worker = (code: string) =>
  `new Worker(URL.createObjectURL(new Blob([${JSON.stringify(code)}])))`;

const PAGES: [what: string, page: string, more?: object][] = [
  [
    'frames that create frames',
    html(
      `<script>function grow(){for(let i=0;i<4;i++){const f=document.createElement('iframe');f.srcdoc='<script>'+grow+';grow()<\\/script>';document.documentElement.append(f)}}grow()</script>`,
    ),
  ],
  [
    'canvases of 2 GB',
    html(
      `<script>for(let i=0;i<16;i++){const c=document.createElement('canvas');c.width=c.height=6000;const x=c.getContext('2d');x.fillRect(0,0,6000,6000);document.body.append(c)}</script>`,
    ),
  ],
  ['WebAssembly that spins', html(`<script>${spin}</script>`)],
  ['workers that spin', html(`<p>spin</p><script>for(let i=0;i<8;i++)${worker(spin)}</script>`)],
  [
    'workers that create workers',
    html(
      `<script>const grow=u=>{for(let i=0;i<4;i++)new Worker(u)};const u=URL.createObjectURL(new Blob(['const u=location.href;for(let i=0;i<4;i++)new Worker(u);for(;;);']));grow(u)</script>`,
    ),
  ],
  [
    'unlimited memory',
    html('<script>const all=[];for(;;)all.push(new Uint8Array(1<<22).fill(7))</script>'),
  ],
  [
    'unlimited memory in a worker',
    html(
      `<script>${worker('const all=[];for(;;)all.push(new Uint8Array(1<<22).fill(7))')}</script>`,
    ),
    { wait_for_selector: '#never' },
  ],
  ['unlimited text', html("<script>let t='x'.repeat(1e6);for(;;)document.body.append(t)</script>")],
  ['a huge image', html(`<img src="${hugePng(30_000)}" width="500">`)],
  [
    'many large images',
    html(
      Array.from({ length: 12 }, (_, n) => `<img src="${hugePng(12_000 + n)}" width="500">`).join(
        '',
      ),
    ),
  ],
  ['10,000 pages', html('<p style="break-after:page">p</p>'.repeat(10_000))],
  [
    'expensive CSS selectors',
    html(
      `<style>${Array.from({ length: 1_500 }, (_, n) => `:has(i:nth-child(${n + 2}n) ~ b:not(:has(u))) i ~ i ~ i ~ b{color:red}`).join('')}</style>${'<i></i><b></b>'.repeat(20_000)}`,
    ),
  ],
  [
    'nested CSS filters',
    html(
      `<style>div{filter:blur(200px) drop-shadow(0 0 200px red);width:2000px;height:2000px}</style>${'<div>'.repeat(60)}x`,
    ),
  ],
  [
    'hundreds of large shadows',
    html(
      `<style>p{box-shadow:${Array.from({ length: 400 }, (_, n) => `${n}px ${n}px 90px red`).join(',')};height:900px}</style>${'<p>x'.repeat(100)}`,
    ),
  ],
  [
    'an SVG that uses itself a billion times',
    html(
      `<svg>${Array.from({ length: 10 }, (_, n) => `<g id="g${n + 1}">${`<use href="#g${n}"/>`.repeat(10)}</g>`).join('')}<rect id="g0" width="1" height="1"/><use href="#g10"/></svg>`,
    ),
  ],
];

describe('an abusive page', function () {
  this.timeout(180_000);
  let pressroom: Installation;
  let neighbour: string;
  before(async () => {
    pressroom = await installation({
      env: {
        PRESSROOM_RENDER_TIMEOUT: `${LIMIT_S}s`,
        PRESSROOM_RENDER_MEMORY: `${RENDER_MEMORY_MIB}MiB`,
        PRESSROOM_OUTPUT_MAX: '20MiB',
        PRESSROOM_QUEUE_TIMEOUT: '60s',
      },
    });
    const name = `${pressroom.account} neighbour`;
    await pressroom.accounts.createAccount(name, { plan: 'scale' });
    neighbour = (await pressroom.accounts.createKey(name, { name: 'k' })).text;
  });
  after(() => pressroom.stop());

  /** Anonymous memory of all Chrome processes in MiB. */
  function chromeMiB(): number {
    const sizes = chromeProcesses(process.pid).map(({ pid }) => {
      try {
        return Number(
          /^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0,
        );
      } catch {
        return 0; // it is gone
      }
    });
    return sizes.reduce((sum, size) => sum + size, 0) / 1_024;
  }

  for (const [what, page, more] of PAGES)
    it(`ends within its limits while another account renders: ${what}`, async () => {
      let over = false;
      let most = 0;
      const watch = setInterval(() => {
        most = Math.max(most, chromeMiB());
      }, 100);
      const abuse = pressroom.render({ html: page, ...more }).finally(() => {
        over = true;
      });
      abuse.catch(() => {});
      try {
        let served = 0;
        for (; served < 2 || (!over && served < 500); served++) {
          const answer = await pressroom.render(
            { html: html('NEIGHBOUR') },
            { Authorization: `Bearer ${neighbour}` },
          );
          expect(answer.status, answer.body.toString('utf8', 0, 200)).to.equal(200);
          expect(await pdfText(answer.body)).to.include('NEIGHBOUR');
        }
        const answer = await abuse;
        if (answer.status !== 200) {
          const { code, reason, message } = answer.error();
          expect([code, answer.status], message).to.deep.equal(['render_failed', 502]);
          expect(['page_timeout', 'page_crash', 'output_limit'], message).to.include(reason);
          expect(message).to.match(/\.$/);
        }
      } finally {
        clearInterval(watch);
      }
      expect(most, 'MiB of all Chrome').to.be.below(CHROME_MIB);
      await pressroom.worker.until({ busy: 0, ready: 2 });
    });
});
