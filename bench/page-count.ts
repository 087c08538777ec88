// Counts the pages of a PDF from its page tree, which Chrome and pdf-lib write as plain text.

const COUNT = Buffer.from('/Count ');

/** The root of the page tree has the largest count. 0 for an invalid or incomplete PDF. */
export function pagesOf(pdf: Buffer): number {
  if (pdf.toString('latin1', 0, 5) !== '%PDF-' || !pdf.subarray(-32).includes('%%EOF')) return 0;
  let most = 0;
  for (let at = pdf.indexOf(COUNT); at >= 0; at = pdf.indexOf(COUNT, at + COUNT.length)) {
    const count = Number.parseInt(
      pdf.toString('latin1', at + COUNT.length, at + COUNT.length + 10),
      10,
    );
    if (count > most) most = count;
  }
  return most;
}
