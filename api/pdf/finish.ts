// From what Chrome printed to what the caller gets: its pieces in one buffer, with metadata, and
// with the watermark when it was asked for. Knows what each of these holds of the memory.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { metadataUpdate } from './metadata.ts';
import { type Budget, type PdfMetadata, type Printed, pdfTooLarge } from './printed.ts';
import type { WatermarkPool } from './watermark/watermark-pool.ts';

/**
 * Times its size that a PDF takes more while the watermark is added: its objects, with bytes of
 * their own, and the new PDF.
 */
const WATERMARKING = 2;

interface Deps {
  watermarks: Pick<WatermarkPool, 'add'>;
  /** The largest PDF, the watermark included. */
  maxBytes: number;
}

/**
 * Copied at one time: a millisecond or two. As a whole, what may be 100 MiB would hold the event
 * loop for fifty.
 */
const COPIED_AT_ONCE = 4 * 2 ** 20;

/** One copy, in memory of its own: a thread takes it away as a whole. */
async function joined(
  parts: Buffer[],
  bytes: number,
  signal: AbortSignal,
): Promise<Buffer<ArrayBuffer>> {
  const whole = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  let turnAt = COPIED_AT_ONCE;
  for (const part of parts) {
    at += part.copy(whole, at);
    if (at < turnAt) continue;
    await othersTurn();
    signal.throwIfAborted();
    turnAt = at + COPIED_AT_ONCE;
  }
  return whole;
}

export class PdfFinisher {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * The finished PDF, which is what is taken of `budget` then; nothing is any more when this has
   * thrown. Throws render_failed (output_limit, internal), the error of `budget` when that is full,
   * or the signal's reason.
   */
  async finish(
    { pdf }: Printed,
    { metadata, sandbox }: { metadata: PdfMetadata; sandbox: boolean },
    accountId: string,
    budget: Budget,
    signal: AbortSignal,
  ): Promise<Buffer> {
    const { watermarks, maxBytes } = this.#deps;
    let taken = pdf.bytes;
    let kept = 0;
    const take = (bytes: number) => {
      if (!budget.take(bytes)) throw budget.overBudget();
      taken += bytes;
    };
    try {
      const update = metadataUpdate(pdf, metadata);
      const bytes = pdf.bytes + update.length;
      take(bytes);
      const whole = await joined([...pdf.pieces, update], bytes, signal);
      pdf.pieces.length = 0;
      budget.give(pdf.bytes);
      taken -= pdf.bytes;
      if (sandbox) take(WATERMARKING * bytes);
      const finished = sandbox ? await watermarks.add(whole, accountId, signal) : whole;
      if (finished.length > maxBytes) throw pdfTooLarge(maxBytes);
      kept = finished.length;
      return finished;
    } finally {
      budget.give(taken - kept);
    }
  }
}
