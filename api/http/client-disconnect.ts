// Work that ends when nobody waits for its answer any more.
import { ClientClosed, type Context } from './state.ts';

/** Gives what `work` gives. Its signal aborts with ClientClosed when the caller's connection ends before the answer is written. */
export async function whileCallerWaits<T>(ctx: Context, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const hungUp = new AbortController();
  const onClose = () => ctx.res.writableFinished || hungUp.abort(new ClientClosed());
  ctx.res.once('close', onClose);
  if (ctx.req.socket.destroyed) onClose();
  return work(hungUp.signal);
}
