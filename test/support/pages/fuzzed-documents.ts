// Documents that try to look static: fragments of the corpus, cut, joined, repeated and changed.
import type { Chance } from '../../fault/harness/random.ts';
import { DYNAMIC_DOCUMENTS, STATIC_DOCUMENTS } from './static-documents.ts';

const PARTS = [...DYNAMIC_DOCUMENTS, ...STATIC_DOCUMENTS];
const GLUE = [
  '',
  ' ',
  '\n',
  '\t',
  '\f',
  '>',
  '<',
  '"',
  "'",
  '=',
  '/',
  '&',
  ';',
  '<!--',
  '-->',
  '</',
  '/>',
  '<p>',
  '</p>',
  '<svg>',
  '</svg>',
  '<g>',
  '<style>',
  '</style>',
  '<title>',
  '</title>',
  '<table>',
  '</table>',
  '<td>',
  '<a href="#x">',
  '</a>',
  '<b>',
  '</b>',
  '<body>',
  '</html>',
  '<font>',
  'url(',
  ')',
  '/*',
  '*/',
  '&#60;',
  '&lt',
  '&quot;',
  '\u00a0',
  '\u212a',
  '<text>',
  '<tspan>',
  '<desc>',
];

export function fuzzedDocument({ int, pick, percent }: Chance): string {
  const piece = () => {
    const part = pick(percent(50) ? STATIC_DOCUMENTS : PARTS);
    if (percent(40)) return part;
    const at = int(0, part.length);
    if (percent(33)) return part.slice(at);
    if (percent(50)) return part.slice(0, at);
    return part.slice(0, at) + pick(GLUE) + part.slice(at + int(0, 2));
  };
  let html = percent(70) ? '<!doctype html>' : '';
  for (let pieces = int(1, 4); pieces > 0; pieces--) html += piece() + pick(GLUE);
  return html;
}
