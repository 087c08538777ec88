// The id of a request: our own, never the caller's; in the answer's header, in error bodies and in
// every log line.
import { randomUUIDv7 } from 'node:crypto';
import type { Middleware } from './state.ts';

export const requestId: Middleware = async (ctx, next) => {
  ctx.state.requestId = randomUUIDv7();
  ctx.set('X-Request-Id', ctx.state.requestId);
  await next();
};
