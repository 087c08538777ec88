// The operations that hold trial callers back, each one atomic and safe to repeat, by the server's
// clock alone. Keeps no state and no retries.
import type { Document, Store } from '../store/store.ts';

/** A call counts for so long. */
export const TRIAL_WINDOW_MS = 60_000;

/** The document of the places; an HMAC is longer. */
const PLACES = 'places';

export interface TrialOperations {
  /**
   * Uses up one of the client's calls, when one is left in the last minute. `nextInMs`: until the
   * next is free, 0 when one is free now. A call that is not counted changes nothing.
   */
  count(
    client: string,
    callId: string,
    perMinute: number,
  ): Promise<{ counted: boolean; nextInMs: number }>;
  /** Takes one of so many places of the installation; false when they are taken. */
  take(leaseId: string, places: number): Promise<boolean>;
  /**
   * Gives the ids of those that could not be renewed: expired, or gone. Rejects when nothing is
   * known.
   */
  renew(leases: readonly { id: string }[]): Promise<Set<string>>;
  release(leaseId: string): Promise<void>;
}

const orEmpty = (field: string): Document => ({ $ifNull: [field, []] });

export function trialOperations({ trialLimits, limits }: Store, leaseMs: number): TrialOperations {
  const expires: Document = { $add: ['$$NOW', leaseMs] };
  const unexpired: Document = {
    $filter: {
      input: orEmpty('$leases'),
      as: 'lease',
      cond: { $gt: ['$$lease.expires', '$$NOW'] },
    },
  };

  /**
   * Of two who meet at the first call of all, both make the document: the server itself tries the
   * later one again, since `_id` alone is asked for.
   */
  async function change(id: string, set: Document, projection: Document): Promise<Document> {
    const settings = { upsert: true, returnDocument: 'after', projection, ...limits } as const;
    return (await trialLimits.findOneAndUpdate({ _id: id }, [{ $set: set }], settings))!;
  }

  async function count(client: string, callId: string, perMinute: number) {
    const isRecent = { $gt: ['$$call.at', { $subtract: ['$$NOW', TRIAL_WINDOW_MS] }] };
    const recent = { $filter: { input: orEmpty('$calls'), as: 'call', cond: isRecent } };
    const mayCall = {
      $and: [
        { $lt: [{ $size: recent }, perMinute] },
        { $not: [{ $in: [callId, orEmpty('$calls.id')] }] },
      ],
    };
    const found = await change(
      client,
      {
        calls: {
          $cond: [mayCall, { $concatArrays: [recent, [{ id: callId, at: '$$NOW' }]] }, '$calls'],
        },
        expires: { $cond: [mayCall, { $add: ['$$NOW', TRIAL_WINDOW_MS] }, '$expires'] },
      },
      {
        _id: 0,
        counted: { $in: [callId, '$calls.id'] },
        // Of a client with calls left there is no such element, and so no number.
        nextInMs: {
          $subtract: [
            { $add: [{ $arrayElemAt: ['$calls.at', -perMinute] }, TRIAL_WINDOW_MS] },
            '$$NOW',
          ],
        },
      },
    );
    // When the driver had to ask twice because an answer was lost, the server repeats what it had
    // written with the whole document instead of the projection (seen on 6.0). What is refused
    // writes nothing and is decided anew, so a whole document always means that it was counted.
    if ('calls' in found) return { counted: true, nextInMs: 0 };
    return {
      counted: Boolean(found['counted']),
      nextInMs: Math.max(0, Number(found['nextInMs'] ?? 0)),
    };
  }

  async function take(leaseId: string, places: number): Promise<boolean> {
    const isFree = {
      $and: [
        { $lt: [{ $size: unexpired }, places] },
        { $not: [{ $in: [leaseId, orEmpty('$leases.id')] }] },
      ],
    };
    const found = await change(
      PLACES,
      {
        leases: {
          $cond: [isFree, { $concatArrays: [unexpired, [{ id: leaseId, expires }]] }, '$leases'],
        },
      },
      { _id: 0, taken: { $in: [leaseId, '$leases.id'] } },
    );
    return 'leases' in found || Boolean(found['taken']);
  }

  async function renew(leases: readonly { id: string }[]): Promise<Set<string>> {
    const mine = leases.map(({ id }) => id);
    const renewed = {
      $cond: [
        { $in: ['$$lease.id', mine] },
        { $mergeObjects: ['$$lease', { expires }] },
        '$$lease',
      ],
    };
    const set = { leases: { $map: { input: unexpired, as: 'lease', in: renewed } } };
    const found = await trialLimits.findOneAndUpdate({ _id: PLACES }, [{ $set: set }], {
      returnDocument: 'after',
      ...limits,
    });
    const alive = new Set(found?.leases?.map(({ id }) => id));
    return new Set(mine.filter(id => !alive.has(id)));
  }

  async function release(leaseId: string): Promise<void> {
    await trialLimits.updateOne(
      { _id: PLACES, 'leases.id': leaseId },
      { $pull: { leases: { id: leaseId } } },
      limits,
    );
  }

  return { count, take, renew, release };
}
