// The refusals that more than one way in gives, in one wording.
import { ApiError, renderFailed } from '../../common/contract/errors.ts';
import { type AccountState, isDatabaseUnavailable, NoPrimary } from '../store/store.ts';

/**
 * The same for a missing, malformed, unknown, expired and revoked key, and for one used from a
 * wrong address: nobody learns which.
 */
export const unauthorized = () =>
  new ApiError(
    'unauthorized',
    'The API key is missing or not valid. Send it as `Authorization: Bearer <API key>`.',
    {
      headers: { 'WWW-Authenticate': 'Bearer' },
    },
  );

export const subscriptionInactive = (state: AccountState, dashboardUrl: string) =>
  new ApiError(
    'subscription_inactive',
    `The subscription is ${state}. Mend it at ${dashboardUrl}, then send the request again.`,
  );

/** The account has so many requests in this process already. */
export const tooManyRequests = (requests: number, parallel: number) =>
  new ApiError(
    'concurrency_limit',
    `Your account has ${requests} requests in progress, and your plan runs ${parallel} at once. Try again when one has finished.`,
    { retryAfterS: 2, headers: { 'X-Concurrency-Limit': String(parallel) } },
  );

/**
 * An account that holds more than its share of what all callers of this process share. `parallel`:
 * of its plan, where it is known.
 */
export const overShare = (parallel?: number) =>
  new ApiError(
    'concurrency_limit',
    'Your requests hold as much of the service at the moment as one account may. Try again when one has finished.',
    {
      retryAfterS: 2,
      headers: parallel === undefined ? {} : { 'X-Concurrency-Limit': String(parallel) },
    },
  );

const UNREACHABLE = 'The service cannot reach its database at the moment. Try again.';

/**
 * Of a render. An outage comes without its cause: the store's own lines tell of it, and one for
 * each call would bury them.
 */
export const databaseUnreachable = (cause: unknown) =>
  renderFailed('database', UNREACHABLE, {
    retryAfterS: 1,
    ...(!(cause instanceof NoPrimary) && { cause }),
  });

/**
 * Of what is no render: what is to be thrown in place of a failure of the database; any other error
 * as it is.
 */
export const orUnavailable = (error: unknown): unknown =>
  isDatabaseUnavailable(error)
    ? new ApiError('unavailable', UNREACHABLE, { cause: error, retryAfterS: 1 })
    : error;
