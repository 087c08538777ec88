// How much strangers may ask of the OAuth server from one address: what they ask for is stored, or makes us ask elsewhere.
import { subscriberOf } from '../../../common/addresses.ts';
import { ApiError } from '../../contract/errors.ts';
import { isDuplicate, type Store } from '../../store/store.ts';
import { createDigest } from '../people/seal.ts';

const WINDOW_MS = 3600e3;
/** In an hour from one address. Hosted apps register everybody's connection from a few addresses. */
const MAX = { registration: 100, authorization: 600, document: 120 };
export type Counted = keyof typeof MAX;

/** Counts one more; how many seconds to wait when it is too much, else undefined. */
export type OAuthLimits = (what: Counted, ip: string) => Promise<number | undefined>;

export function createOAuthLimits(store: Store, secret: string, now = () => Date.now()): OAuthLimits {
  const digest = createDigest(secret, 'oauth limits');
  const { signInLimits } = store.console;

  async function count(_id: string): Promise<number> {
    const at = new Date(now());
    const runs = { $gt: ['$expires', at] };
    const pipeline = [
      {
        $set: {
          count: { $cond: [runs, { $add: ['$count', 1] }, 1] },
          expires: { $cond: [runs, '$expires', new Date(at.getTime() + WINDOW_MS)] },
        },
      },
    ];
    const run = () =>
      store.limited(signInLimits.findOneAndUpdate({ _id }, pipeline, { upsert: true, returnDocument: 'after', ...store.limits }));
    const counted = await run().catch(error => {
      // Two first calls at the same moment: the other one made the document.
      if (isDuplicate(error)) return run();
      throw error;
    });
    return counted!.count;
  }

  return async (what, ip) => {
    // An address that is none (a pipe in front of us) counts as one.
    const counted = await count(digest(what, subscriberOf(ip) ?? ip));
    return counted > MAX[what] ? WINDOW_MS / 1_000 : undefined;
  };
}

export const tooMuch = (retryAfterS: number): ApiError =>
  new ApiError('rate_limited', 'Too many calls from this address within an hour. Try again later.', { retryAfterS });
