// A PDF as Chrome writes it, read without being parsed: its pieces as they came, its
// cross-reference table, and single objects through it.

const NUMBER = /(\d+)/.source;
const CHUNK_BYTES = 4_096;
/** The end of the file names the position of the table; readers search 1 KiB for it. */
const TAIL_BYTES = 1_024;
const ENTRY_BYTES = 20;

export interface ChromePdf {
  /** Emptied when they are joined, so that they are not held twice. */
  readonly pieces: Buffer[];
  readonly bytes: number;
  /** Where the cross-reference table begins. */
  readonly tableAt: number;
  /** The dictionary at the table's end, with its brackets. */
  readonly trailer: string;
  /**
   * The text of an object, from its number to before `endobj`; of a longer one its first
   * `maxBytes`.
   */
  object(number: number, maxBytes?: number): string;
}

/** The number of the object that `/name` refers to in a dictionary's text; NaN when it has none. */
export const reference = (text: string, name: string): number =>
  Number(new RegExp(`/${name}\\s+${NUMBER}\\s+0\\s+R`).exec(text)?.[1] ?? Number.NaN);

/** `from` and `to` count through all pieces; bytes become characters one by one. */
function textOf(pieces: readonly Buffer[], from: number, to: number): string {
  let text = '';
  let start = 0;
  for (const piece of pieces) {
    if (start < to && start + piece.length > from)
      text += piece.toString('latin1', Math.max(0, from - start), to - start);
    start += piece.length;
  }
  return text;
}

/**
 * Throws when the bytes are not a PDF as Chrome writes them (one classic cross-reference table,
 * nothing encrypted).
 */
export function readChromePdf(pieces: Buffer[]): ChromePdf {
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  const tail = textOf(pieces, bytes - TAIL_BYTES, bytes);
  const tableAt = Number(
    new RegExp(`startxref\\s+${NUMBER}\\s+%%EOF\\s*$`).exec(tail)?.[1] ?? Number.NaN,
  );
  if (textOf(pieces, 0, 5) !== '%PDF-' || !(tableAt < bytes))
    throw new Error('the PDF from Chrome is incomplete');
  const table = textOf(pieces, tableAt, bytes);
  const first = Number(new RegExp(`^xref\\s+${NUMBER}\\s+\\d+\\s+`).exec(table)?.[1] ?? Number.NaN);
  const entries = table.indexOf('\n', table.indexOf('\n') + 1) + 1;
  const trailer = /trailer\s*(<<[\s\S]*>>)\s*startxref/.exec(table)?.[1] ?? '';

  function object(number: number, maxBytes = Number.POSITIVE_INFINITY): string {
    const entry = entries + (number - first) * ENTRY_BYTES;
    const from = Number(table.slice(entry, entry + 10));
    for (let size = CHUNK_BYTES; ; size = Math.min(size * 2, maxBytes)) {
      const text = textOf(pieces, from, from + size);
      const end = text.indexOf('\nendobj'); // on a line of its own: a title may have the word in it
      if (end >= 0) return text.slice(0, end);
      if (size >= maxBytes) return text;
      if (!(from + size < bytes)) throw new Error(`object ${number} of the PDF was not found`);
    }
  }

  return { pieces, bytes, tableAt, trailer, object };
}

/** Throws when the PDF has no page tree. */
export function pageCount({ object, trailer }: ChromePdf): number {
  const catalogue = object(reference(trailer, 'Root'));
  const count = Number(
    /\/Count\s+(\d+)/.exec(object(reference(catalogue, 'Pages')))?.[1] ?? Number.NaN,
  );
  if (!Number.isInteger(count)) throw new Error("the PDF's page tree was not found");
  return count;
}

/** The longest side of all pages, in inches. */
export function longestSideIn({ object, trailer }: ChromePdf): number {
  const nodes = [reference(object(reference(trailer, 'Root')), 'Pages')];
  let longestPt = 0;
  for (let number = nodes.pop(); number !== undefined; number = nodes.pop()) {
    const text = object(number);
    const kids = /\/Kids\s*\[([^\]]*)\]/.exec(text)?.[1] ?? '';
    for (const [, kid] of kids.matchAll(/(\d+)\s+0\s+R/g)) nodes.push(Number(kid));
    const box = /\/MediaBox\s*\[([^\]]*)\]/.exec(text)?.[1] ?? '';
    longestPt = Math.max(longestPt, ...box.trim().split(/\s+/).map(Number).slice(2));
  }
  return longestPt / 72;
}
