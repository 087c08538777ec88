// The few alerts on causes: problems that will soon affect users, or that only the administrator
// can see.
import { alert, mine, OF_NAMESPACE, OF_RELEASE, POOL } from './alert.ts';
import { max, sum } from './queries.ts';
import type { Alert } from './rules.ts';

const WHO = '{{ $labels.namespace }}/{{ $labels.pool }}';
const MONGODB = 'pressroom_mongodb_operation_duration_seconds';
/** During a leader change two controllers may report the same pool. */
const reported = (name: string, more = '') => max(POOL, mine(name, more));
const condition = (type: string, status: string) =>
  `${reported('pressroom_pool_condition', `type="${type}",status="${status}"`)} == 1`;

export const serviceAlerts: Alert[] = [
  alert({
    // The only alert that fires when the whole API is down, since no render is left that could
    // fail.
    name: 'PressroomNotScraped',
    severity: 'critical',
    lasting: '10m',
    expr: `absent(pressroom_renders_total{${OF_RELEASE}})`,
    summary: `Prometheus has no API metrics of ${WHO}.`,
    description:
      'Either no API pod is running and all requests fail, or Prometheus cannot scrape them. Other alerts cannot fire and the pool is not scaled. Check the API pods, then the PodMonitors.',
  }),
  alert({
    name: 'PressroomMongoDBFailing',
    severity: 'critical',
    lasting: '2m',
    expr: `${sum(POOL, `rate(${mine(`${MONGODB}_count`, 'outcome!="ok"')}[2m])`)} / ${sum(POOL, `rate(${mine(`${MONGODB}_count`)}[2m])`)} > 0.1`,
    summary: `MongoDB operations of the API of ${WHO} fail.`,
    description:
      '{{ $value | humanizePercentage }} of the operations failed or timed out. Without MongoDB all new renders fail. Check the replica set and the API logs.',
  }),
  alert({
    name: 'PressroomMongoDBSlow',
    severity: 'warning',
    lasting: '10m',
    expr: `histogram_quantile(0.95, ${sum(`${POOL}, le`, `rate(${mine(`${MONGODB}_bucket`, 'operation=~"admit|settle"')}[5m])`)}) > 0.25`,
    summary: `MongoDB is slow for the API of ${WHO}.`,
    description:
      'The p95 of admit and settle is {{ $value | humanizeDuration }}, which delays every render. Check the load and the replication lag of MongoDB.',
  }),
  alert({
    name: 'PressroomSettlementsWaiting',
    severity: 'warning',
    lasting: '3m',
    expr: `${sum(POOL, mine('pressroom_lease_writes_waiting', 'operation="settle"'))} > 0`,
    summary: `Delivered renders of ${WHO} are waiting to be counted.`,
    description:
      '{{ $value }} settlements are waiting for MongoDB. After nine minutes of retries their renders are never counted. Restore MongoDB and do not restart API pods before.',
  }),
  alert({
    name: 'PressroomRendersUncounted',
    severity: 'warning',
    lasting: '0m',
    expr: `${sum(`${POOL}, reason`, `increase(${mine('pressroom_renders_uncounted_total')}[15m])`)} > 0`,
    summary: `Delivered renders of ${WHO} were not counted.`,
    description:
      '{{ $value | humanize }} renders in 15 minutes were delivered but not counted (reason {{ $labels.reason }}), so accounts pay for fewer renders. Find the accounts in the API logs.',
  }),
];

export const poolAlerts: Alert[] = [
  alert({
    name: 'PressroomPoolAtMax',
    severity: 'warning',
    lasting: '5m',
    expr: `${reported('pressroom_pool_desired_pods')} >= ${reported('pressroom_pool_max_pods')} and ${sum(POOL, `avg_over_time(${mine('pressroom_queue_depth')}[5m])`)} >= 1`,
    summary: `Pool ${WHO} is at its maximum size and renders are queued.`,
    description:
      'The pool cannot grow beyond {{ $value }} pods, and renders have been queued for five minutes. After PRESSROOM_QUEUE_TIMEOUT they fail with no_worker. Raise scaling.maxReplicas.',
  }),
  alert({
    // The minimum, because an account at its limit briefly has a free lease between two renders.
    name: 'PressroomAsyncRendersWaiting',
    severity: 'warning',
    lasting: '5m',
    expr: `${max(POOL, `min_over_time(${mine('pressroom_async_oldest_wait_seconds')}[5m])`)} > 600`,
    summary: `Asynchronous renders of ${WHO} do not start.`,
    description:
      'A render that its account may run now has waited for {{ $value | humanizeDuration }}. Synchronous renders go first, so the pool may be too small. Check the pool size and the API logs.',
  }),
  alert({
    name: 'PressroomPodsNotReady',
    severity: 'warning',
    lasting: '15m',
    expr: `${reported('pressroom_pool_desired_pods')} - ${reported('pressroom_pool_ready_pods')} > 0`,
    summary: `Pods of pool ${WHO} are not ready.`,
    description:
      'For 15 minutes {{ $value }} pods fewer than desired have been ready, so renders may queue. Run kubectl describe bpool to see the cause.',
  }),
  alert({
    name: 'PressroomAutoscalerBlind',
    severity: 'warning',
    lasting: '5m',
    expr: `(${condition('MetricsAvailable', 'False')}) and (${reported('pressroom_pool_autoscaled')} == 1)`,
    summary: `The controller cannot read the load of ${WHO}.`,
    description:
      'The pool keeps its size and does not follow the load. Check that the controller can reach Prometheus and that the PodMonitors are scraped.',
  }),
  alert({
    name: 'PressroomChromeCrashLoop',
    severity: 'warning',
    lasting: '5m',
    expr: `${sum(`${POOL}, pod`, `increase(${mine('pressroom_chrome_deaths_total', 'reason!~"memory|flooded"')}[15m])`)} > 5`,
    summary: `Chrome keeps crashing in pod {{ $labels.pod }} of ${WHO}.`,
    description:
      'Chrome died {{ $value | humanize }} times in 15 minutes, not because of its pages. Affected renders are retried once and then fail with worker_lost. Check the logs of the pod.',
  }),
  alert({
    name: 'PressroomChromeUnsandboxed',
    severity: 'warning',
    lasting: '5m',
    expr: condition('ChromeSandboxed', 'False'),
    summary: `Chrome has no working sandbox in pool ${WHO}.`,
    description:
      'Either the sandbox is switched off, and a page that exploits its renderer controls the pod, or workers do not start because the nodes block the sandbox. Install the seccomp profile on all nodes.',
  }),
];

export const controllerAlerts: Alert[] = [
  alert({
    name: 'PressroomNoLeader',
    severity: 'critical',
    lasting: '2m',
    expr: `${sum('namespace', `pressroom_controller_leader{${OF_NAMESPACE}}`)} == 0 or absent(pressroom_controller_leader{${OF_NAMESPACE}})`,
    summary: 'No controller is the leader in {{ $labels.namespace }}.',
    description:
      'Renders continue on the existing pods, but pools are neither scaled nor repaired. Check the controller pods and their Lease.',
  }),
  alert({
    name: 'PressroomReconcileErrors',
    severity: 'warning',
    lasting: '15m',
    expr: `${sum('namespace', `increase(pressroom_reconcile_duration_seconds_count{${OF_NAMESPACE},outcome="error"}[15m])`)} > 2`,
    summary: 'The controller in {{ $labels.namespace }} cannot update its pools.',
    description:
      '{{ $value | humanize }} reconciles failed in 15 minutes, so changes of a BrowserPool may not be applied. Run kubectl describe bpool to see the error.',
  }),
];
