// Trial admission: rejects trial calls over a limit that this process already knows of, before
// their body is read and without the database. What it admits is still counted over all processes.
import { LRUCache } from 'lru-cache';
import { ApiError } from '../../common/contract/errors.ts';
import { TRIAL_WINDOW_MS } from './trial-operations.ts';

export interface TrialAdmission {
  /** Throws rate_limited. Returns the function to call when the call has ended. */
  enter(client: string): () => void;
  /** The client's calls are used up for so long. */
  usedUp(client: string, forMs: number): void;
  /** All trial slots of the installation were taken a moment ago, by other processes too. */
  full(): void;
  /** One of this process's trial slots is free again. */
  freed(): void;
}

/**
 * Calls in this process at once, for each trial slot of the installation: most of them send their
 * body, or wait for the database.
 */
export const OPEN_PER_TRIAL_SLOT = 16;
/**
 * An invalid body uses up no call, but costs the work of reading it: a client may send so many
 * bodies for each of its calls.
 */
const READ_FOR_EACH_CALL = 4;
/**
 * How long the slots are taken to be still in use: a flood then asks the database once in this
 * time. Renders take about as long.
 */
const FULL_MS = 500;
/** About 200 bytes each. */
const MAX_CLIENTS = 10_000;

/** Enough for both limits: calls are a minute's, and a trial render is rarely as long. */
const RETRY_AFTER_S = 60;

interface AnonymousClient {
  open: number;
  /** Bodies since `sinceMs`. */
  read: number;
  sinceMs: number;
  refusedUntilMs: number;
}

export const tooManyCalls = (perMinute: number) =>
  new ApiError(
    'rate_limited',
    `One address has ${perMinute} trial ${perMinute === 1 ? 'call' : 'calls'} a minute, and yours are used up. Try again in a minute, or use an API key.`,
    { retryAfterS: RETRY_AFTER_S },
  );

export const noTrialSlot = () =>
  new ApiError(
    'rate_limited',
    'The few trial renders that this service runs at once are running. Try again in a minute, or use an API key.',
    {
      retryAfterS: RETRY_AFTER_S,
    },
  );

/** `nowMs` is monotonic. */
export function createTrialAdmission(
  { perMinute, parallel }: { perMinute: number; parallel: number },
  nowMs = () => performance.now(),
): TrialAdmission {
  const clients = new LRUCache<string, AnonymousClient>({ max: MAX_CLIENTS });
  let open = 0;
  let fullUntilMs = Number.NEGATIVE_INFINITY;
  // Made once: the stack of an error costs as much as the rest of a refusal, and says nothing here.
  const [usedUp, taken] = [tooManyCalls(perMinute), noTrialSlot()];

  function known(name: string): AnonymousClient {
    let client = clients.get(name);
    if (!client) {
      client = { open: 0, read: 0, sinceMs: nowMs(), refusedUntilMs: Number.NEGATIVE_INFINITY };
      clients.set(name, client);
    }
    if (nowMs() - client.sinceMs >= TRIAL_WINDOW_MS)
      Object.assign(client, { read: 0, sinceMs: nowMs() });
    return client;
  }

  return {
    enter(name) {
      // Clients that are rejected here are not cached: a flood from many addresses would evict the
      // others.
      if (open >= parallel * OPEN_PER_TRIAL_SLOT || nowMs() < fullUntilMs) throw taken;
      const client = known(name);
      if (
        nowMs() < client.refusedUntilMs ||
        client.open >= perMinute ||
        client.read >= perMinute * READ_FOR_EACH_CALL
      )
        throw usedUp;
      open += 1;
      client.open += 1;
      client.read += 1;
      return () => {
        open -= 1;
        client.open -= 1;
      };
    },
    usedUp: (name, forMs) => {
      known(name).refusedUntilMs = nowMs() + forMs;
    },
    full: () => {
      fullUntilMs = nowMs() + FULL_MS;
    },
    freed: () => {
      fullUntilMs = Number.NEGATIVE_INFINITY;
    },
  };
}
