// One log line and one count a request. What it may say is the closed list below: never a query, a
// header, a body, a key or a message made of them.
import { z } from 'zod';
import { RENDER_FAILED_REASONS, STATUS } from '../../common/contract/errors.ts';
import type { Log } from '../../common/log.ts';
import type { CountRequest } from './http-metrics.ts';
import { isLinkPath, LINK_PATH, LINK_ROUTE } from './link-path.ts';
import type { Middleware } from './state.ts';

/**
 * Unknown fields are dropped, fields that do not fit make no line at all: what is logged is a
 * schema, not a habit.
 */
const accessLine = z.object({
  requestId: z.uuid(),
  method: z.string().max(20),
  path: z.string().max(130),
  status: z.int(),
  /** The error's code, or `client_closed`. */
  code: z.enum([...(Object.keys(STATUS) as (keyof typeof STATUS)[]), 'client_closed']).optional(),
  reason: z.enum(RENDER_FAILED_REASONS).optional(),
  ms: z.number(),
  /** Of the request's body. */
  bodyBytes: z.int().optional(),
  /** Of the answer's. */
  bytes: z.int().optional(),
  accountId: z.string().length(10).optional(),
});

/** Probes come every second and say nothing when they are well. */
const QUIET = new Set(['/healthz', '/readyz']);

/**
 * The path without its query, bounded, without the token of a link, and without a key that somebody
 * put into it by mistake.
 */
export const loggedPath = (path: string): string =>
  isLinkPath(path)
    ? `${LINK_PATH}/…`
    : path.replace(/pressroom_live_[^/]*/g, 'pressroom_live_…').slice(0, 128);

/** All links are one route. */
const countedPath = (path: string): string => (isLinkPath(path) ? LINK_ROUTE : path);

export const accessLog = (log: Log, count: CountRequest): Middleware => {
  return async (ctx, next) => {
    const startMs = performance.now();
    const { method, path } = ctx;
    // Only the end of the connection's part in it tells whether the answer went out.
    ctx.res.once('close', () => {
      const { requestId, code, reason, bodyBytes, accepted, access } = ctx.state;
      const left = !ctx.res.writableFinished;
      count(
        countedPath(path),
        left
          ? 'client_closed'
          : (reason ?? code ?? (ctx.res.statusCode < 400 ? 'ok' : 'unavailable')),
      );
      const line = accessLine.safeParse({
        requestId,
        method,
        path: loggedPath(path),
        status: ctx.res.statusCode,
        code: left ? 'client_closed' : code,
        reason,
        ms: Math.round((performance.now() - startMs) * 10) / 10,
        bodyBytes,
        bytes: left ? undefined : ctx.response.length,
        accountId: accepted?.accountId ?? access?.account,
      });
      if (line.data)
        log[QUIET.has(path) && ctx.status === 200 ? 'debug' : 'info'](line.data, 'request');
      else
        log.error(
          { requestId, fields: line.error.issues.map(issue => issue.path.join('.')) },
          'an access line does not fit its schema',
        );
    });
    await next();
  };
};
