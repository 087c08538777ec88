// Finishes a PDF: joins Chrome's pieces, adds the metadata and, for a sandbox render, the
// watermark. Owns how much memory each of these takes.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { metadataUpdate } from './metadata.ts';
import { type Budget, type PdfMetadata, type Printed, pdfTooLarge } from './printed.ts';
import type { WatermarkPool } from './watermark/watermark-pool.ts';

/**
 * Extra memory while the watermark is added, as a multiple of the PDF's size: its parsed objects
 * and the new PDF.
 */
const WATERMARKING = 2;

interface Deps {
  watermarks: Pick<WatermarkPool, 'add'>;
  /** The largest PDF, the watermark included. */
  maxBytes: number;
}

/**
 * Bytes copied at once, in one or two milliseconds; 100 MiB would block the event loop for fifty.
 */
const COPIED_AT_ONCE = 4 * 2 ** 20;

/** One copy in a separate buffer, which can be transferred to a thread. */
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
   * Returns the finished PDF, whose size is then reserved from `budget`; after an error nothing is.
   * Throws render_failed (output_limit, internal), the error of `budget` when that is full, or the
   * signal's reason.
   */
  async finish(
    { pdf }: Printed,
    { metadata, sandbox }: { metadata: PdfMetadata; sandbox: boolean },
    accountId: string,
    budget: Budget,
    signal: AbortSignal,
  ): Promise<Buffer> {
    const { watermarks, maxBytes } = this.#deps;
    let reserved = pdf.bytes;
    let kept = 0;
    const reserve = (bytes: number) => {
      if (!budget.reserve(bytes)) throw budget.overBudget();
      reserved += bytes;
    };
    try {
      const update = metadataUpdate(pdf, metadata);
      const bytes = pdf.bytes + update.length;
      reserve(bytes);
      const whole = await joined([...pdf.pieces, update], bytes, signal);
      pdf.pieces.length = 0;
      budget.release(pdf.bytes);
      reserved -= pdf.bytes;
      if (sandbox) reserve(WATERMARKING * bytes);
      const finished = sandbox ? await watermarks.add(whole, accountId, signal) : whole;
      if (finished.length > maxBytes) throw pdfTooLarge(maxBytes);
      kept = finished.length;
      return finished;
    } finally {
      budget.release(reserved - kept);
    }
  }
}
