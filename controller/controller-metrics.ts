// The metrics of pools.
import type { Metrics } from '../common/operations.ts';
import { type BrowserPool, CONDITIONS, type Condition } from '../crds/browser-pool.ts';
import { REASONS, type Reason } from './decide/model.ts';
import type { PoolReport } from './status.ts';

const POOL = ['namespace', 'pool'] as const;
const STATUSES = ['True', 'False', 'Unknown'] as const;

export function poolMetrics(metrics: Metrics) {
  const gauges = {
    desired: metrics.gauge('pressroom_pool_desired_pods', 'Desired number of pods.', POOL),
    ready: metrics.gauge('pressroom_pool_ready_pods', 'Number of ready pods.', POOL),
    min: metrics.gauge('pressroom_pool_min_pods', 'Minimum number of pods.', POOL),
    max: metrics.gauge('pressroom_pool_max_pods', 'Maximum number of pods.', POOL),
    autoscaled: metrics.gauge(
      'pressroom_pool_autoscaled',
      'Whether the pool is autoscaled: 1, or 0 if its size is fixed or the pool is paused.',
      POOL,
    ),
    busy: metrics.gauge(
      'pressroom_pool_busy_slots',
      'Busy slots reported by Prometheus. Absent while the load is unknown.',
      POOL,
    ),
    queued: metrics.gauge(
      'pressroom_pool_queued_renders',
      'Queued renders reported by Prometheus. Absent while the load is unknown.',
      POOL,
    ),
  };
  const conditions = metrics.gauge(
    'pressroom_pool_condition',
    'Conditions of a pool: 1 for the current status of each condition type, otherwise 0.',
    [...POOL, 'type', 'status'],
  );
  const decisions = metrics.counter(
    'pressroom_scale_decisions_total',
    'Scaling decisions that changed the size of a pool, by reason.',
    [...POOL, 'reason'],
  );
  const labelsOf = ({ metadata }: BrowserPool) => ({
    namespace: metadata.namespace,
    pool: metadata.name,
  });

  return {
    /** `holding` are the conditions of the pool's new status. */
    report(report: PoolReport, holding: readonly Condition[]): void {
      const labels = labelsOf(report.pool);
      const { scaling, replicas, paused } = report.pool.spec;
      gauges.desired.set(labels, report.decision.pods);
      gauges.ready.set(labels, report.pods.ready);
      gauges.min.set(labels, replicas ?? scaling.minReplicas);
      gauges.max.set(labels, replicas ?? scaling.maxReplicas);
      gauges.autoscaled.set(labels, paused || replicas !== undefined ? 0 : 1);
      if (report.load.kind === 'measured') {
        gauges.busy.set(labels, report.load.busySlots);
        gauges.queued.set(labels, report.load.queuedRenders);
      } else {
        gauges.busy.remove(labels);
        gauges.queued.remove(labels);
      }
      for (const { type, status } of holding)
        for (const each of STATUSES)
          conditions.set({ ...labels, type, status: each }, each === status ? 1 : 0);
      for (const reason of REASONS) decisions.inc({ ...labels, reason }, 0);
    },
    /** Counts a decision that changes the size. */
    decided: (pool: BrowserPool, reason: Reason) => decisions.inc({ ...labelsOf(pool), reason }),
    forget(pool: BrowserPool): void {
      const labels = labelsOf(pool);
      for (const gauge of Object.values(gauges)) gauge.remove(labels);
      for (const type of Object.keys(CONDITIONS))
        for (const status of STATUSES) conditions.remove({ ...labels, type, status });
      for (const reason of REASONS) decisions.remove({ ...labels, reason });
    },
    forgetAll(): void {
      for (const gauge of Object.values(gauges)) gauge.reset();
      conditions.reset();
      // A pool that is deleted while another controller leads would otherwise be reported forever.
      decisions.reset();
    },
  };
}
export type PoolMetrics = ReturnType<typeof poolMetrics>;
