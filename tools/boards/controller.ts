// The dashboard "Controller and dependencies": the controller, Prometheus, MongoDB and the
// Kubernetes API.
import type { Board } from './grafana.ts';
import {
  CHOSEN,
  CHOSEN_NAMESPACE,
  chosen,
  increase,
  maxBy,
  p95By,
  quantiles,
  rate,
  sum,
  sumBy,
  WINDOW,
} from './queries.ts';

/** Series of the controller's own pods. */
const own = (name: string, more = '') => `${name}{${CHOSEN_NAMESPACE}${more && `,${more}`}}`;
const MONGODB = 'pressroom_mongodb_operation_duration_seconds';

export const controller: Board = {
  uid: 'pressroom-controller',
  title: 'Pressroom / Controller and dependencies',
  description:
    'Health of the controller and its dependencies: Prometheus, MongoDB and the Kubernetes API.',
  rows: [
    {
      title: 'Controller',
      panels: [
        {
          title: 'Leader',
          description:
            'The controller pod that is the leader. Healthy: exactly one line at 1. None: check the logs of the controller pods and the Lease (kubectl get lease). Renders continue without a leader, but pools are neither scaled nor repaired.',
          kind: 'line',
          unit: 'short',
          queries: [maxBy('namespace, pod', own('pressroom_controller_leader'))],
        },
        {
          title: 'Reconciles by outcome',
          description:
            'Reconciles of pools by outcome. A few conflict are normal. Repeated error: run kubectl describe bpool; the condition Ready contains the error of the API server.',
          kind: 'stack',
          unit: 'ops',
          queries: [sumBy('outcome', rate(own('pressroom_reconcile_duration_seconds_count')))],
        },
        {
          title: 'Reconcile duration',
          description:
            'Healthy: p95 below 100 ms. Most of it is the Kubernetes API: compare with "Kubernetes API requests".',
          kind: 'line',
          unit: 's',
          queries: quantiles('pressroom_reconcile_duration_seconds', CHOSEN_NAMESPACE),
        },
        {
          title: 'Work queue',
          description:
            'Pools waiting for a reconcile. Healthy: near 0. Steady growth: more pools than the controller or the API server can handle.',
          kind: 'line',
          unit: 'short',
          queries: [maxBy('namespace, pod', own('pressroom_work_queue_depth'))],
        },
        {
          title: 'Work queue wait, p99',
          description:
            'Healthy: below 1 s. This time delays every decision about the size of a pool.',
          kind: 'line',
          unit: 's',
          queries: quantiles('pressroom_work_queue_wait_seconds', CHOSEN_NAMESPACE, [0.99]),
        },
        {
          title: 'Running releases',
          description:
            'Processes by release and protocol. Healthy: one release, or two during an upgrade. API and workers are compatible with the next and the previous release only.',
          kind: 'line',
          unit: 'short',
          queries: [
            {
              expr: `count by (version, protocol) (${own('pressroom_build_info')})`,
              legend: '{{version}}, protocol {{protocol}}',
            },
          ],
        },
        {
          title: 'Controller memory',
          description:
            'Resident memory of each controller pod. Healthy: flat, plus a few kilobytes per pool and pod. Steady growth over hours is a leak: report it with the release.',
          kind: 'line',
          unit: 'bytes',
          queries: [
            maxBy(
              'namespace, pod',
              `${own('process_resident_memory_bytes')} and on (namespace, pod) ${own('pressroom_controller_leader')}`,
            ),
          ],
        },
        {
          title: 'Container restarts',
          description:
            'Restarts of API, worker and controller processes in existing pods. Healthy: none. New pods of upgrades and scaling do not count. Run kubectl get pods to find the pod and kubectl logs --previous to find the cause.',
          kind: 'bars',
          unit: 'short',
          queries: [
            sumBy(
              'namespace',
              `changes(${own('process_start_time_seconds')}[${WINDOW}]) and on (namespace, pod) ${own('pressroom_build_info')}`,
            ),
          ],
        },
      ],
    },
    {
      title: 'Kubernetes API and Prometheus (seen by the controller)',
      panels: [
        {
          title: 'Kubernetes API requests',
          description:
            'Requests by verb, resource and outcome (ok, the status, or no_answer). Healthy: a few per second at most, nearly all ok. A few 409 are normal. 403: a Role of the chart is missing or was changed.',
          kind: 'stack',
          unit: 'ops',
          queries: [
            {
              expr: sum(
                'verb, resource, outcome',
                rate(own('pressroom_kubernetes_requests_total')),
              ),
              legend: '{{verb}} {{resource}} {{outcome}}',
            },
          ],
        },
        {
          title: 'Watch restarts',
          description:
            'Restarted watches by resource, without regular timeouts of the API server. Healthy: none, or a few during an upgrade of the API server. Many per minute: a proxy closes long connections.',
          kind: 'bars',
          unit: 'short',
          queries: [sumBy('resource', increase(own('pressroom_kubernetes_watch_restarts_total')))],
        },
        {
          title: 'Load data age',
          description:
            'Age of the newest load that the leader read from Prometheus. Healthy: below 10 s. Higher: pools keep their size. Check PRESSROOM_PROMETHEUS_URL, the NetworkPolicy and the PodMonitors.',
          kind: 'line',
          unit: 's',
          limit: 30,
          queries: [maxBy('namespace, pod', own('pressroom_metrics_age_seconds'))],
        },
        {
          title: 'Prometheus queries by outcome',
          description: 'Healthy: only ok. The controller logs the message of each first error.',
          kind: 'stack',
          unit: 'ops',
          width: 12,
          queries: [sumBy('outcome', rate(own('pressroom_prometheus_queries_total')))],
        },
        {
          title: 'Prometheus latency, p95',
          description:
            'Healthy: below 100 ms. After a few seconds the query times out and pools keep their size.',
          kind: 'line',
          unit: 's',
          width: 12,
          queries: quantiles(
            'pressroom_prometheus_query_duration_seconds',
            CHOSEN_NAMESPACE,
            [0.95],
          ),
        },
      ],
    },
    {
      title: 'MongoDB (seen by the API)',
      panels: [
        {
          title: 'Operation latency, p95',
          description:
            'Every render waits for admit and settle. Healthy: both below 20 ms. All operations slow: the primary needs more CPU, disk or cache. Only settle and renew slow: write concern majority waits for a lagging secondary.',
          kind: 'line',
          unit: 's',
          queries: [p95By('operation', MONGODB, CHOSEN)],
        },
        {
          title: 'Operations by outcome',
          description:
            'Healthy: only ok. timeout and error for a few seconds are an election. If they continue for a minute, renders fail with the reason database.',
          kind: 'stack',
          unit: 'ops',
          queries: [sumBy('outcome', rate(chosen(`${MONGODB}_count`)))],
        },
        {
          title: 'Connections',
          description:
            'Connections of all API pods. Healthy: far more idle than in use. Waiting operations above 0 for long: MongoDB is too slow for the request rate.',
          kind: 'line',
          unit: 'short',
          queries: [
            sumBy('state', chosen('pressroom_mongodb_connections')),
            {
              expr: sum('', chosen('pressroom_mongodb_waiting_operations')),
              legend: 'waiting operations',
            },
          ],
        },
        {
          title: 'Pending lease writes',
          description:
            'Settlements and releases that are retried until MongoDB accepts them. Healthy: 0. After nine minutes a settlement is dropped and its render is not counted.',
          kind: 'line',
          unit: 'short',
          queries: [sumBy('operation', chosen('pressroom_lease_writes_waiting'))],
        },
        {
          title: 'Leases held',
          description:
            'Admitted renders that have not ended, in all API pods. Healthy: equal to claimed slots plus queue on the dashboard Capacity.',
          kind: 'line',
          unit: 'short',
          queries: [sumBy('namespace, pool', chosen('pressroom_leases_held'))],
        },
        {
          title: 'Lost leases',
          description:
            'Leases lost during a render by reason; each aborted its render. Healthy: none. not_renewed: MongoDB did not respond for longer than a lease lasts. gone: the lease was deleted, or the database was restored.',
          kind: 'bars',
          unit: 'short',
          queries: [sumBy('reason', increase(chosen('pressroom_leases_lost_total')))],
        },
      ],
    },
  ],
};
