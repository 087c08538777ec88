// How many bytes of bodies and PDFs this process holds at once, with a share for each caller. Taken
// as they arrive, given back when nothing holds them any more.

import { type ApiError, renderFailed } from '../../common/contract/errors.ts';
import { overShare } from '../accounts/account-errors.ts';
import { type BoundRefusal, SharedBound } from '../accounts/shared-bound.ts';

/**
 * Whose bytes they are, and what is thrown when there is no room: `full` of the whole, `share` of
 * this caller's part.
 */
export interface Holder extends Record<BoundRefusal, () => ApiError> {
  id: string;
}

export interface ByteBudget {
  /** What one request holds. */
  open(holder: Holder): Reservation;
  used(): number;
  readonly maxBytes: number;
  /** The most that one caller can hold, when no other holds anything. */
  readonly maxBytesOfOne: number;
}

export interface Reservation {
  /**
   * False, and nothing taken, when there is no room for so many bytes more or the request has
   * ended.
   */
  take(bytes: number): boolean;
  /** Whether `take` would succeed now. */
  fits(bytes: number): boolean;
  /** The error for the caller after a refusal. */
  overBudget(): ApiError;
  /** Gives back so many of those that were taken. */
  give(bytes: number): void;
  /**
   * Gives back what is left. What still runs of the request can take no more, and what it gives
   * back is not counted twice.
   */
  close(): void;
}

export const overloaded = () =>
  renderFailed(
    'overloaded',
    'The service is at its memory limit for requests and PDFs. Try again in 2 s.',
    { retryAfterS: 2 },
  );

/**
 * An account holds for all its keys, members and apps. `parallel`: of its plan, where it is known.
 */
export const accountHolder = (accountId: string, parallel?: number): Holder => ({
  id: accountId,
  full: overloaded,
  share: () => overShare(parallel),
});

interface Options {
  /** A budget of which this one is a part. What is taken here is taken there too. */
  whole?: ByteBudget;
  /** The share of one caller. Default: a quarter. */
  shareBytes?: number;
}

export function createByteBudget(
  maxBytes: number,
  { whole, shareBytes }: Options = {},
): ByteBudget {
  const bound = new SharedBound(maxBytes, shareBytes);

  function open(holder: Holder): Reservation {
    const { id } = holder;
    const ofWhole = whole?.open(holder);
    let held = 0;
    let closed = false;
    let overBudget = holder.full;
    const refusal = (bytes: number): (() => ApiError) | undefined => {
      if (closed) return holder.full;
      const refused = bound.refusal(id, bytes);
      if (refused) return holder[refused];
      return ofWhole?.fits(bytes) === false ? ofWhole.overBudget : undefined;
    };
    const fits = (bytes: number) => {
      const refused = refusal(bytes);
      if (refused) overBudget = refused;
      return refused === undefined;
    };
    const give = (bytes: number) => {
      if (closed) return;
      held -= bytes;
      bound.give(id, bytes);
      ofWhole?.give(bytes);
    };
    return {
      take(bytes) {
        if (!fits(bytes)) return false;
        held += bytes;
        bound.hold(id, bytes);
        ofWhole?.take(bytes);
        return true;
      },
      fits,
      overBudget: () => overBudget(),
      give,
      close() {
        give(held);
        closed = true;
        ofWhole?.close();
      },
    };
  }

  return {
    open,
    used: () => bound.used,
    maxBytes,
    maxBytesOfOne: Math.min(bound.maxOfOne, whole?.maxBytesOfOne ?? Number.POSITIVE_INFINITY),
  };
}
