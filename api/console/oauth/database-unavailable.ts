// The responses of the OAuth server while the database is unavailable: 503 with Retry-After and an
// error in the format of RFC 6749 section 5.2.
import type { Log } from '../../../common/log.ts';
import type { Middleware } from '../../http/state.ts';
import { isDatabaseUnavailable, type Store } from '../../store/store.ts';
import { OUTAGE } from '../kit/outage.ts';

const ERROR = 'temporarily_unavailable';
const LOG_MESSAGE = 'a request to the OAuth server failed: the database is unavailable';

type Library = typeof import('oidc-provider');
type Run<A extends unknown[], R> = (...given: A) => Promise<R>;

export type DatabaseGuard = ReturnType<typeof databaseGuard>;

/**
 * Wraps functions that the library calls: while the database is unavailable they reject with an
 * error that the library sends to the app. After a long time without a primary the functions are
 * not called at all.
 */
export const databaseGuard = (
  { errors }: Library,
  { primary }: Pick<Store, 'primary'>,
  log: Log,
) => {
  return <A extends unknown[], R>(run: Run<A, R>): Run<A, R> =>
    async (...given) => {
      try {
        primary.throwIfMissing();
        return await run(...given);
      } catch (cause) {
        if (!isDatabaseUnavailable(cause)) throw cause;
        log.warn({ reason: (cause as Error).message }, LOG_MESSAGE);
        // No redirect to the app: the person can reload the page.
        const status = { status: 503, statusCode: 503, allow_redirect: false };
        throw Object.assign(
          new errors.CustomOIDCProviderError(ERROR, OUTAGE.sentence, { cause }),
          status,
        );
      }
    };
};

/** The same for errors before the library handles the call. */
export const databaseErrorAsJson = (log: Log): Middleware => {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      log.warn({ requestId: ctx.state.requestId, reason: (error as Error).message }, LOG_MESSAGE);
      ctx.state.code = 'unavailable';
      ctx.status = 503;
      ctx.set({
        'Retry-After': String(OUTAGE.retryAfterS),
        'Cache-Control': 'no-store',
        'Access-Control-Allow-Origin': '*',
      });
      ctx.body = { error: ERROR, error_description: OUTAGE.sentence };
    }
  };
};
