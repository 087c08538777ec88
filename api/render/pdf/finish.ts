// From what Chrome printed to what the caller gets: its pieces in one buffer, with metadata, and with the watermark when it was asked for.
// Knows what each of these holds of the memory.
import type { Plan } from '../plan.ts';
import { noRoom, type Printed, type Room, tooLarge } from '../print.ts';
import { metadataUpdate } from './metadata.ts';
import type { Stamps } from './stamps.ts';

/** Times its size that a PDF takes more while it is stamped: its objects, with bytes of their own, and the new PDF. */
const STAMPING = 2;

interface Deps {
  stamps: Stamps;
  /** The largest PDF, the watermark included. */
  maxBytes: number;
}

/**
 * The finished PDF, which is what is taken of `room` then; nothing is any more when this has thrown.
 * Throws render_failed (output_limit, overloaded, internal), or the signal's reason.
 */
export type Finish = (printed: Printed, plan: Pick<Plan, 'metadata' | 'sandbox'>, room: Room, signal: AbortSignal) => Promise<Buffer>;

/** One copy of what may be 100 MiB. In memory of its own: a thread takes it away as a whole. */
function joined(parts: Buffer[], bytes: number): Buffer<ArrayBuffer> {
  const whole = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (const part of parts) at += part.copy(whole, at);
  return whole;
}

export const createFinish =
  ({ stamps, maxBytes }: Deps): Finish =>
  async ({ pdf }, { metadata, sandbox }, room, signal) => {
    let taken = pdf.bytes;
    let kept = 0;
    const take = (bytes: number) => {
      if (!room.take(bytes)) throw noRoom();
      taken += bytes;
    };
    try {
      const update = metadataUpdate(pdf, metadata);
      const bytes = pdf.bytes + update.length;
      take(bytes);
      const whole = joined([...pdf.pieces, update], bytes);
      pdf.pieces.length = 0;
      room.give(pdf.bytes);
      taken -= pdf.bytes;
      if (sandbox) take(STAMPING * bytes);
      const finished = sandbox ? await stamps.stamp(whole, signal) : whole;
      if (finished.length > maxBytes) throw tooLarge(maxBytes);
      kept = finished.length;
      return finished;
    } finally {
      room.give(taken - kept);
    }
  };
