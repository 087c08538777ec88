// What the 32 callers of a settle run do, one render after the other: most end at once, counted or
// given back; some outlive their lease or are abandoned.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lease, Leases } from '../../api/leases/leases.ts';
import { ApiError } from '../../common/contract/errors.ts';
import type { Chance } from './harness/random.ts';
import type { SettleFixture } from './settle-fixture.ts';

const POLL_MS = 50;
const AGAIN_MS = 5;

export interface Tally {
  /** Settlements that were asked for: what the account's count must be in the end. */
  sent: number;
  /** Of these: known to be counted. */
  answered: number;
  released: number;
  /** Renewed by the process until they were settled. */
  renewed: number;
  /** Settled after they had expired. */
  late: number;
  abandoned: number;
  /** Settled a second time, as by a process whose answer was lost. */
  repeated: number;
  /**
   * Admissions that were refused because the plan was full, or whose answer did not come; tried
   * again.
   */
  refused: number;
  unknown: number;
}

/**
 * One render; resolves with when its admission was sent. Throws a sentence when a settlement did
 * what it must not.
 */
export type Pair = () => Promise<number>;

export function settleCallers(
  { store, processes, leasesOn, operations, caller, times }: SettleFixture,
  chance: Chance,
) {
  const tally: Tally = {
    sent: 0,
    answered: 0,
    released: 0,
    renewed: 0,
    late: 0,
    abandoned: 0,
    repeated: 0,
    refused: 0,
    unknown: 0,
  };
  const { accountId } = caller;

  async function admit(leases: Leases): Promise<Lease & { sentMs: number }> {
    for (;;) {
      const sentMs = performance.now();
      try {
        return { ...(await leases.admit(caller)), sentMs };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.code === 'concurrency_limit') tally.refused += 1;
        else if (error.reason === 'database') tally.unknown += 1;
        else throw error;
        await sleep(AGAIN_MS);
      }
    }
  }

  async function settle(leases: Leases, lease: Lease): Promise<void> {
    tally.sent += 1;
    if ((await leases.settle(lease)) !== undefined) tally.answered += 1;
  }

  async function find(leaseId: string): Promise<{ expires: Date; expired: boolean } | undefined> {
    const mine = {
      $first: {
        $filter: { input: '$leases', as: 'lease', cond: { $eq: ['$$lease.id', leaseId] } },
      },
    };
    const [found] = await store.accounts
      .aggregate<{ expires?: Date; now: Date }>([
        { $match: { _id: accountId } },
        {
          $project: {
            _id: 0,
            now: '$$NOW',
            expires: { $getField: { field: 'expires', input: mine } },
          },
        },
      ])
      .toArray();
    return found?.expires && { expires: found.expires, expired: found.expires <= found.now };
  }

  const quick: Pair = async () => {
    const leases = chance.pick(processes);
    const lease = await admit(leases);
    if (chance.percent(10)) {
      await leases.release(lease);
      tally.released += 1;
      return lease.sentMs;
    }
    await settle(leases, lease);
    if (chance.percent(2)) {
      tally.repeated += 1;
      const again = await operations.settle(accountId, lease.id);
      if (again !== undefined)
        throw new Error(`a render was counted twice: its second settlement gave ${again}`);
    }
    return lease.sentMs;
  };

  const renewed: Pair = async () => {
    const leases = chance.pick(processes);
    const lease = await admit(leases);
    const first = (await find(lease.id))?.expires;
    if (!first) throw new Error('a lease that runs is not there');
    while (!lease.lost.aborted && (await find(lease.id))?.expires.getTime() === first.getTime())
      await sleep(POLL_MS);
    await settle(leases, lease);
    tally.renewed += 1;
    return lease.sentMs;
  };

  const cutOff = leasesOn(store);
  const late: Pair = async () => {
    const lease = await admit(cutOff);
    await sleep(times.leaseMs);
    for (let found = await find(lease.id); !found?.expired; found = await find(lease.id)) {
      if (!found) throw new Error('an expired lease is not there for its late settlement');
      await sleep(POLL_MS);
    }
    await settle(cutOff, lease);
    tally.late += 1;
    return lease.sentMs;
  };

  /**
   * The process dies with the render. Its place is taken for as long as the lease lasts, so the
   * caller comes back then.
   */
  const abandoned: Pair = async () => {
    const dying = leasesOn(store);
    await dying.start();
    const lease = await admit(dying);
    await dying.stop(AbortSignal.abort());
    await sleep(times.leaseMs);
    tally.abandoned += 1;
    return lease.sentMs;
  };

  const callers: Pair[] = [
    ...Array(27).fill(quick),
    ...Array(2).fill(renewed),
    ...Array(2).fill(late),
    abandoned,
  ];
  const waiting = () =>
    [...processes, cutOff].reduce((sum, leases) => sum + leases.counts().waiting, 0);
  /** Resolves when no settlement is tried in the background any more. */
  async function settled(): Promise<void> {
    while (waiting() > 0) await sleep(POLL_MS);
    await cutOff.stop(new AbortController().signal);
  }
  return { callers, tally, settled };
}
