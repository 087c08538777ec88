// Stub for the watermark in a worker thread. The first byte of the "PDF" selects a fault.

/** The available faults. */
export const FAULTS = { echo: 0, throws: 1, exits: 2, hangs: 3, swells: 4 } as const;

export function addWatermarkInThread(pdf: Uint8Array): Uint8Array {
  const [fault] = pdf;
  if (fault === FAULTS.throws) throw new Error('requested fault');
  if (fault === FAULTS.exits) process.exit(7);
  while (fault === FAULTS.hangs);
  if (fault === FAULTS.swells)
    for (const held: number[][] = []; ; ) held.push(new Array(100_000).fill(Math.random()));
  return pdf;
}
