// Metrics of the leases in this process: held, waiting to be written, counted and lost.
import type { Metrics } from '../../common/operations.ts';

/** Why a lease was lost while its render ran. */
export type LeaseLoss = 'not_renewed' | 'gone' | 'process_end';
/** Why a delivered render is missing from the usage. */
export type UncountedReason = 'lease_gone' | 'given_up';

const LOSSES: readonly LeaseLoss[] = ['not_renewed', 'gone', 'process_end'];
const UNCOUNTED: readonly UncountedReason[] = ['lease_gone', 'given_up'];

interface Sources {
  held(): number;
  waiting(what: 'settle' | 'release'): number;
}

export function leaseMetrics(metrics: Metrics, { held, waiting }: Sources) {
  metrics.gauge('pressroom_leases_held', 'Leases held for renders in progress.', [], gauge =>
    gauge.set(held()),
  );
  metrics.gauge(
    'pressroom_lease_writes_waiting',
    'Settlements and releases being retried until MongoDB accepts them.',
    ['operation'],
    gauge => {
      for (const operation of ['settle', 'release'] as const)
        gauge.set({ operation }, waiting(operation));
    },
  );
  const settled = metrics.counter(
    'pressroom_renders_settled_total',
    "Renders counted toward their account's usage.",
  );
  return {
    settled: () => settled.inc(),
    lost: metrics.counterBy(
      'pressroom_leases_lost_total',
      'Leases lost while their render ran, which aborts the render, by reason.',
      'reason',
      LOSSES,
    ),
    uncounted: metrics.counterBy(
      'pressroom_renders_uncounted_total',
      'Delivered renders that could not be metered, by reason.',
      'reason',
      UNCOUNTED,
    ),
  };
}
export type LeaseMetrics = ReturnType<typeof leaseMetrics>;
