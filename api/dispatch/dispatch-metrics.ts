// The numbers of dispatch: how many wait and since when (the autoscaler's signals), who is there, how claims end. All carry the pool.
import type { Metrics } from '../../common/operations.ts';
import type { Totals } from './roster.ts';

interface Sources {
  depth(): number;
  oldestWaitMs(): number;
  totals(): Totals;
}

export interface DispatchMetrics {
  claimed(outcome: 'opened' | 'refused' | 'unreachable' | 'cancelled'): void;
  retried(): void;
}

export function dispatchMetrics(metrics: Metrics, pool: string, sources: Sources): DispatchMetrics {
  const read = (name: string, help: string, value: () => number) =>
    metrics.gauge(name, help, ['pool'], gauge => gauge.set({ pool }, value()));
  read('pressroom_queue_depth', 'Renders that wait for a slot in this process.', sources.depth);
  read('pressroom_queue_oldest_wait_seconds', 'How long the render that waits longest has waited.', () => sources.oldestWaitMs() / 1000);
  read('pressroom_workers_known', 'Workers that this process is connected to and that do not drain.', () => sources.totals().workers);

  const claims = metrics.counter('pressroom_slot_claims_total', 'Attempts to open a slot on a worker.', ['pool', 'outcome']);
  const retries = metrics.counter('pressroom_render_retries_total', 'Renders begun again because their worker or Chrome died.', ['pool']);
  for (const outcome of ['opened', 'refused', 'unreachable', 'cancelled']) claims.inc({ pool, outcome }, 0);
  retries.inc({ pool }, 0);
  return {
    claimed: outcome => claims.inc({ pool, outcome }),
    retried: () => retries.inc({ pool }),
  };
}
