// Stands in for the watermark in its thread: does what the first byte of the "PDF" says, so that
// tests see threads break.

/** What can be asked for. */
export const FAULTS = { echo: 0, throws: 1, exits: 2, hangs: 3, swells: 4 } as const;

export default function faultyStamp(pdf: Uint8Array): Uint8Array {
  const [asked] = pdf;
  if (asked === FAULTS.throws) throw new Error('as asked');
  if (asked === FAULTS.exits) process.exit(7);
  while (asked === FAULTS.hangs);
  if (asked === FAULTS.swells)
    for (const held: number[][] = []; ; ) held.push(new Array(100_000).fill(Math.random()));
  return pdf;
}
