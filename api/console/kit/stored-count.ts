// Counts by name in windows of time, in the database: what all API processes together bound to so
// many a minute or an hour.
import {
  type Document,
  type SignInLimitDocument,
  type Store,
  upserted,
} from '../../store/store.ts';

export interface CountWindow {
  max: number;
  windowMs: number;
}

export interface StoredCount {
  /**
   * Counts one more of `name` and returns how long to wait, or 0: at most `max` in a window that
   * begins with the first.
   */
  within(name: string, window: CountWindow): Promise<number>;
  /** Changes what is kept of `name` in one step and returns what was before. */
  change(name: string, pipeline: Document[]): Promise<SignInLimitDocument | undefined>;
  forget(name: string): Promise<void>;
}

/** `name` is stored: it must not identify the counted client. */
export function createStoredCount(store: Store, now = () => Date.now()): StoredCount {
  const { signInLimits } = store.console;

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
    within: async (name, { max, windowMs }) => {
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
    forget: async name =>
      void (await store.limited(signInLimits.deleteOne({ _id: name }, store.limits))),
  };
}
