// Decides whether a trial call is worth reading, by what this process remembers of others: whoever is over a limit is refused before the body, and without the database.
// What it lets in is still counted over all processes.
import { LRUCache } from 'lru-cache';
import { ApiError } from '../../common/contract/errors.ts';
import { TRIAL_WINDOW_MS } from './trial-operations.ts';

export interface TrialAdmission {
  /** Throws rate_limited. Gives what is to be called when there is nothing more to do for the call. */
  enter(visitor: string): () => void;
  /** The visitor's calls are used up for so long. */
  usedUp(visitor: string, forMs: number): void;
  /** All places of the installation were taken a moment ago, by other processes too. */
  full(): void;
  /** One of this process's places is free again. */
  freed(): void;
}

/** Calls in this process at once, for each place of the installation: most of them send their body, or wait for the database's word. */
export const OPEN_PER_TRIAL_SLOT = 16;
/** An invalid body uses up no call, but costs the work of reading it: a visitor may send so many bodies for each call that he has. */
const READ_FOR_EACH_CALL = 4;
/** How long one believes that the places are still taken: a flood then asks the database once in this time. Renders take about as long. */
const FULL_MS = 500;
/** About 200 bytes each. */
const MAX_VISITORS = 10_000;

/** Enough for both limits: calls are a minute's, and a trial render is rarely as long. */
const RETRY_AFTER_S = 60;

interface Visitor {
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
  const visitors = new LRUCache<string, Visitor>({ max: MAX_VISITORS });
  let open = 0;
  let fullUntilMs = Number.NEGATIVE_INFINITY;
  // Made once: the stack of an error costs as much as the rest of a refusal, and says nothing here.
  const [usedUp, taken] = [tooManyCalls(perMinute), noTrialSlot()];

  function known(name: string): Visitor {
    let visitor = visitors.get(name);
    if (!visitor) {
      visitor = { open: 0, read: 0, sinceMs: nowMs(), refusedUntilMs: Number.NEGATIVE_INFINITY };
      visitors.set(name, visitor);
    }
    if (nowMs() - visitor.sinceMs >= TRIAL_WINDOW_MS) Object.assign(visitor, { read: 0, sinceMs: nowMs() });
    return visitor;
  }

  return {
    enter(name) {
      // Nothing is remembered of whom this refuses: a flood from everywhere would push out those who are worth remembering.
      if (open >= parallel * OPEN_PER_TRIAL_SLOT || nowMs() < fullUntilMs) throw taken;
      const visitor = known(name);
      if (nowMs() < visitor.refusedUntilMs || visitor.open >= perMinute || visitor.read >= perMinute * READ_FOR_EACH_CALL) throw usedUp;
      open += 1;
      visitor.open += 1;
      visitor.read += 1;
      return () => {
        open -= 1;
        visitor.open -= 1;
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
