// The answers of the OAuth server while the database is unavailable: 503, Retry-After and a
// message, in the form of RFC 6749 section 5.2.
import type { Log } from '../../../common/log.ts';
import type { Middleware } from '../../http/state.ts';
import { isDatabaseUnavailable, type Store } from '../../store/store.ts';
import { OUTAGE } from '../kit/outage.ts';

const ERROR = 'temporarily_unavailable';
const LINE = 'the database failed a call of the OAuth server';

type Library = typeof import('oidc-provider');
type Run<A extends unknown[], R> = (...given: A) => Promise<R>;

/**
 * Wraps functions that the library calls: when the database is unavailable, they reject with an
 * error that the library sends to the app. The cause is in it. Without a primary for so long that
 * hoping is over, they are not called at all.
 */
export const overDatabase = (
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
        log.warn({ reason: (cause as Error).message }, LINE);
        // Without `allow_redirect` the person is not sent back to the app but can load the page
        // again.
        const status = { status: 503, statusCode: 503, allow_redirect: false };
        throw Object.assign(
          new errors.CustomOIDCProviderError(ERROR, OUTAGE.sentence, { cause }),
          status,
        );
      }
    };
};

/** The same for what fails before the library has the call. */
export const awayAsJson = (log: Log): Middleware => {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      log.warn({ requestId: ctx.state.requestId, reason: (error as Error).message }, LINE);
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
