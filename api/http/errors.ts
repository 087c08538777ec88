// The only map from errors to HTTP answers: the envelope, its status and its headers.

import { ERRORS_GUIDE, errorAnchor } from '../../common/contract/error-guide.ts';
import { ApiError, type ErrorCode, renderFailed } from '../../common/contract/errors.ts';
import type { Log } from '../../common/log.ts';
import { isSmall, lingering, stillSending } from './linger.ts';
import type { Context, Middleware } from './state.ts';

/** The client disconnected: no answer can be sent. */
export class ClientClosed extends Error {
  override name = 'ClientClosed';
}

/**
 * Resolves as `work` does. Its signal aborts with ClientClosed when the client disconnects before
 * the answer is written.
 */
export async function untilClientDisconnects<T>(
  ctx: Context,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const disconnected = new AbortController();
  const onClose = () => ctx.res.writableFinished || disconnected.abort(new ClientClosed());
  ctx.res.once('close', onClose);
  if (ctx.req.socket.destroyed) onClose();
  return work(disconnected.signal);
}

/**
 * The body of every error response (spec §2.7). `reason` comes with render_failed only. `doc_url` is
 * the section of the guide on errors, below `publicUrl`.
 */
export const envelope = (
  { code, message, reason }: ApiError,
  requestId: string,
  publicUrl: string,
): Buffer =>
  Buffer.from(
    JSON.stringify({
      error: {
        code,
        message,
        request_id: requestId,
        ...(reason && { reason }),
        doc_url: `${publicUrl}${ERRORS_GUIDE}#${errorAnchor(code, reason)}`,
      },
    }),
  );

/**
 * Pure. An unexpected error becomes `internal`, on a render endpoint `render_failed` with that
 * reason, since its contract has no 500.
 */
export function asApiError(error: unknown, onRenderRoute: boolean): ApiError {
  if (error instanceof ApiError) return error;
  const sentence =
    'An internal error occurred. Try again. If it happens again, send the request ID to your administrator.';
  return onRenderRoute
    ? renderFailed('internal', sentence, { cause: error })
    : new ApiError('internal', sentence, { cause: error });
}

/**
 * These errors do not depend on the body. When it is small and unread, Node discards it after the
 * response and the connection stays open.
 */
const BODY_INDEPENDENT: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'subscription_inactive',
  'concurrency_limit',
  'rate_limited',
]);

function send(ctx: Context, error: ApiError, publicUrl: string): void {
  const { req } = ctx;
  const answer = envelope(error, ctx.state.requestId, publicUrl);
  ctx.status = error.status;
  ctx.set(error.headers);
  ctx.set('Cache-Control', 'no-store');
  const waitsFor100 = req.headers.expect !== undefined && !ctx.state.continued;
  const unread = ctx.state.reservation === undefined && !waitsFor100;
  const sending =
    stillSending(req) && !(unread && BODY_INDEPENDENT.has(error.code) && isSmall(req));
  // Otherwise the unread body would be parsed as the next request of the connection.
  if (sending) ctx.set('Connection', 'close');
  ctx.body = sending && !waitsFor100 ? lingering(req, answer) : answer;
  ctx.type = 'application/json';
  ctx.length = answer.length;
}

/** `renderPaths`: the paths that return only the specification's codes. */
export const errors = (
  log: Log,
  renderPaths: ReadonlySet<string>,
  publicUrl: string,
): Middleware => {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const { requestId } = ctx.state;
      if (thrown instanceof ClientClosed || ctx.req.socket.destroyed) {
        ctx.state.code = 'client_closed';
        ctx.respond = false;
        ctx.res.destroy();
        return;
      }
      // A render from the dashboard fails like one of the API once it has begun.
      const error = asApiError(thrown, renderPaths.has(ctx.path) || ctx.state.rendering === true);
      ctx.state.code = error.code;
      if (error.reason) ctx.state.reason = error.reason;
      if (error.reason === 'internal' || error.code === 'internal')
        log.error({ err: error.cause ?? error, requestId }, 'unexpected error');
      // Without a cause it was logged where it occurred.
      else if (error.reason === 'database' && error.cause)
        log.warn(
          { requestId, reason: (error.cause as Error).message },
          'the database failed a request',
        );
      send(ctx, error, publicUrl);
    }
  };
};

/**
 * The error for a request that no route accepts. `request` is its method and path, for the message;
 * `matched` are the routes at its path.
 */
export function noRoute(request: string, matched: { methods: string[] }[]): ApiError {
  const allowed = [...new Set(matched.flatMap(route => route.methods))];
  if (allowed.length === 0)
    return new ApiError('not_found', `No such endpoint: ${request}. See /docs.`);
  const Allow = allowed.sort().join(', ');
  return new ApiError('method_not_allowed', `This endpoint accepts ${Allow} only.`, {
    headers: { Allow },
  });
}
