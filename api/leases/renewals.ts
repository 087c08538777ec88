// Renews the leases of this process, and aborts a render whose lease is lost.

import { renderFailed } from '../../common/contract/errors.ts';
import type { Log } from '../../common/log.ts';
import type { LeaseLoss } from './lease-metrics.ts';

export interface RenewalTimes {
  /** How long a lease lasts on the server. */
  leaseMs: number;
  renewEveryMs: number;
  /** How much the clocks of two replica-set members may differ after an election. */
  clockDifferenceMs: number;
}

export interface HeldLease {
  id: string;
  accountId: string;
  requestId: string;
}

const LOSSES: Record<LeaseLoss, string> = {
  not_renewed: 'it could not be renewed in time',
  gone: 'it expired or was removed',
  process_end: 'the process is shutting down',
};

/**
 * Deadlines use the monotonic clock `nowMs` from the *send* of the last acknowledged write, so the
 * server's own deadline is never earlier. `renew` returns the IDs of lost leases. When it rejects,
 * the deadlines stay, and the next round renews each account separately.
 */
export function createRenewals(
  times: RenewalTimes,
  renew: (leases: readonly HeldLease[]) => Promise<Set<string>>,
  log: Log,
  nowMs: () => number,
  onLost: (why: LeaseLoss) => void,
) {
  const { leaseMs, renewEveryMs, clockDifferenceMs } = times;
  const held = new Map<string, HeldLease & { abort: AbortController; timer: NodeJS.Timeout }>();
  let timer: NodeJS.Timeout | undefined;
  let running = false;

  /** Stops renewing a lease that is settled or released. Ignores unknown IDs. */
  function drop(id: string): void {
    clearTimeout(held.get(id)?.timer);
    held.delete(id);
  }

  function lose(id: string, why: LeaseLoss): void {
    const lease = held.get(id);
    if (!lease) return;
    drop(id);
    onLost(why);
    log.warn(
      { requestId: lease.requestId, accountId: lease.accountId, reason: LOSSES[why] },
      'a lease was lost; its render is aborted',
    );
    // The error that the caller receives.
    lease.abort.abort(
      renderFailed(
        'database',
        'The service lost its database connection during the render. Try again in a few seconds.',
        { retryAfterS: 1 },
      ),
    );
  }

  const deadline = (id: string, sentMs: number) =>
    setTimeout(
      lose,
      Math.max(0, sentMs + leaseMs - clockDifferenceMs - nowMs()),
      id,
      'not_renewed' satisfies LeaseLoss,
    );

  async function renewTogether(leases: readonly HeldLease[], sentMs: number): Promise<void> {
    const lost = await renew(leases);
    for (const { id } of leases) {
      const lease = held.get(id);
      if (!lease) continue; // settled or released meanwhile
      if (lost.has(id)) lose(id, 'gone');
      else {
        clearTimeout(lease.timer);
        lease.timer = deadline(id, sentMs);
      }
    }
  }

  /**
   * Set after a failed round: one blocked account document must not abort the renders of other
   * accounts.
   */
  let eachAccountAlone = false;

  async function renewAll(): Promise<void> {
    const sentMs = nowMs();
    const leases = [...held.values()];
    const groups = Object.values(
      Object.groupBy(leases, ({ accountId }) => (eachAccountAlone ? accountId : 'all')),
    );
    const ends = await Promise.allSettled(groups.map(group => renewTogether(group!, sentMs)));
    const failed = ends.flatMap((end, at) =>
      end.status === 'rejected' ? [{ leases: groups[at]!.length, reason: end.reason }] : [],
    );
    eachAccountAlone = failed.length > 0;
    if (failed[0]) {
      const count = failed.reduce((sum, each) => sum + each.leases, 0);
      log.warn(
        { leases: count, reason: failed[0].reason.message },
        'leases could not be renewed, retrying',
      );
    }
    if (running) timer = setTimeout(renewAll, Math.max(0, sentMs + renewEveryMs - nowMs()));
  }

  return {
    /**
     * Renews the lease from now on. `sentMs`: when the write that created it was sent. The signal
     * aborts when the lease is lost.
     */
    hold(lease: HeldLease, sentMs: number): AbortSignal {
      const abort = new AbortController();
      held.set(lease.id, { ...lease, abort, timer: deadline(lease.id, sentMs) });
      return abort.signal;
    },
    drop,
    start(): void {
      running = true;
      timer = setTimeout(renewAll, renewEveryMs);
    },
    stop(): void {
      running = false;
      clearTimeout(timer);
      for (const id of [...held.keys()]) lose(id, 'process_end');
    },
  };
}
export type Renewals = ReturnType<typeof createRenewals>;
