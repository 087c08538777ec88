// The keys of the OAuth server as this process has them: read at the first use, and again every
// minute, so that new ones need no restart. Owns also when what is made of them is made again.
import { isDatabaseUnavailable } from '../../store/store.ts';
import { keysInUse, type OAuthKey, type OAuthKeys } from './keys.ts';

const READ_EVERY_MS = 60_000;
/** While the database does not answer, only one call in so long waits for it. */
const TRY_AGAIN_MS = 5_000;

interface Deps {
  /** The keys, made when there are none. */
  first(): Promise<OAuthKey[]>;
  /** Undefined when there are none that this process can read. */
  again(): Promise<OAuthKey[] | undefined>;
  now?: () => number;
}

/** Gives those that are in use now. Rejects only as long as none have been read. */
export function createFreshKeys({
  first,
  again,
  now = () => Date.now(),
}: Deps): () => Promise<OAuthKeys> {
  let keys: OAuthKey[] | undefined;
  let readAgainMs = 0;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    try {
      // Others with another PRESSROOM_SECRET are on their way in or out: who replaced them in turn
      // would never come to an end.
      keys = keys ? ((await again()) ?? keys) : await first();
      readAgainMs = now() + READ_EVERY_MS;
    } catch (error) {
      readAgainMs = now() + TRY_AGAIN_MS;
      // What needs the database says itself that it is away, and metadata does not need it.
      if (!keys || !isDatabaseUnavailable(error)) throw error;
    }
  }

  return async () => {
    if (!keys || now() >= readAgainMs) {
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    }
    return keysInUse(keys!, now());
  };
}

/**
 * Gives what `make` made of the keys in use: again when there are others, or when it failed. A call
 * that is under way ends with what it began with.
 */
export function madeOfKeys<T>(
  keysNow: () => Promise<OAuthKeys>,
  make: (keys: OAuthKeys) => Promise<T>,
): () => Promise<T> {
  let current: { of: string; made: Promise<T> } | undefined;

  return async () => {
    const keys = await keysNow();
    const of = keys.cookies.join();
    if (current?.of !== of) current = { of, made: make(keys) };
    const asked = current;
    try {
      return await asked.made;
    } catch (error) {
      if (current === asked) current = undefined;
      throw error;
    }
  };
}
