// The PDF's metadata: its document information dictionary (ISO 32000-1, 14.3.3) written anew behind Chrome's bytes as an incremental update (7.5.6). That costs
// microseconds, where reading and saving a PDF as a whole costs milliseconds and several times its memory. Chrome writes no XMP packet, so none can disagree with it.
import type { PdfMetadata } from '../plan.ts';
import { type ChromePdf, reference } from './chrome-pdf.ts';

/** Who made the PDF, in the two fields that tell it. */
const MAKER = 'Pressroom';

const KEYS = { title: 'Title', author: 'Author', subject: 'Subject', keywords: 'Keywords' } as const;

/** A name and the text that follows it; Chrome writes no other kind of value here. */
const ENTRY = /\/(\w+)\s*(\((?:\\[\s\S]|[^\\()])*\)|<[0-9A-Fa-f\s]*>)/g;

/** Each run of line breaks and tabs. */
const BREAKS = /[\t\n\r]+/g;

/** A text string (ISO 32000-1, 7.9.2.2): as it is when every PDF reader reads it so, else UTF-16 with a byte order mark, in hexadecimal digits. */
export function textString(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return `(${text.replace(/[\\()]/g, '\\$&')})`;
  const units = Buffer.from(`\uFEFF${text.toWellFormed()}`, 'utf16le').swap16();
  return `<${units.toString('hex').toUpperCase()}>`;
}

/** Chrome's entries, with what the caller gave and who made it in their place. */
function information(written: string, metadata: PdfMetadata): string {
  const entries = new Map([...written.matchAll(ENTRY)].map(([, name, value]) => [name!, value!]));
  for (const [field, name] of Object.entries(KEYS)) {
    const text = metadata[field as keyof PdfMetadata];
    if (text === '') entries.delete(name);
    else if (text !== undefined) entries.set(name, textString(text.replace(BREAKS, ' ')));
  }
  entries.set('Creator', textString(MAKER)).set('Producer', textString(MAKER));
  return [...entries].map(([name, value]) => `/${name} ${value}`).join('\n');
}

/** The bytes to put behind those of the PDF. Throws when it has no information dictionary. */
export function metadataUpdate({ bytes, object, tableAt, trailer }: ChromePdf, metadata: PdfMetadata): Buffer {
  const number = reference(trailer, 'Info');
  const head = `\n${number} 0 obj\n<<${information(object(number), metadata)}>>\nendobj\n`;
  const entry = `${String(bytes + 1).padStart(10, '0')} 00000 n \n`;
  const table = `xref\n${number} 1\n${entry}trailer\n${trailer.replace(/>>$/, `\n/Prev ${tableAt}>>`)}\n`;
  return Buffer.from(`${head}${table}startxref\n${bytes + head.length}\n%%EOF\n`, 'latin1');
}
