// The MongoDB operations that limit trial calls. Each is atomic, safe to repeat, and uses the
// server's clock. Stateless, without retries.
import type { Document, Store } from '../store/store.ts';

/** How long a call counts toward the limit. */
export const TRIAL_WINDOW_MS = 60_000;

/** The ID of the document of all trial slots. Client IDs are HMACs and longer. */
const SLOTS_ID = 'places';

const orEmpty = (field: string): Document => ({ $ifNull: [field, []] });

export function trialOperations({ trialLimits, limits, timed }: Store, leaseMs: number) {
  const expires: Document = { $add: ['$$NOW', leaseMs] };
  const unexpired: Document = {
    $filter: {
      input: orEmpty('$leases'),
      as: 'lease',
      cond: { $gt: ['$$lease.expires', '$$NOW'] },
    },
  };

  /**
   * When two concurrent calls insert the document, the server retries the second one itself,
   * because the filter is only the `_id`.
   */
  async function change(
    operation: 'trial_count' | 'trial_take',
    id: string,
    set: Document,
    projection: Document,
  ): Promise<Document> {
    const settings = { upsert: true, returnDocument: 'after', projection, ...limits } as const;
    const changed = trialLimits.findOneAndUpdate({ _id: id }, [{ $set: set }], settings);
    return (await timed(operation, changed))!;
  }

  /**
   * Counts one call of the client if it has calls left in the last minute. `nextInMs`: time until
   * the next call is allowed, or 0. A call that is not counted changes nothing.
   */
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
      'trial_count',
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
        // A client with calls left has no such element, so this field is missing.
        nextInMs: {
          $subtract: [
            { $add: [{ $arrayElemAt: ['$calls.at', -perMinute] }, TRIAL_WINDOW_MS] },
            '$$NOW',
          ],
        },
      },
    );
    // When an answer is lost, the driver repeats the command, and the server returns the first
    // result as the whole document, without the projection (seen on 6.0). A rejected call writes
    // nothing and is decided again, so a whole document means that the call was counted.
    if ('calls' in found) return { counted: true, nextInMs: 0 };
    return {
      counted: Boolean(found['counted']),
      nextInMs: Math.max(0, Number(found['nextInMs'] ?? 0)),
    };
  }

  /** Takes one of the installation's `slots` trial slots. False when all are in use. */
  async function take(leaseId: string, slots: number): Promise<boolean> {
    const isFree = {
      $and: [
        { $lt: [{ $size: unexpired }, slots] },
        { $not: [{ $in: [leaseId, orEmpty('$leases.id')] }] },
      ],
    };
    const found = await change(
      'trial_take',
      SLOTS_ID,
      {
        leases: {
          $cond: [isFree, { $concatArrays: [unexpired, [{ id: leaseId, expires }]] }, '$leases'],
        },
      },
      { _id: 0, taken: { $in: [leaseId, '$leases.id'] } },
    );
    return 'leases' in found || Boolean(found['taken']);
  }

  /**
   * Returns the IDs of the leases that could not be renewed because they expired or are gone.
   * Rejects when the result is unknown.
   */
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
    const options = { returnDocument: 'after', ...limits } as const;
    const renewal = trialLimits.findOneAndUpdate({ _id: SLOTS_ID }, [{ $set: set }], options);
    const found = await timed('trial_renew', renewal);
    const alive = new Set(found?.leases?.map(({ id }) => id));
    return new Set(mine.filter(id => !alive.has(id)));
  }

  async function release(leaseId: string): Promise<void> {
    const filter = { _id: SLOTS_ID, 'leases.id': leaseId };
    const pulled = { $pull: { leases: { id: leaseId } } };
    await timed('trial_release', trialLimits.updateOne(filter, pulled, limits));
  }

  return { count, take, renew, release };
}
