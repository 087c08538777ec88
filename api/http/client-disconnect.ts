// The client disconnects before its answer is written: the error that ends the work, and the signal
// that carries it.
import type { Context } from './state.ts';

/** The client disconnected: no answer can be sent. */
export class ClientClosed extends Error {
  override name = 'ClientClosed';
}

/**
 * Resolves as `work` does. Its signal aborts with ClientClosed when the client disconnects before
 * the answer is written.
 */
export async function untilClientDisconnects<T>(
  ctx: Context,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const disconnected = new AbortController();
  const onClose = () => ctx.res.writableFinished || disconnected.abort(new ClientClosed());
  ctx.res.once('close', onClose);
  if (ctx.req.socket.destroyed) onClose();
  return work(disconnected.signal);
}
