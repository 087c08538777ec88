// The 32 callers of a settle run, each with one render after another: most settle or release at
// once; some outlive their lease or are abandoned.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lease, Leases } from '../../api/leases/leases.ts';
import { ApiError } from '../../common/contract/errors.ts';
import type { Chance } from './harness/random.ts';
import type { SettleFixture } from './settle-fixture.ts';

const POLL_MS = 50;
const AGAIN_MS = 5;

export interface Tally {
  /** Settlements that were sent: the expected count of the account. */
  sent: number;
  /** Settlements that were confirmed as counted. */
  answered: number;
  released: number;
  /** Renewed by the process until the settlement. */
  renewed: number;
  /** Settled after the expiry. */
  late: number;
  abandoned: number;
  /** Settled twice, as after a lost response. */
  repeated: number;
  /** Admissions that were rejected by the plan, or got no response; both are retried. */
  rejected: number;
  unknown: number;
}

/** One render. Resolves with the time its admission was sent; throws on a double count. */
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
    rejected: 0,
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
        if (error.code === 'concurrency_limit') tally.rejected += 1;
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
        throw new Error(`a render was counted twice: its second settlement returned ${again}`);
    }
    return lease.sentMs;
  };

  const renewed: Pair = async () => {
    const leases = chance.pick(processes);
    const lease = await admit(leases);
    const first = (await find(lease.id))?.expires;
    if (!first) throw new Error('a running lease is missing');
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
      if (!found) throw new Error('an expired lease is missing before its late settlement');
      await sleep(POLL_MS);
    }
    await settle(cutOff, lease);
    tally.late += 1;
    return lease.sentMs;
  };

  /** The process dies with the render. The caller waits until the lease has expired. */
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
  /** Resolves when no settlement is retried in the background any more. */
  async function settled(): Promise<void> {
    while (waiting() > 0) await sleep(POLL_MS);
    await cutOff.stop(new AbortController().signal);
  }
  return { callers, tally, settled };
}
