// @proves drawings

import { expect } from 'chai';
import { type RealPage, realPages } from '../../support/pages/real-pages.ts';
import { pdfColour, pdfText } from '../../support/pdf.ts';

const NONE = { margin: { top: '0', right: '0', bottom: '0', left: '0' } };
const body = (text: string, style = '') =>
  `<!doctype html><style>body { margin: 0 } ${style}</style><body>${text}`;
/** The colour at a place in CSS pixels on the first page. */
const colour =
  (x: number, y: number, expected: number[], page = 1) =>
  async (pdf: Buffer) => {
    const found = await pdfColour(pdf, (x / 96) * 25.4, (y / 96) * 25.4, page);
    // Pictures may be packed with a loss.
    for (const [n, value] of found.entries())
      expect(value, `${found}`).to.be.closeTo(expected[n]!, 3);
  };
const [RED, GREEN, BLUE] = [
  [255, 0, 0],
  [0, 255, 0],
  [0, 0, 255],
] as const;
const square = (fill: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="100" height="100" fill="${fill}"/></svg>`;
const inUrl = (svg: string) => `data:image/svg+xml,${encodeURIComponent(svg)}`;

const drawings: RealPage[] = [
  {
    what: 'inline SVG, also its text',
    html: body(`${square('#f00')}<svg width="300" height="60"><text y="40">INLINE</text></svg>`),
    options: NONE,
    text: ['INLINE'],
    look: colour(50, 50, [...RED]),
  },
  {
    what: 'SVG as an image',
    html: body(`<img src="${inUrl(square('#00f'))}">`),
    options: NONE,
    look: colour(50, 50, [...BLUE]),
  },
  {
    what: 'SVG with a foreign object',
    html: body(
      '<svg width=300 height=100><foreignObject width=300 height=100><p>FOREIGN</p></foreignObject></svg>',
    ),
    text: ['FOREIGN'],
  },
  {
    what: 'a canvas drawn in 20 frames',
    html: body(
      '<canvas id=c width=200 height=100></canvas><script>let n = 0; const c2 = c.getContext("2d"); const step = () => { c2.fillStyle = "#0f0"; c2.fillRect(n * 10, 0, 10, 100); if (++n < 20) requestAnimationFrame(step); else document.title = "drawn" }; requestAnimationFrame(step)</script>',
    ),
    options: { ...NONE, wait_for_expression: 'document.title === "drawn"' },
    look: colour(195, 50, [...GREEN]),
  },
  {
    what: 'a canvas drawn at once',
    html: body(
      '<canvas id=c width=200 height=100></canvas><script>const c2 = c.getContext("2d"); c2.fillStyle = "#f00"; c2.fillRect(0, 0, 200, 100)</script>',
    ),
    options: NONE,
    look: colour(100, 50, [...RED]),
  },
  {
    what: 'a WebGL canvas, where there is WebGL',
    html: body(
      '<canvas id=c width=200 height=100></canvas><p id=o></p><script>const gl = c.getContext("webgl", { preserveDrawingBuffer: true }); if (gl) { gl.clearColor(0, 0, 1, 1); gl.clear(gl.COLOR_BUFFER_BIT) } o.textContent = gl ? "GL-YES" : "GL-NO"</script>',
    ),
    options: NONE,
    look: async pdf => {
      if ((await pdfText(pdf)).includes('GL-YES')) await colour(100, 50, [...BLUE])(pdf);
    },
  },
  {
    what: 'MathML',
    html: body('<math><mfrac><mi>NUMERATOR</mi><mn>42</mn></mfrac></math>'),
    text: ['NUMERATOR', '42'],
  },
  {
    what: 'backgrounds, gradients and shadows',
    html: body(
      '<div style="height:100px;background:linear-gradient(#f00,#f00);box-shadow:0 0 9px #000"></div>',
    ),
    options: NONE,
    look: colour(50, 50, [...RED]),
  },
  {
    what: 'a picture element and srcset',
    html: body(
      `<picture><source srcset="${inUrl(square('#0f0'))}"><img src="${inUrl(square('#f00'))}"></picture>`,
    ),
    options: NONE,
    look: colour(50, 50, [...GREEN]),
  },
  {
    what: 'an animation at its end',
    html: body(
      '<style>@keyframes a { to { background: #0f0 } } div { height: 100px; background: #f00; animation: a 50ms forwards }</style><div id=d></div><script>d.onanimationend = () => { document.title = "ended" }</script>',
    ),
    options: { ...NONE, wait_for_expression: 'document.title === "ended"' },
    look: colour(50, 50, [...GREEN]),
  },
];

realPages('drawings', drawings);
