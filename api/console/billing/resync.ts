// Synchronizes every customer with the payment provider once a day, since an event can be lost for
// good. One of the API processes synchronizes each account.
import { setTimeout as sleep } from 'node:timers/promises';
import { repeatedly, type Service } from '../../../common/lifecycle.ts';
import type { Log } from '../../../common/log.ts';
import type { Store } from '../../store/store.ts';
import type { Sync } from './sync.ts';

export interface ResyncTimes {
  /** Time between two rounds of a process. */
  everyMs: number;
  /** An account is due when it was last synchronized this long ago. */
  staleMs: number;
  /** How long other processes leave a claimed account alone. */
  claimMs: number;
  /** Between two calls: the provider's rate limit is shared with the operator's other calls. */
  pauseMs: number;
}

const TIMES: ResyncTimes = { everyMs: 3600e3, staleMs: 86_400e3, claimMs: 600e3, pauseMs: 500 };

/** Failures in a row that end a round: the provider is unavailable. */
const MAX_FAILURES = 3;

export interface Resync extends Service {
  /**
   * Synchronizes accounts until none is due or the provider is unavailable. Returns how many
   * accounts were synchronized.
   */
  round(signal?: AbortSignal): Promise<number>;
}

interface ResyncDeps {
  store: Store;
  sync: Pick<Sync, 'account'>;
  log: Log;
  times?: Partial<ResyncTimes>;
}

export function createResync({ store, sync, log, times }: ResyncDeps): Resync {
  const { everyMs, staleMs, claimMs, pauseMs } = { ...TIMES, ...times };

  /** Uses the process's clock: a minute of skew does not matter for a daily task. */
  async function claim(): Promise<string | undefined> {
    const now = Date.now();
    const found = await store.limited(
      store.accounts.findOneAndUpdate(
        {
          'billing.syncedAt': { $lt: new Date(now - staleMs) },
          $or: [
            { 'billing.claimedUntil': { $exists: false } },
            { 'billing.claimedUntil': { $lt: new Date(now) } },
          ],
        },
        { $set: { 'billing.claimedUntil': new Date(now + claimMs) } },
        { sort: { 'billing.syncedAt': 1 }, projection: { _id: 1 }, ...store.limits },
      ),
    );
    return found?._id;
  }

  async function round(signal?: AbortSignal): Promise<number> {
    let failures = 0;
    for (let synchronized = 0; ; ) {
      const accountId = signal?.aborted ? undefined : await claim();
      if (accountId === undefined) return synchronized;
      try {
        await sync.account(accountId);
        synchronized += 1;
        failures = 0;
      } catch (error) {
        log.warn(
          { accountId, reason: (error as Error).message },
          'could not synchronize an account with the payment provider',
        );
        failures += 1;
        if (failures >= MAX_FAILURES) return synchronized;
      }
      await sleep(pauseMs, undefined, signal && { signal }).catch(() => {});
    }
  }

  const rounds = repeatedly({
    name: 'billing',
    everyMs,
    async run(signal) {
      const synchronized = await round(signal);
      if (synchronized > 0)
        log.info(
          { accounts: synchronized },
          'synchronized accounts without a payment event for a day',
        );
    },
    log,
    failure: 'the daily synchronization with the payment provider failed',
  });
  return { ...rounds, round };
}
