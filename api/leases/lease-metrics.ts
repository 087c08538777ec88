// The numbers of the leases in this process: how many are held, what still has to be written, what
// was counted and what was lost.
import type { Metrics } from '../../common/operations.ts';

/** Why a lease could no longer be counted on while its render ran. */
export type LeaseLoss = 'not_renewed' | 'gone' | 'process_end';
/** Why a delivered render is missing from the count. */
export type UncountedReason = 'lease_gone' | 'given_up';

const LOSSES: readonly LeaseLoss[] = ['not_renewed', 'gone', 'process_end'];
const UNCOUNTED: readonly UncountedReason[] = ['lease_gone', 'given_up'];

interface Sources {
  held(): number;
  waiting(what: 'settle' | 'release'): number;
}

export interface LeaseMetrics {
  lost(why: LeaseLoss): void;
  settled(): void;
  uncounted(why: UncountedReason): void;
}

export function leaseMetrics(metrics: Metrics, { held, waiting }: Sources): LeaseMetrics {
  metrics.gauge(
    'pressroom_leases_held',
    'Leases that this process holds for renders that are not over.',
    [],
    gauge => gauge.set(held()),
  );
  metrics.gauge(
    'pressroom_lease_writes_waiting',
    'Settlements and releases that are tried again until MongoDB takes them.',
    ['operation'],
    gauge => {
      for (const operation of ['settle', 'release'] as const)
        gauge.set({ operation }, waiting(operation));
    },
  );
  const settled = metrics.counter(
    'pressroom_renders_settled_total',
    'Renders that were counted in their account.',
  );
  return {
    settled: () => settled.inc(),
    lost: metrics.counterBy(
      'pressroom_leases_lost_total',
      'Leases lost while their render ran, which ended it, by why.',
      'reason',
      LOSSES,
    ),
    uncounted: metrics.counterBy(
      'pressroom_renders_uncounted_total',
      'Renders that were delivered but could not be counted, by why.',
      'reason',
      UNCOUNTED,
    ),
  };
}
