// Tells a waiting client what a render is at, each second, when it asked to be told. Some clients wait longer while they hear something.
import type { ServerContext } from '@modelcontextprotocol/server';
import type { RenderTrace } from '../../render/render.ts';

const EVERY_MS = 1_000;
/** Each notice repeats the token, and those that a client does not read are held: with megabytes of it, one call would fill the memory. Numbers and UUIDs are usual. */
const MAX_TOKEN_LENGTH = 200;

/** The latest phase that has ended tells the one that goes on. */
function stageOf({ timings, bytes }: Pick<RenderTrace, 'timings' | 'bytes'> = { timings: {} }): string {
  if (bytes !== undefined) return 'Keeping the PDF';
  if (timings.print !== undefined) return 'Finishing the PDF';
  if (timings.load !== undefined) return 'Waiting for the page and printing it';
  if (timings.queue !== undefined) return 'Loading the page';
  if (timings.admit !== undefined) return 'Waiting for a free browser';
  return 'Asking for a place';
}

/** Gives what ends it. `trace` gives the render's, once there is one. Does nothing for a client that gave no token, or one that is longer than anybody's. */
export function reportProgress({ mcpReq }: ServerContext, trace: () => RenderTrace | undefined): () => void {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined || String(progressToken).length > MAX_TOKEN_LENGTH) return () => {};
  const startMs = performance.now();
  const tell = () => {
    const message = stageOf(trace());
    // It must grow with each notice. A client that has gone hears nothing any more, which its hanging up tells better.
    const progress = Math.round(performance.now() - startMs) / 1_000;
    mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => {});
  };
  tell();
  const timer = setInterval(tell, EVERY_MS);
  return () => clearInterval(timer);
}
