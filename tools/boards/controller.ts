// The board "Controller and dependencies": does somebody look after the pools, and do Prometheus,
// MongoDB and the Kubernetes API answer?
import type { Board } from './grafana.ts';
import { CHOSEN, CHOSEN_NAMESPACE, increase, max, quantile, rate, sum, WINDOW } from './queries.ts';

const chosen = (name: string, more = '') => `${name}{${CHOSEN}${more && `,${more}`}}`;
/** Of the controller's own pods. */
const own = (name: string, more = '') => `${name}{${CHOSEN_NAMESPACE}${more && `,${more}`}}`;
const MONGODB = 'pressroom_mongodb_operation_duration_seconds';

export const controller: Board = {
  uid: 'pressroom-controller',
  title: 'Pressroom / Controller and dependencies',
  description:
    'Does somebody look after the pools, and do Prometheus, MongoDB and the Kubernetes API answer?',
  rows: [
    {
      title: 'Controller',
      panels: [
        {
          title: 'Leader',
          description:
            'Which of the controllers acts. Good: exactly one line at 1. None: kubectl logs of the controller pods, and the Lease (kubectl get lease). Renders go on without a controller, but no pool changes its size and no dead pool is mended.',
          kind: 'line',
          unit: 'short',
          queries: [
            {
              expr: max('namespace, pod', own('pressroom_controller_leader')),
              legend: '{{namespace}}/{{pod}}',
            },
          ],
        },
        {
          title: 'Reconciles by outcome',
          description:
            'How often a pool was looked at. conflict now and then is normal. A steady error: kubectl describe bpool shows the condition Ready with the sentence of the API server.',
          kind: 'stack',
          unit: 'ops',
          queries: [
            {
              expr: sum('outcome', rate(own('pressroom_reconcile_duration_seconds_count'))),
              legend: '{{outcome}}',
            },
          ],
        },
        {
          title: 'Duration of reconciles',
          description:
            'Good: p95 below 100 ms. It is mostly the Kubernetes API: compare with "Calls to Kubernetes".',
          kind: 'line',
          unit: 's',
          queries: [0.5, 0.95, 0.99].map(q => ({
            expr: quantile(q, 'pressroom_reconcile_duration_seconds', CHOSEN_NAMESPACE),
            legend: `p${q * 100}`,
          })),
        },
        {
          title: 'Work queue',
          description:
            'Pools that wait to be looked at. Good: near 0. A rising line: more pools than the controller or the API server can take.',
          kind: 'line',
          unit: 'short',
          queries: [
            {
              expr: max('namespace, pod', own('pressroom_work_queue_depth')),
              legend: '{{namespace}}/{{pod}}',
            },
          ],
        },
        {
          title: 'Wait in the work queue, p99',
          description: 'Good: below a second. This delays every decision about the size of a pool.',
          kind: 'line',
          unit: 's',
          queries: [
            {
              expr: quantile(0.99, 'pressroom_work_queue_wait_seconds', CHOSEN_NAMESPACE),
              legend: 'p99',
            },
          ],
        },
        {
          title: 'Releases that run',
          description:
            'Processes by release and protocol. Good: one release, two while an upgrade is under way. API and workers of neighbouring releases understand each other; older ones do not.',
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
          title: 'Memory of the controllers',
          description:
            'For each controller pod. Good: flat; it grows with the number of pools and pods, by some kilobytes for each. A line that rises for hours is a leak: report it with the release.',
          kind: 'line',
          unit: 'bytes',
          queries: [
            {
              expr: max(
                'namespace, pod',
                `${own('process_resident_memory_bytes')} and on (namespace, pod) ${own('pressroom_controller_leader')}`,
              ),
              legend: '{{namespace}}/{{pod}}',
            },
          ],
        },
        {
          title: 'Restarts in the same pod',
          description:
            'Processes of API, workers and controllers that began anew in a pod that was there before. Good: none; upgrades and scaling make new pods and do not count. kubectl get pods shows which pod restarts, and its log with --previous why.',
          kind: 'bars',
          unit: 'short',
          queries: [
            {
              expr: sum(
                'namespace',
                `changes(${own('process_start_time_seconds')}[${WINDOW}]) and on (namespace, pod) ${own('pressroom_build_info')}`,
              ),
              legend: '{{namespace}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Kubernetes API and Prometheus, as the controller sees them',
      panels: [
        {
          title: 'Calls to Kubernetes',
          description:
            'By what they did and how they ended: ok, the status, or no_answer. Good: a few a second at most, and hardly any but ok. 409 now and then is normal. 403: a Role of the chart is missing or was changed.',
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
          title: 'Watches begun again',
          description:
            'By resource; those that the API server ends in their time do not count. Good: none, or a few when the API server is upgraded. Many a minute: something between cuts long connections.',
          kind: 'bars',
          unit: 'short',
          queries: [
            {
              expr: sum('resource', increase(own('pressroom_kubernetes_watch_restarts_total'))),
              legend: '{{resource}}',
            },
          ],
        },
        {
          title: 'Age of the load',
          description:
            'How old the newest load is that the leader read from Prometheus. Good: below 10 s. Higher: sizes are held, nothing grows or shrinks. Check PRESSROOM_PROMETHEUS_URL, the NetworkPolicy and the PodMonitors.',
          kind: 'line',
          unit: 's',
          limit: 30,
          queries: [
            {
              expr: max('namespace, pod', own('pressroom_metrics_age_seconds')),
              legend: '{{namespace}}/{{pod}}',
            },
          ],
        },
        {
          title: 'Questions to Prometheus by outcome',
          description: 'Good: only ok. The controller logs the sentence of each first error.',
          kind: 'stack',
          unit: 'ops',
          width: 12,
          queries: [
            {
              expr: sum('outcome', rate(own('pressroom_prometheus_queries_total'))),
              legend: '{{outcome}}',
            },
          ],
        },
        {
          title: 'Answer time of Prometheus, p95',
          description:
            'Good: below 100 ms. Above some seconds the controller gives up and holds the sizes.',
          kind: 'line',
          unit: 's',
          width: 12,
          queries: [
            {
              expr: quantile(0.95, 'pressroom_prometheus_query_duration_seconds', CHOSEN_NAMESPACE),
              legend: 'p95',
            },
          ],
        },
      ],
    },
    {
      title: 'MongoDB, as the API sees it',
      panels: [
        {
          title: 'Answer time by operation, p95',
          description:
            'A render waits for admit and settle, so they should be below 20 ms. All of them slow: the primary lacks CPU, disk or cache. Only settle and renew slow: write concern majority waits for a secondary that lags.',
          kind: 'line',
          unit: 's',
          queries: [
            { expr: quantile(0.95, MONGODB, CHOSEN, 'operation'), legend: '{{operation}}' },
          ],
        },
        {
          title: 'Operations by outcome',
          description:
            'Good: only ok. timeout and error for some seconds are an election; longer than a minute nobody can be admitted, and calls fail with the reason database.',
          kind: 'stack',
          unit: 'ops',
          queries: [
            { expr: sum('outcome', rate(chosen(`${MONGODB}_count`))), legend: '{{outcome}}' },
          ],
        },
        {
          title: 'Connections',
          description:
            'Of all API pods. Good: far more idle than in use. Waiting operations above 0 for long: MongoDB is slower than the calls come.',
          kind: 'line',
          unit: 'short',
          queries: [
            { expr: sum('state', chosen('pressroom_mongodb_connections')), legend: '{{state}}' },
            {
              expr: sum('', chosen('pressroom_mongodb_waiting_operations')),
              legend: 'waiting operations',
            },
          ],
        },
        {
          title: 'Writes that are tried again',
          description:
            'Settlements and releases that MongoDB has not taken yet. Good: 0. A settlement that is not taken within nine minutes is lost, and its render is not counted.',
          kind: 'line',
          unit: 'short',
          queries: [
            {
              expr: sum('operation', chosen('pressroom_lease_writes_waiting')),
              legend: '{{operation}}',
            },
          ],
        },
        {
          title: 'Leases held',
          description:
            'Renders that are admitted and not over, in all API pods. Good: it follows "Slots" and "Queue" of Capacity.',
          kind: 'line',
          unit: 'short',
          queries: [
            {
              expr: sum('namespace, pool', chosen('pressroom_leases_held')),
              legend: '{{namespace}}/{{pool}}',
            },
          ],
        },
        {
          title: 'Leases lost while their render ran',
          description:
            'By why; each ended its render. Good: none. not_renewed: MongoDB was silent for longer than a lease lasts. gone: somebody removed it, or the database was restored.',
          kind: 'bars',
          unit: 'short',
          queries: [
            {
              expr: sum('reason', increase(chosen('pressroom_leases_lost_total'))),
              legend: '{{reason}}',
            },
          ],
        },
      ],
    },
  ],
};
