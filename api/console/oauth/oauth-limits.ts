// How much strangers may ask of the OAuth server from one address: what they ask for is stored, or
// makes us ask elsewhere.
import { subscriberOf } from '../../../common/addresses.ts';
import { ApiError } from '../../../common/contract/errors.ts';
import type { Store } from '../../store/store.ts';
import { createStoredCount } from '../kit/stored-count.ts';
import { createDigest } from '../security/encryption.ts';

const WINDOW_MS = 3600e3;
/**
 * In an hour from one address. Hosted apps register everybody's connection from a few addresses.
 */
const MAX = { registration: 100, authorization: 600, document: 120 };
export type LimitedOperation = keyof typeof MAX;

/** Counts one more; how many seconds to wait when it is too much, else undefined. */
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

export const tooMuch = (retryAfterS: number): ApiError =>
  new ApiError(
    'rate_limited',
    'Too many calls from this address within an hour. Try again later.',
    { retryAfterS },
  );
