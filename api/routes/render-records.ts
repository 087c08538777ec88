// Middleware of the render routes: counts the calls that are refused before they are renders, and
// keeps every call of a known caller in the log of renders.
import { ApiError, type RenderFailedReason } from '../../common/contract/errors.ts';
import type { RenderLog } from '../history/render-log.ts';
import { ClientClosed } from '../http/client-disconnect.ts';
import type { Middleware } from '../http/state.ts';

/**
 * What the route throws once it has begun to render is counted by the render itself. `failed` gets
 * the reason.
 */
export const countRefused = (failed: (reason: RenderFailedReason) => void): Middleware => {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const callerLeft = error instanceof ClientClosed || ctx.req.socket.destroyed;
      if (!ctx.state.rendering && !callerLeft) {
        const reason = error instanceof ApiError ? error.reason : 'internal';
        if (reason) failed(reason);
      }
      throw error;
    }
  };
};

export const logRenders = (renders: RenderLog): Middleware => {
  return async (ctx, next) => {
    await renders.logged(ctx.state.requestId, 'api', async entry => {
      ctx.state.entry = entry;
      try {
        await next();
      } finally {
        const { accepted } = ctx.state;
        if (accepted) entry.who = { account: accepted.accountId, key: accepted.keyId };
      }
    });
  };
};
