// Trial admission in this process: rejects calls over a limit that is already known here, before their
// body is read and without the database. trial-leases.ts admits the others across all processes, and
// decides the trial's share of slots.
import { LRUCache } from 'lru-cache';
import { ApiError } from '../../common/contract/errors.ts';
import { TRIAL_WINDOW_MS } from './trial-operations.ts';

/** Open calls in this process per trial slot: most are sending their body or await the database. */
export const OPEN_PER_TRIAL_SLOT = 16;
/** An invalid body is not counted as a call, so bodies have a limit of their own per allowed call. */
const BODIES_PER_CALL = 4;
/**
 * How long the slots are assumed to stay in use, about the time of a render. A flood of calls reads
 * the database once in this time.
 */
const FULL_MS = 500;
/** About 200 bytes each. */
const MAX_CLIENTS = 10_000;

/** Covers both limits: calls are counted per minute, and trial renders are rarely longer. */
const RETRY_AFTER_S = 60;

interface AnonymousClient {
  open: number;
  /** Bodies read since `sinceMs`. */
  read: number;
  sinceMs: number;
  rejectedUntilMs: number;
}

export const tooManyCalls = (perMinute: number) =>
  new ApiError(
    'rate_limited',
    `Trial limit reached: ${perMinute} ${perMinute === 1 ? 'render' : 'renders'} per minute per IP address. Try again in a minute, or use an API key.`,
    { retryAfterS: RETRY_AFTER_S },
  );

export const noTrialSlot = () =>
  new ApiError(
    'rate_limited',
    'All trial slots are in use. Try again in a minute, or use an API key.',
    {
      retryAfterS: RETRY_AFTER_S,
    },
  );

/** `nowMs` is monotonic. */
export function createTrialAdmission(
  { perMinute, parallel }: { perMinute: number; parallel: number },
  nowMs = () => performance.now(),
) {
  const clients = new LRUCache<string, AnonymousClient>({ max: MAX_CLIENTS });
  let open = 0;
  let fullUntilMs = Number.NEGATIVE_INFINITY;
  // Created once: the stack trace would double the cost of a rejection and has no use here.
  const [usedUp, taken] = [tooManyCalls(perMinute), noTrialSlot()];

  function known(name: string): AnonymousClient {
    let client = clients.get(name);
    if (!client) {
      client = { open: 0, read: 0, sinceMs: nowMs(), rejectedUntilMs: Number.NEGATIVE_INFINITY };
      clients.set(name, client);
    }
    if (nowMs() - client.sinceMs >= TRIAL_WINDOW_MS)
      Object.assign(client, { read: 0, sinceMs: nowMs() });
    return client;
  }

  return {
    /** Throws rate_limited. Returns a function that ends the call. */
    enter(name: string): () => void {
      // Clients rejected here are not cached, so that a flood from many addresses evicts no others.
      if (open >= parallel * OPEN_PER_TRIAL_SLOT || nowMs() < fullUntilMs) throw taken;
      const client = known(name);
      if (
        nowMs() < client.rejectedUntilMs ||
        client.open >= perMinute ||
        client.read >= perMinute * BODIES_PER_CALL
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
    /** The client has no calls left for `forMs`. */
    usedUp: (name: string, forMs: number): void => {
      known(name).rejectedUntilMs = nowMs() + forMs;
    },
    /** All trial slots of the installation, across all processes, are in use. */
    full: (): void => {
      fullUntilMs = nowMs() + FULL_MS;
    },
    /** This process has released a trial slot. */
    freed: (): void => {
      fullUntilMs = Number.NEGATIVE_INFINITY;
    },
  };
}
export type TrialAdmission = ReturnType<typeof createTrialAdmission>;
