// Stands in for the watermark in its thread: does what the first byte of the "PDF" says, so that
// tests see threads break.

/** What can be asked for. */
export const ODD = { echo: 0, throws: 1, exits: 2, hangs: 3, swells: 4 } as const;

export default function oddStamp(pdf: Uint8Array): Uint8Array {
  const [asked] = pdf;
  if (asked === ODD.throws) throw new Error('as asked');
  if (asked === ODD.exits) process.exit(7);
  while (asked === ODD.hangs);
  if (asked === ODD.swells)
    for (const held: number[][] = []; ; ) held.push(new Array(100_000).fill(Math.random()));
  return pdf;
}
