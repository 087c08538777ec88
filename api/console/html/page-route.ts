// What every page of a form shares: it takes no post of another site, and says what went wrong as a
// page.

import { ApiError } from '../../../common/contract/errors.ts';
import { markup } from '../../../common/contract/markup.ts';
import type { Log } from '../../../common/log.ts';
import { ClientClosed } from '../../http/client-disconnect.ts';
import type { Context, Middleware } from '../../http/state.ts';
import { isDatabaseUnavailable } from '../../store/store.ts';
import { OUTAGE } from '../kit/outage.ts';
import { sameOrigin } from '../kit/same-origin.ts';
import { sendPage } from './page.ts';

export interface PageRoute {
  method: 'get' | 'post';
  path: string;
  handle: Middleware[];
}

const away = (cause: unknown) =>
  new ApiError('unavailable', OUTAGE.sentence, { cause, retryAfterS: OUTAGE.retryAfterS });

/** Also behind an error of a library that asked it for us. */
const isAway = (error: unknown) =>
  isDatabaseUnavailable(error) || (error instanceof Error && isDatabaseUnavailable(error.cause));

/** A body that was not read to its end needs the care that the application's own errors take. */
const isRead = (ctx: Context) => ctx.method !== 'POST' || ctx.req.complete;

const asPage = (log: Log): Middleware => {
  return async (ctx, next) => {
    // Also of what only leads on: cookies go with it.
    ctx.set('Cache-Control', 'no-store');
    try {
      await next();
    } catch (error) {
      if (error instanceof ClientClosed || !isRead(ctx)) throw error;
      const known = error instanceof ApiError ? error : isAway(error) ? away(error) : undefined;
      const { requestId } = ctx.state;
      if (known?.code === 'unavailable')
        log.warn({ requestId, reason: (error as Error).message }, 'the database failed a request');
      else if (!known || known.code === 'internal')
        log.error({ err: known?.cause ?? error, requestId }, 'unexpected error');
      ctx.state.code = known?.code ?? 'internal';
      ctx.set(known?.headers ?? {});
      const body = markup`<p class="hint">Request ${requestId}</p><p class="below"><a href="/app">To the dashboard</a></p>`;
      const message =
        known?.message ??
        'Something went wrong on our side. Try again; if it happens again, report the request id.';
      sendPage(ctx, { title: 'This did not work', error: message, body }, known?.status ?? 500);
    }
  };
};

/**
 * The error of a client that is rate-limited, to be shown in its form; throws every other error.
 */
export function asThrottled(ctx: Context, error: unknown): ApiError {
  if (!(error instanceof ApiError) || error.code !== 'rate_limited') throw error;
  ctx.state.code = error.code;
  ctx.set(error.headers);
  return error;
}

/** Makes routes of pages. */
export const pageRoutes =
  ({ publicUrl, log }: { publicUrl: string; log: Log }) =>
  (method: PageRoute['method'], path: string, handle: Middleware): PageRoute => ({
    method,
    path,
    handle: [asPage(log), sameOrigin(publicUrl, { navigation: true }), handle],
  });
