// Sends progress notifications of a render each second, if the client requested them. Some clients
// extend their timeout while they receive some.
import type { ServerContext } from '@modelcontextprotocol/server';
import type { RenderTrace } from '../../render/render.ts';

const EVERY_MS = 1_000;
/** Bounds memory: each notification repeats the token, and unread ones are buffered. */
const MAX_TOKEN_LENGTH = 200;

/** The phase after the latest one that has ended. */
function stageOf(
  { timings, bytes }: Pick<RenderTrace, 'timings' | 'bytes'> = { timings: {} },
): string {
  if (bytes !== undefined) return 'Storing the PDF';
  if (timings.print !== undefined) return 'Finishing the PDF';
  if (timings.load !== undefined) return 'Waiting for conditions and printing';
  if (timings.queue !== undefined) return 'Loading the page';
  if (timings.admit !== undefined) return 'Waiting for a free browser';
  return 'Checking plan limits';
}

/**
 * Starts the notifications and returns the function that stops them. `trace` returns the trace of
 * the render once it has started. Does nothing without a token, or with one that is too long.
 */
export function reportProgress(
  { mcpReq }: ServerContext,
  trace: () => RenderTrace | undefined,
): () => void {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined || String(progressToken).length > MAX_TOKEN_LENGTH)
    return () => {};
  const startMs = performance.now();
  const notify = () => {
    const message = stageOf(trace());
    // `progress` must increase. Errors are ignored: the disconnect itself cancels the call.
    const progress = Math.round(performance.now() - startMs) / 1_000;
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
      .catch(() => {});
  };
  notify();
  const timer = setInterval(notify, EVERY_MS);
  return () => clearInterval(timer);
}
