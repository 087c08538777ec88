// Counters in fixed time windows, stored in the database: limits that all API processes share.
import {
  type Document,
  type SignInLimitDocument,
  type Store,
  upserted,
} from '../../store/store.ts';

/** Names are stored: they must not identify a client. */
export function createStoredCount(store: Store, now: () => number) {
  const { signInLimits } = store.console;

  /** Updates the counter atomically and returns it as it was before. */
  async function change(
    _id: string,
    pipeline: Document[],
  ): Promise<SignInLimitDocument | undefined> {
    const options = { upsert: true, returnDocument: 'before' as const, ...store.limits };
    return (
      (await upserted(() =>
        store.limited(signInLimits.findOneAndUpdate({ _id }, pipeline, options)),
      )) ?? undefined
    );
  }

  return {
    change,
    /**
     * Counts one event. Returns the milliseconds to wait when more than `max` occurred in the
     * window, which starts with the first event; otherwise 0.
     */
    within: async (name: string, { max, windowMs }: { max: number; windowMs: number }) => {
      const at = new Date(now());
      const runs = { $gt: ['$expires', at] };
      const before = await change(name, [
        {
          $set: {
            count: { $cond: [runs, { $add: ['$count', 1] }, 1] },
            expires: { $cond: [runs, '$expires', new Date(at.getTime() + windowMs)] },
          },
        },
      ]);
      return before && before.expires > at && before.count >= max
        ? before.expires.getTime() - at.getTime()
        : 0;
    },
    forget: async (name: string) =>
      void (await store.limited(signInLimits.deleteOne({ _id: name }, store.limits))),
  };
}
