// Metrics of dispatch: queue depth and age (the autoscaler's signals), known workers, attempts
// to open a slot. All have the label `pool`.
import type { Metrics } from '../../common/operations.ts';
import type { Totals } from '../workers/registry.ts';

interface Sources {
  depth(): number;
  bytes(): number;
  oldestWaitMs(): number;
  waitMs: number;
  totals(): Totals;
}

const OUTCOMES = ['opened', 'refused', 'unreachable', 'cancelled'] as const;

export function dispatchMetrics(metrics: Metrics, pool: string, sources: Sources) {
  const read = (name: string, help: string, value: () => number) =>
    metrics.gauge(name, help, ['pool'], gauge => gauge.set({ pool }, value()));
  read('pressroom_queue_depth', 'Renders queued in this process.', sources.depth);
  read('pressroom_queue_bytes', 'Bytes of request bodies queued in this process.', sources.bytes);
  read(
    'pressroom_queue_oldest_wait_seconds',
    'Queue time of the oldest queued render.',
    () => sources.oldestWaitMs() / 1000,
  );
  const timeout = metrics.gauge(
    'pressroom_queue_timeout_seconds',
    'Longest queue time allowed: PRESSROOM_QUEUE_TIMEOUT.',
    ['pool'],
  );
  timeout.set({ pool }, sources.waitMs / 1000);
  read(
    'pressroom_workers_known',
    'Connected workers that are not draining.',
    () => sources.totals().workers,
  );

  const retries = metrics.counter(
    'pressroom_render_retries_total',
    'Renders retried because their worker or Chrome died.',
    ['pool'],
  );
  retries.inc({ pool }, 0);
  return {
    attempted: metrics.counterBy(
      'pressroom_slot_claims_total',
      'Attempts to open a slot on a worker, by outcome.',
      'outcome',
      OUTCOMES,
      { pool },
    ),
    retried: () => retries.inc({ pool }),
  };
}
export type DispatchMetrics = ReturnType<typeof dispatchMetrics>;
