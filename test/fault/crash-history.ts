// The cost of expired leases: admissions of an account without any, and after ten minutes of
// abandoned renders, in alternating rounds.
import { randomUUID } from 'node:crypto';
import { median } from '../../bench/load.ts';
import { lookAt } from './account-look.ts';
import { CAP, settleFixture } from './settle-fixture.ts';

const ROUNDS = 8;
const PAIRS = 30;

export interface CrashHistory {
  /** Expired leases before the first admission, and those that are kept. */
  expired: number;
  kept: number;
  /** Slowdown of one admission, and of all callers together; medians of the rounds. */
  admitRatio: number;
  crowdRatio: number;
  admitMs: { none: number; history: number };
}

export async function crashHistory(): Promise<CrashHistory> {
  const { store, processes, caller, times, close } = await settleFixture();
  try {
    const [leases] = processes;
    const expired = CAP * Math.floor(times.keepExpiredMs / times.leaseMs);
    let kept = 0;

    /** The duration of one admission by one caller, and of all pairs by all callers. */
    async function measure(leaseCount: number): Promise<{ admitMs: number; crowdMs: number }> {
      const now = Date.now();
      const old = Array.from({ length: leaseCount }, () => ({
        id: randomUUID(),
        key: 'x'.repeat(12),
        expires: new Date(now - 1_000),
      }));
      await store.accounts.updateOne({ _id: caller.accountId }, { $set: { leases: old } });
      await leases!.release(await leases!.admit(caller));
      const alone: number[] = [];
      for (let pair = 0; pair < PAIRS; pair++) {
        const began = performance.now();
        const lease = await leases!.admit(caller);
        alone.push(performance.now() - began);
        await leases!.release(lease);
      }
      const began = performance.now();
      const callerLoop = async () => {
        for (let pair = 0; pair < PAIRS; pair++) await leases!.release(await leases!.admit(caller));
      };
      await Promise.all(Array.from({ length: CAP }, callerLoop));
      const crowdMs = performance.now() - began;
      kept = Math.max(kept, (await lookAt(store, caller.accountId)).expired);
      return { admitMs: median(alone), crowdMs };
    }

    const rounds: {
      none: Awaited<ReturnType<typeof measure>>;
      history: Awaited<ReturnType<typeof measure>>;
    }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // The order alternates, so that the load of the machine affects both equally.
      const historyFirst = round % 2 === 1 ? await measure(expired) : undefined;
      const none = await measure(0);
      rounds.push({ none, history: historyFirst ?? (await measure(expired)) });
    }
    return {
      expired,
      kept,
      admitRatio: median(rounds.map(({ none, history }) => history.admitMs / none.admitMs)),
      crowdRatio: median(rounds.map(({ none, history }) => history.crowdMs / none.crowdMs)),
      admitMs: {
        none: median(rounds.map(({ none }) => none.admitMs)),
        history: median(rounds.map(({ history }) => history.admitMs)),
      },
    };
  } finally {
    await close();
  }
}
