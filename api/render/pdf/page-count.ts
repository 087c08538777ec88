// How many pages a PDF of Chrome's has, read from its cross-reference table: trailer -> catalogue -> page tree -> /Count. No parsing of the rest.

const NUMBER = /(\d+)/.source;

/** Throws when the bytes are not a PDF as Chrome writes them (a classic cross-reference table, nothing encrypted). */
export function pageCount(pdf: Buffer): number {
  const tail = pdf.toString('latin1', Math.max(0, pdf.length - 1_024));
  const tableAt = Number(new RegExp(`startxref\\s+${NUMBER}\\s+%%EOF\\s*$`).exec(tail)?.[1] ?? Number.NaN);
  if (pdf.toString('latin1', 0, 5) !== '%PDF-' || !(tableAt < pdf.length)) throw new Error('what Chrome printed is not a whole PDF');
  const table = pdf.toString('latin1', tableAt);
  const first = Number(new RegExp(`^xref\\s+${NUMBER}\\s+\\d+\\s+`).exec(table)?.[1] ?? Number.NaN);
  const entries = table.indexOf('\n', table.indexOf('\n') + 1) + 1;
  const object = (number: number): string => {
    const offset = Number(table.slice(entries + (number - first) * 20, entries + (number - first) * 20 + 10));
    const end = pdf.indexOf('endobj', offset);
    return pdf.toString('latin1', offset, end);
  };
  const reference = (text: string, name: string) => Number(new RegExp(`/${name}\\s+${NUMBER}\\s+0\\s+R`).exec(text)?.[1] ?? Number.NaN);
  const catalogue = object(reference(table.slice(table.indexOf('trailer')), 'Root'));
  const count = Number(new RegExp(`/Count\\s+${NUMBER}`).exec(object(reference(catalogue, 'Pages')))?.[1] ?? Number.NaN);
  if (!Number.isInteger(count)) throw new Error("the PDF's page tree was not found");
  return count;
}
