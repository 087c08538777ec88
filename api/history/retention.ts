// How long the log of renders is kept: told to MongoDB at each start, so that a change of the
// configuration acts. A lifecycle service that never fails a start.
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Store } from '../store/store.ts';

export const createRetention = (store: Store, keepMs: number, log: Log): Service => ({
  name: 'retention of the log of renders',
  async start() {
    try {
      await store.keepRenders(keepMs);
    } catch (error) {
      log.warn(
        { keepHours: Math.round(keepMs / 3_600_000), reason: (error as Error).message },
        'the time for which renders are kept in the log could not be set and is what it was; it needs the right collMod, which readWrite contains',
      );
    }
  },
  stop: async () => {},
});
