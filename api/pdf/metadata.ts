// The PDF's metadata: its document information dictionary (ISO 32000-1, 14.3.3) written anew behind
// Chrome's bytes as an incremental update (7.5.6). That costs microseconds, where reading and
// saving a PDF as a whole costs milliseconds and several times its memory. Chrome writes no XMP
// packet, so none can disagree with it.
import { type ChromePdf, reference } from './chrome-pdf.ts';
import type { PdfMetadata } from './printed.ts';

/** Who made the PDF, in the two fields that tell it. */
const MAKER = 'Pressroom';

const KEYS = {
  title: 'Title',
  author: 'Author',
  subject: 'Subject',
  keywords: 'Keywords',
} as const;

/** A name and how the text after it begins; Chrome writes no other kind of value here. */
const ENTRY = /\/(\w+)\s*([(<])/y;
/** The title is the page's own, of any length. Of one that is longer than this nothing is kept. */
const MAX_TEXT_LENGTH = 16 * 1_024;
/**
 * Chrome writes the title first. Looking for what follows a longer one would hold the event loop.
 */
const MAX_READ_BYTES = 256 * 1_024;

/** Each run of line breaks and tabs. */
const BREAKS = /[\t\n\r]+/g;

/**
 * A text string (ISO 32000-1, 7.9.2.2): as it is when every PDF reader reads it so, else UTF-16
 * with a byte order mark, in hexadecimal digits.
 */
export function textString(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return `(${text.replace(/[\\()]/g, '\\$&')})`;
  const units = Buffer.from(`\uFEFF${text.toWellFormed()}`, 'utf16le').swap16();
  return `<${units.toString('hex').toUpperCase()}>`;
}

/** Where the text ends whose first bracket is before `from`. */
function endOfText(written: string, from: number, bracket: string): number {
  if (bracket === '<') return written.indexOf('>', from);
  for (let at = from; at < written.length; at++) {
    if (written[at] === '\\') at++;
    else if (written[at] === ')') return at;
  }
  return -1;
}

/**
 * Chrome's entries in order, without one that is cut. By hand: the stack of a regular expression
 * does not hold a long text.
 */
function entriesOf(written: string): Map<string, string> {
  const entries = new Map<string, string>();
  for (let at = written.indexOf('/'); at >= 0; at = written.indexOf('/', at)) {
    ENTRY.lastIndex = at;
    const head = ENTRY.exec(written);
    const from = ENTRY.lastIndex;
    if (!head) {
      at++;
      continue;
    }
    const end = endOfText(written, from, head[2]!);
    if (end < 0) break;
    if (end - from <= MAX_TEXT_LENGTH) entries.set(head[1]!, written.slice(from - 1, end + 1));
    at = end + 1;
  }
  return entries;
}

/** Chrome's entries, with what the caller gave and who made it in their place. */
function information(written: string, metadata: PdfMetadata): string {
  const entries = entriesOf(written);
  for (const [field, name] of Object.entries(KEYS)) {
    const text = metadata[field as keyof PdfMetadata];
    if (text === '') entries.delete(name);
    else if (text !== undefined) entries.set(name, textString(text.replace(BREAKS, ' ')));
  }
  entries.set('Creator', textString(MAKER)).set('Producer', textString(MAKER));
  return [...entries].map(([name, value]) => `/${name} ${value}`).join('\n');
}

/** The bytes to put behind those of the PDF. Throws when it has no information dictionary. */
export function metadataUpdate(
  { bytes, object, tableAt, trailer }: ChromePdf,
  metadata: PdfMetadata,
): Buffer {
  const number = reference(trailer, 'Info');
  const head = `\n${number} 0 obj\n<<${information(object(number, MAX_READ_BYTES), metadata)}>>\nendobj\n`;
  const entry = `${String(bytes + 1).padStart(10, '0')} 00000 n \n`;
  const table = `xref\n${number} 1\n${entry}trailer\n${trailer.replace(/>>$/, `\n/Prev ${tableAt}>>`)}\n`;
  return Buffer.from(`${head}${table}startxref\n${bytes + head.length}\n%%EOF\n`, 'latin1');
}
