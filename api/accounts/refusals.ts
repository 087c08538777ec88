// The two refusals that both the bearer check and the admission give, in one wording.
import { ApiError } from '../contract/errors.ts';
import type { AccountState } from '../store/store.ts';

/** The same for a missing, malformed, unknown, expired and revoked key, and for one used from a wrong address: nobody learns which. */
export const unauthorized = () =>
  new ApiError('unauthorized', 'The API key is missing or not valid. Send it as `Authorization: Bearer <API key>`.', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });

export const subscriptionInactive = (state: AccountState, dashboardUrl: string) =>
  new ApiError('subscription_inactive', `The subscription is ${state}. Mend it at ${dashboardUrl}, then send the request again.`);
