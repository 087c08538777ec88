// Applies the configured retention of the render log to its TTL index at each start. Never fails the
// start.
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Store } from '../store/store.ts';

export const createRetention = (store: Store, keepMs: number, log: Log): Service => ({
  name: 'render log retention',
  async start() {
    try {
      await store.keepRenders(keepMs);
    } catch (error) {
      log.warn(
        { keepHours: Math.round(keepMs / 3_600_000), reason: (error as Error).message },
        'could not change the retention of the render log; the MongoDB user needs the collMod action, which the role readWrite includes',
      );
    }
  },
  stop: async () => {},
});
