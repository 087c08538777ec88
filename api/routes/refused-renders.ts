// Counts the renders that fail on our side before they are any: without memory for their body, or without a database to know their key.
import { ApiError, type RenderFailedReason } from '../contract/errors.ts';
import { ClientClosed, type Middleware } from '../http/state.ts';

/** What the route throws once it has begun to render is counted by the render itself. `failed` gets the reason. */
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
