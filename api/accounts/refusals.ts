// The refusals that more than one way in gives, in one wording.
import { ApiError, renderFailed } from '../contract/errors.ts';
import { type AccountState, isDatabaseUnavailable, NoPrimary } from '../store/store.ts';

/** The same for a missing, malformed, unknown, expired and revoked key, and for one used from a wrong address: nobody learns which. */
export const unauthorized = () =>
  new ApiError('unauthorized', 'The API key is missing or not valid. Send it as `Authorization: Bearer <API key>`.', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });

export const subscriptionInactive = (state: AccountState, dashboardUrl: string) =>
  new ApiError('subscription_inactive', `The subscription is ${state}. Mend it at ${dashboardUrl}, then send the request again.`);

const UNREACHABLE = 'The service cannot reach its database at the moment. Try again.';

/** Of a render. An outage comes without its cause: the store's own lines tell of it, and one for each call would bury them. */
export const databaseUnreachable = (cause: unknown) =>
  renderFailed('database', UNREACHABLE, {
    retryAfterS: 1,
    ...(!(cause instanceof NoPrimary) && { cause }),
  });

/** Of what is no render: what is to be thrown in place of a failure of the database; any other error as it is. */
export const orUnavailable = (error: unknown): unknown =>
  isDatabaseUnavailable(error) ? new ApiError('unavailable', UNREACHABLE, { cause: error, retryAfterS: 1 }) : error;
