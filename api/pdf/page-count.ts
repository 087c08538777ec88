// How many pages a PDF of Chrome's has: trailer -> catalogue -> page tree -> /Count.
import { type ChromePdf, reference } from './chrome-pdf.ts';

/** Throws when the PDF has no page tree. */
export function pageCount({ object, trailer }: ChromePdf): number {
  const catalogue = object(reference(trailer, 'Root'));
  const count = Number(
    /\/Count\s+(\d+)/.exec(object(reference(catalogue, 'Pages')))?.[1] ?? Number.NaN,
  );
  if (!Number.isInteger(count)) throw new Error("the PDF's page tree was not found");
  return count;
}
