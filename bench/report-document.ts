// A document with many files: a report of 20 pages with images and two web fonts.
import { landscape } from './picture.ts';
import { webFont } from './web-font.ts';

export const REPORT_PAGES = 20;
/** Each image is used twice. */
const PICTURES = 10;

/** The files of the report by path below `/report/`. */
export function reportFiles(): Map<string, { type: string; bytes: Buffer }> {
  const files = new Map<string, { type: string; bytes: Buffer }>();
  for (const weight of ['regular', 'bold'] as const)
    files.set(`${weight}.ttf`, { type: 'font/ttf', bytes: webFont(weight) });
  for (let n = 0; n < PICTURES; n++)
    files.set(`${n}.png`, { type: 'image/png', bytes: landscape(n) });
  return files;
}

const sentences = [
  'Revenue of the quarter grew in all regions but one, where two large customers moved their orders into the next year.',
  'The cost of energy fell for the third time in a row, and with it the price at which we can offer the basic plan.',
  'Nine out of ten deliveries reached the customer on the day that was promised; the goal for the year remains ninety-five of a hundred.',
  'The new plant has been running in two shifts since May, and its scrap rate is below that of the old one since July.',
  'We keep the forecast for the full year, and will look at it again when the figures of November are there.',
];

const paragraph = (start: number, length: number) =>
  Array.from({ length }, (_, n) => sentences[(start * 3 + n) % sentences.length]!).join(' ');

// A section is slightly lower than the printable area, so that the number of pages does not depend
// on fonts.
const style = (file: (name: string) => string) => `
@font-face { font-family: Report; font-weight: 400; src: url(${file('regular.ttf')}) }
@font-face { font-family: Report; font-weight: 700; src: url(${file('bold.ttf')}) }
* { box-sizing: border-box }
body { font: 13px/1.5 Report, sans-serif; color: #222; margin: 0 }
section { height: 1030px; overflow: hidden; break-after: page }
section:last-child { break-after: auto }
h2 { font-size: 24px; border-bottom: 2px solid #b5472f; padding-bottom: 6px }
figure { margin: 12px 0 } img { width: 100%; height: 300px; object-fit: cover; border-radius: 6px }
figcaption { font-size: 11px; color: #666 }
.columns { columns: 2; column-gap: 24px }
.key { display: flex; gap: 12px; margin: 12px 0 } .key div { flex: 1; background: #f6efe9; padding: 8px 12px } .key b { display: block; font-size: 22px }`;

/** Returns a complete HTML document; `file` returns the URL of one of its files. */
export function report(seed: number, file: (name: string) => string): string {
  const page = (n: number) => `<section><h2>${n + 1}. Section ${n + 1} of report ${seed}</h2>
<p>${paragraph(n + seed, 3)}</p>
<figure><img src="${file(`${n % PICTURES}.png`)}" alt="Picture ${n + 1}"><figcaption>Picture ${n + 1}: site ${(n % PICTURES) + 1}</figcaption></figure>
<div class="key">${[0, 1, 2].map(k => `<div><b>${((seed * 17 + n * 31 + k * 7) % 90) + 10} %</b>key figure ${k + 1}</div>`).join('')}</div>
<div class="columns"><p>${paragraph(n, 6)}</p><p>${paragraph(n + 2, 5)}</p></div></section>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Report ${seed}</title><style>${style(file)}</style></head><body>
${Array.from({ length: REPORT_PAGES }, (_, n) => page(n)).join('\n')}</body></html>`;
}
