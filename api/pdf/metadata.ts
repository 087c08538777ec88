// The PDF's metadata: its document information dictionary (ISO 32000-1, 14.3.3), appended to
// Chrome's bytes as an incremental update (7.5.6). That costs microseconds; parsing and saving the
// whole PDF costs milliseconds and several times its memory. Chrome writes no XMP packet to keep
// consistent.
import { type ChromePdf, reference } from './chrome-pdf.ts';
import type { PdfMetadata } from './printed.ts';

/** The value of Creator and Producer. */
const MAKER = 'Pressroom';

const KEYS = {
  title: 'Title',
  author: 'Author',
  subject: 'Subject',
  keywords: 'Keywords',
} as const;

/** A name and how the text after it begins; Chrome writes no other kind of value here. */
const ENTRY = /\/(\w+)\s*([(<])/y;
/** The page's title may have any length. A longer one is dropped. */
const MAX_TEXT_LENGTH = 16 * 1_024;
/**
 * Chrome writes the title first. Searching behind a longer one would block the event loop.
 */
const MAX_READ_BYTES = 256 * 1_024;

/** Each run of line breaks and tabs, with the spaces around it, becomes one space. */
const inOneLine = (text: string): string =>
  text.replace(/[\t\n\r ]+/g, run => (/[\t\n\r]/.test(run) ? ' ' : run));

/**
 * A text string (ISO 32000-1, 7.9.2.2): printable ASCII as it is, else UTF-16 with a byte order
 * mark in hexadecimal digits.
 */
export function textString(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return `(${text.replace(/[\\()]/g, '\\$&')})`;
  const units = Buffer.from(`\uFEFF${text.toWellFormed()}`, 'utf16le').swap16();
  return `<${units.toString('hex').toUpperCase()}>`;
}

/** The end of the text whose opening bracket is before `from`. */
function endOfText(written: string, from: number, bracket: string): number {
  if (bracket === '<') return written.indexOf('>', from);
  for (let at = from; at < written.length; at++) {
    if (written[at] === '\\') at++;
    else if (written[at] === ')') return at;
  }
  return -1;
}

/**
 * Chrome's entries in order, without a truncated one. Not a regular expression, whose stack
 * overflows on long texts.
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

/** Chrome's entries, with the caller's metadata, Creator and Producer in their place. */
function information(written: string, metadata: PdfMetadata): string {
  const entries = entriesOf(written);
  for (const [field, name] of Object.entries(KEYS)) {
    const text = metadata[field as keyof PdfMetadata];
    if (text === '') entries.delete(name);
    else if (text !== undefined) entries.set(name, textString(inOneLine(text)));
  }
  entries.set('Creator', textString(MAKER)).set('Producer', textString(MAKER));
  return [...entries].map(([name, value]) => `/${name} ${value}`).join('\n');
}

const MAX_TITLE_LENGTH = 128;

/** The opposite of `textString`, also for the escapes that Chrome writes. */
function decoded(written: string): string {
  const inside = written.slice(1, -1);
  if (written.startsWith('<')) {
    const units = Buffer.from(inside, 'hex');
    return units
      .subarray(0, units.length & ~1)
      .swap16()
      .toString('utf16le')
      .replace('\uFEFF', '');
  }
  return inside.replace(/\\([0-7]{3}|.)/gs, (_, escaped: string) =>
    escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped, 8)) : escaped,
  );
}

/**
 * The title that the PDF will have, for the render log: one line of at most 128 characters.
 * Undefined when there is none.
 */
export function titleOf(
  { object, trailer }: ChromePdf,
  { title }: PdfMetadata,
): string | undefined {
  const written = entriesOf(object(reference(trailer, 'Info'), MAX_READ_BYTES)).get('Title');
  const text = title ?? (written === undefined ? '' : decoded(written));
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.slice(0, MAX_TITLE_LENGTH).toWellFormed() || undefined;
}

/** The bytes to append to the PDF. Throws when it has no information dictionary. */
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
