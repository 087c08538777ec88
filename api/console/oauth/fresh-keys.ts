// The OAuth server's keys in this process: read at the first use and then every minute, so that a
// rotation needs no restart. Also rebuilds what depends on them.
import { isDatabaseUnavailable } from '../../store/store.ts';
import { keysInUse, type OAuthKey, type OAuthKeys } from './keys.ts';

const READ_EVERY_MS = 60_000;
/** While the database is unavailable, only one call waits for it in this time. */
const TRY_AGAIN_MS = 5_000;

interface Deps {
  /** Reads the keys, or creates them. */
  first(): Promise<OAuthKey[]>;
  /** Reads the keys; undefined when this process cannot decrypt them. */
  again(): Promise<OAuthKey[] | undefined>;
  now?: () => number;
}

/** Returns the keys that are in use now. Rejects only while none have been read. */
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
      // Keys of another PRESSROOM_SECRET are not replaced: during a rollout, two sets of processes
      // would replace each other's keys forever.
      keys = keys ? ((await again()) ?? keys) : await first();
      readAgainMs = now() + READ_EVERY_MS;
    } catch (error) {
      readAgainMs = now() + TRY_AGAIN_MS;
      // Calls that need the database report the outage themselves; metadata does not need it.
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
 * Returns what `build` created for the keys in use, and builds again after a rotation or a failure.
 * A running call finishes with the keys it started with.
 */
export function rebuiltForKeys<T>(
  currentKeys: () => Promise<OAuthKeys>,
  build: (keys: OAuthKeys) => Promise<T>,
): () => Promise<T> {
  let current: { id: string; built: Promise<T> } | undefined;

  return async () => {
    const keys = await currentKeys();
    const id = keys.cookies.join();
    if (current?.id !== id) current = { id, built: build(keys) };
    const used = current;
    try {
      return await used.built;
    } catch (error) {
      if (current === used) current = undefined;
      throw error;
    }
  };
}
