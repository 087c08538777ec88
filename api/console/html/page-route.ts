// What all pages with a form share: they reject requests from other sites, and show errors as a page.

import { ApiError } from '../../../common/contract/errors.ts';
import { markup } from '../../../common/contract/markup.ts';
import type { Log } from '../../../common/log.ts';
import { ClientClosed } from '../../http/errors.ts';
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

const unavailable = (cause: unknown) =>
  new ApiError('unavailable', OUTAGE.sentence, { cause, retryAfterS: OUTAGE.retryAfterS });

/** Also as the cause of an error of a library that used the database. */
const isUnavailable = (error: unknown) =>
  isDatabaseUnavailable(error) || (error instanceof Error && isDatabaseUnavailable(error.cause));

/** A body that was not read completely is left to the error handler of the application. */
const isRead = (ctx: Context) => ctx.method !== 'POST' || ctx.req.complete;

const asPage = (log: Log): Middleware => {
  return async (ctx, next) => {
    // Redirects too: they carry cookies.
    ctx.set('Cache-Control', 'no-store');
    try {
      await next();
    } catch (error) {
      if (error instanceof ClientClosed || !isRead(ctx)) throw error;
      const known =
        error instanceof ApiError ? error : isUnavailable(error) ? unavailable(error) : undefined;
      const { requestId } = ctx.state;
      if (known?.code === 'unavailable')
        log.warn({ requestId, reason: (error as Error).message }, 'the database failed a request');
      else if (!known || known.code === 'internal')
        log.error({ err: known?.cause ?? error, requestId }, 'unexpected error');
      ctx.state.code = known?.code ?? 'internal';
      ctx.set(known?.headers ?? {});
      const body = markup`<p class="hint">Request ID: ${requestId}</p><p class="below"><a href="/app">Go to the dashboard</a></p>`;
      const message =
        known?.message ??
        'An internal error occurred. Try again. If it happens again, send the request ID to your administrator.';
      sendPage(ctx, { title: 'Something went wrong', error: message, body }, known?.status ?? 500);
    }
  };
};

/** Returns the error of a rate-limited client, to show it in the form; throws any other error. */
export function asThrottled(ctx: Context, error: unknown): ApiError {
  if (!(error instanceof ApiError) || error.code !== 'rate_limited') throw error;
  ctx.state.code = error.code;
  ctx.set(error.headers);
  return error;
}

/** Returns the function that creates the routes of pages. */
export const pageRoutes =
  ({ publicUrl, log }: { publicUrl: string; log: Log }) =>
  (method: PageRoute['method'], path: string, handle: Middleware): PageRoute => ({
    method,
    path,
    handle: [asPage(log), sameOrigin(publicUrl, { navigation: true }), handle],
  });
