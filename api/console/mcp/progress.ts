// Sends progress notifications of a render each second, when the client asked for them. Some
// clients wait longer while they receive some.
import type { ServerContext } from '@modelcontextprotocol/server';
import type { RenderTrace } from '../../render/render.ts';

const EVERY_MS = 1_000;
/**
 * Each notification repeats the token, and unread ones stay in memory. Numbers and UUIDs are usual.
 */
const MAX_TOKEN_LENGTH = 200;

/** The phase after the latest one that has ended. */
function stageOf(
  { timings, bytes }: Pick<RenderTrace, 'timings' | 'bytes'> = { timings: {} },
): string {
  if (bytes !== undefined) return 'Keeping the PDF';
  if (timings.print !== undefined) return 'Finishing the PDF';
  if (timings.load !== undefined) return 'Waiting for the page and printing it';
  if (timings.queue !== undefined) return 'Loading the page';
  if (timings.admit !== undefined) return 'Waiting for a free browser';
  return 'Asking for a place';
}

/**
 * Returns the function that stops it. `trace` returns the render's, once there is one. Does nothing
 * without a token, or with one that is too long.
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
    // `progress` must grow. A client that has gone is noticed by its disconnect.
    const progress = Math.round(performance.now() - startMs) / 1_000;
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
      .catch(() => {});
  };
  notify();
  const timer = setInterval(notify, EVERY_MS);
  return () => clearInterval(timer);
}
