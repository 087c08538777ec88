// The refusals that both the bearer check and the admission give, in one wording.
import { ApiError, renderFailed } from '../contract/errors.ts';
import { type AccountState, NoPrimary } from '../store/store.ts';

/** The same for a missing, malformed, unknown, expired and revoked key, and for one used from a wrong address: nobody learns which. */
export const unauthorized = () =>
  new ApiError('unauthorized', 'The API key is missing or not valid. Send it as `Authorization: Bearer <API key>`.', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });

export const subscriptionInactive = (state: AccountState, dashboardUrl: string) =>
  new ApiError('subscription_inactive', `The subscription is ${state}. Mend it at ${dashboardUrl}, then send the request again.`);

/** An outage comes without its cause: the store's own lines tell of it, and one for each call would bury them. */
export const databaseUnreachable = (cause: unknown) =>
  renderFailed('database', 'The service cannot reach its database at the moment. Try again.', {
    retryAfterS: 1,
    ...(!(cause instanceof NoPrimary) && { cause }),
  });
