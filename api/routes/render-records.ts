// Keeps every call of a known caller to the render endpoint in the log of renders, whatever became of it.
import type { RenderLog } from '../history/render-log.ts';
import type { Middleware } from '../http/state.ts';

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
