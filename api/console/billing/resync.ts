// Asks the payment provider about every customer once a day, since an event can be lost for good.
// Of several API processes one asks about each account.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../../common/lifecycle.ts';
import type { Log } from '../../../common/log.ts';
import type { Store } from '../../store/store.ts';
import type { Sync } from './sync.ts';

export interface ResyncTimes {
  /** How often a process looks. */
  everyMs: number;
  /** An answer that is older is asked for again. */
  staleMs: number;
  /** For so long an account is left to the process that asks about it. */
  claimMs: number;
  /**
   * Between two calls: the provider allows some tens a second for all that the company does there.
   */
  pauseMs: number;
}

const TIMES: ResyncTimes = { everyMs: 3600e3, staleMs: 86_400e3, claimMs: 600e3, pauseMs: 500 };

/** Then the provider is away, and the next round may find it. */
const MAX_FAILURES = 3;

export interface Resync extends Service {
  /**
   * One round: until nothing is stale, or the provider is away. Returns how many accounts were
   * synchronized.
   */
  round(): Promise<number>;
}

interface ResyncDeps {
  store: Store;
  sync: Pick<Sync, 'account'>;
  log: Log;
  times?: Partial<ResyncTimes>;
}

export function createResync({ store, sync, log, times }: ResyncDeps): Resync {
  const { everyMs, staleMs, claimMs, pauseMs } = { ...TIMES, ...times };
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  /** The process's clock is good enough: a minute more or less changes nothing in a day. */
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

  const pause = (ms: number) =>
    sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);

  async function round(): Promise<number> {
    let failures = 0;
    for (let asked = 0; ; ) {
      const accountId = stopping.signal.aborted ? undefined : await claim();
      if (accountId === undefined) return asked;
      try {
        await sync.account(accountId);
        asked += 1;
        failures = 0;
      } catch (error) {
        log.warn(
          { accountId, reason: (error as Error).message },
          'an account could not be asked about at the payment provider',
        );
        failures += 1;
        if (failures >= MAX_FAILURES) return asked;
      }
      await pause(pauseMs);
    }
  }

  async function roundAfterRound(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const asked = await round();
        if (asked > 0)
          log.info({ accounts: asked }, 'synchronized accounts without a payment event for a day');
      } catch (error) {
        log.warn(
          { reason: (error as Error).message },
          'the daily look at the payment provider broke off',
        );
      }
      await pause(everyMs);
    }
  }

  return {
    name: 'billing',
    round,
    start: async () => {
      running = roundAfterRound();
    },
    stop: () => {
      stopping.abort();
      return running;
    },
  };
}
