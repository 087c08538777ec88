// Collects the bytes of a request under bounds, whoever reads it and for whatever: nothing is buffered past a limit, and what is given up is left paused.
import type { IncomingMessage } from 'node:http';
import { ClientClosed } from './state.ts';

export interface Bounds {
  /** Sees each piece before it is kept; what it gives ends the reading. */
  take(piece: Buffer): Error | undefined;
  /** For how long nothing may come, and for how long it may take in all; `late` is what that ends with. */
  silent?: { ms: number; late(): Error };
  total: { ms: number; late(): Error };
}

/** Rejects with what a bound gave, or ClientClosed when the other end went away. */
export function collectBytes(request: IncomingMessage, { take, silent, total }: Bounds): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const ofSilence = silent && setTimeout(() => fail(silent.late()), silent.ms);
    const ofAll = setTimeout(() => fail(total.late()), total.ms);

    function over(): void {
      clearTimeout(ofSilence);
      clearTimeout(ofAll);
      request.off('data', onData).off('end', onEnd).off('close', onClose);
    }
    function fail(error: Error): void {
      over();
      request.pause();
      reject(error);
    }
    function onData(piece: Buffer): void {
      ofSilence?.refresh();
      const wrong = take(piece);
      if (wrong) return fail(wrong);
      pieces.push(piece);
    }
    function onEnd(): void {
      over();
      resolve(Buffer.concat(pieces));
    }
    const onClose = () => fail(new ClientClosed());
    request.on('data', onData).once('end', onEnd).once('close', onClose);
  });
}
