// Memory budget of request bodies and PDFs in this process, with a share for each caller. Bytes are
// reserved as they arrive and released when nothing holds them.

import { type ApiError, renderFailed } from '../../common/contract/errors.ts';
import { overShare } from '../accounts/account-errors.ts';
import { type BoundRejection, SharedBound } from '../accounts/shared-bound.ts';

/**
 * The caller that bytes are counted for, and the errors when its reservation fails: `full` when the
 * budget is exhausted, `share` when this caller's part is.
 */
export interface Holder extends Record<BoundRejection, () => ApiError> {
  id: string;
}

export interface ByteBudget {
  /** The reservation of one request. */
  open(holder: Holder): Reservation;
  used(): number;
  readonly maxBytes: number;
  /** The most that one caller can hold, when no other holds anything. */
  readonly maxBytesOfOne: number;
}

export interface Reservation {
  /**
   * Returns false and reserves nothing when the budget is exhausted or the request has ended.
   */
  reserve(bytes: number): boolean;
  /** Whether `reserve` would succeed now. */
  fits(bytes: number): boolean;
  /** The error for the caller after `reserve` or `fits` returned false. */
  overBudget(): ApiError;
  /** Releases this many of the reserved bytes. */
  release(bytes: number): void;
  /**
   * Releases the rest. After that `reserve` fails and `release` does nothing, so that work of the
   * request that still runs cannot count twice.
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
 * One holder for all keys, members and apps of an account. `parallel`: the limit of its plan, if
 * known.
 */
export const accountHolder = (accountId: string, parallel?: number): Holder => ({
  id: accountId,
  full: overloaded,
  share: () => overShare(parallel),
});

interface Options {
  /** The budget that this one is part of. Bytes reserved here are reserved there too. */
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
    const errorFor = (bytes: number): (() => ApiError) | undefined => {
      if (closed) return holder.full;
      const rejection = bound.rejection(id, bytes);
      if (rejection) return holder[rejection];
      return ofWhole?.fits(bytes) === false ? ofWhole.overBudget : undefined;
    };
    const fits = (bytes: number) => {
      const error = errorFor(bytes);
      if (error) overBudget = error;
      return error === undefined;
    };
    const release = (bytes: number) => {
      if (closed) return;
      held -= bytes;
      bound.release(id, bytes);
      ofWhole?.release(bytes);
    };
    return {
      reserve(bytes) {
        if (!fits(bytes)) return false;
        held += bytes;
        bound.hold(id, bytes);
        ofWhole?.reserve(bytes);
        return true;
      },
      fits,
      overBudget: () => overBudget(),
      release,
      close() {
        release(held);
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
