// Rate limits of anonymous clients at the OAuth server, by address: their calls store data or make
// the API fetch documents.
import { subscriberOf } from '../../../common/addresses.ts';
import { ApiError } from '../../../common/contract/errors.ts';
import { createDigest } from '../../../common/encryption.ts';
import type { Store } from '../../store/store.ts';
import { createStoredCount } from '../kit/stored-count.ts';

const WINDOW_MS = 3600e3;
/** Per address and hour. Hosted apps register the connections of all users from few addresses. */
const MAX = { registration: 100, authorization: 600, document: 120 };
export type LimitedOperation = keyof typeof MAX;

/** Counts one call. Returns the seconds to wait when it exceeds the limit. */
export type OAuthLimits = (what: LimitedOperation, ip: string) => Promise<number | undefined>;

export function createOAuthLimits(
  store: Store,
  secret: string,
  now = () => Date.now(),
): OAuthLimits {
  const digest = createDigest(secret, 'oauth limits');
  const count = createStoredCount(store, now);

  return async (what, ip) => {
    const waitMs = await count.within(digest(what, subscriberOf(ip)), {
      max: MAX[what],
      windowMs: WINDOW_MS,
    });
    return waitMs > 0 ? Math.ceil(waitMs / 1_000) : undefined;
  };
}

export const tooManyOauthCalls = (retryAfterS: number): ApiError =>
  new ApiError(
    'rate_limited',
    'Too many requests from this IP address in the last hour. Try again later.',
    { retryAfterS },
  );
