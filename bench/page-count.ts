// How many pages a PDF of Chrome's has, read cheaply: from the page tree, which Chrome and what
// finishes its PDFs write as plain text.

const COUNT = Buffer.from('/Count ');

/**
 * The root of the tree has the largest count of its nodes; an outline, which has counts too, is
 * asked for by nobody here. 0 when it is no whole PDF.
 */
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
