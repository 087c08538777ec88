// The alerts on causes, few of them: what will hurt users soon, or what they cannot see but the
// operator must know.
import { alert, mine, OF_NAMESPACE, OF_RELEASE, POOL } from './alert.ts';
import { max, sum } from './queries.ts';
import type { Alert } from './rules.ts';

const WHO = '{{ $labels.namespace }}/{{ $labels.pool }}';
const MONGODB = 'pressroom_mongodb_operation_duration_seconds';
/** Two controllers may tell of a pool for a moment while they change over. */
const reported = (name: string, more = '') => max(POOL, mine(name, more));
const condition = (type: string, status: string) =>
  `${reported('pressroom_pool_condition', `type="${type}",status="${status}"`)} == 1`;

export const serviceAlerts: Alert[] = [
  alert({
    // Of an API that is down altogether there are no renders left that could fail: this alone tells
    // of it.
    name: 'PressroomNotScraped',
    severity: 'critical',
    lasting: '10m',
    expr: `absent(pressroom_renders_total{${OF_RELEASE}})`,
    summary: `Prometheus has no metrics of the API of ${WHO}.`,
    description:
      'No API pod has been scraped: either none runs, and nothing is rendered, or Prometheus does not reach them. None of the other alerts can fire, and the pool is not scaled.',
  }),
  alert({
    name: 'PressroomMongoDBFailing',
    severity: 'critical',
    lasting: '2m',
    expr: `${sum(POOL, `rate(${mine(`${MONGODB}_count`, 'outcome!="ok"')}[2m])`)} / ${sum(POOL, `rate(${mine(`${MONGODB}_count`)}[2m])`)} > 0.1`,
    summary: `MongoDB does not answer the API of ${WHO}.`,
    description:
      '{{ $value | humanizePercentage }} of the operations failed or had no answer in time. Without MongoDB no render is admitted.',
  }),
  alert({
    name: 'PressroomMongoDBSlow',
    severity: 'warning',
    lasting: '10m',
    expr: `histogram_quantile(0.95, ${sum(`${POOL}, le`, `rate(${mine(`${MONGODB}_bucket`, 'operation=~"admit|settle"')}[5m])`)}) > 0.25`,
    summary: `MongoDB is slow for the API of ${WHO}.`,
    description:
      'One operation in twenty that a render waits for (admit, settle) takes longer than {{ $value | humanizeDuration }}.',
  }),
  alert({
    name: 'PressroomSettlementsWaiting',
    severity: 'warning',
    lasting: '3m',
    expr: `${sum(POOL, mine('pressroom_lease_writes_waiting', 'operation="settle"'))} > 0`,
    summary: `Delivered renders of ${WHO} cannot be counted at the moment.`,
    description:
      '{{ $value }} settlements wait for MongoDB. Each is tried for nine minutes and then given up: its render is never counted.',
  }),
  alert({
    name: 'PressroomRendersUncounted',
    severity: 'warning',
    lasting: '0m',
    expr: `${sum(`${POOL}, reason`, `increase(${mine('pressroom_renders_uncounted_total')}[15m])`)} > 0`,
    summary: `Delivered renders of ${WHO} are missing in the count.`,
    description:
      '{{ $value | humanize }} renders within 15 minutes were delivered and could not be counted ({{ $labels.reason }}).',
  }),
];

export const poolAlerts: Alert[] = [
  alert({
    name: 'PressroomPoolAtMax',
    severity: 'warning',
    lasting: '5m',
    expr: `${reported('pressroom_pool_desired_pods')} >= ${reported('pressroom_pool_max_pods')} and ${sum(POOL, `avg_over_time(${mine('pressroom_queue_depth')}[5m])`)} >= 1`,
    summary: `The pool ${WHO} is as large as it may be, and renders wait.`,
    description:
      'All {{ $value }} pods that scaling.maxReplicas allows are wanted, and the queue has not been empty for five minutes.',
  }),
  alert({
    name: 'PressroomPodsNotReady',
    severity: 'warning',
    lasting: '15m',
    expr: `${reported('pressroom_pool_desired_pods')} - ${reported('pressroom_pool_ready_pods')} > 0`,
    summary: `Pods of the pool ${WHO} do not become ready.`,
    description: '{{ $value }} pods have been missing for 15 minutes.',
  }),
  alert({
    name: 'PressroomAutoscalerBlind',
    severity: 'warning',
    lasting: '5m',
    expr: `(${condition('MetricsAvailable', 'False')}) and (${reported('pressroom_pool_autoscaled')} == 1)`,
    summary: `The controller does not know the load of ${WHO}.`,
    description: 'The size of the pool is held: it neither grows with the load nor shrinks.',
  }),
  alert({
    name: 'PressroomChromeCrashLoop',
    severity: 'warning',
    lasting: '5m',
    expr: `${sum(`${POOL}, pod`, `increase(${mine('pressroom_chrome_deaths_total', 'reason!~"memory|flooded"')}[15m])`)} > 5`,
    summary: `Chrome dies again and again in {{ $labels.pod }} of ${WHO}.`,
    description:
      'It died {{ $value | humanize }} times within 15 minutes, not through its pages. Its renders are retried elsewhere once, and fail the second time.',
  }),
  alert({
    name: 'PressroomChromeUnsandboxed',
    severity: 'warning',
    lasting: '5m',
    expr: condition('ChromeSandboxed', 'False'),
    summary: `Chrome runs without its sandbox in the pool ${WHO}, or does not start with it.`,
    description:
      'The sandbox is switched off, or the nodes do not let it work: a page that breaks out of its renderer would have the whole pod.',
  }),
];

export const controllerAlerts: Alert[] = [
  alert({
    name: 'PressroomNoLeader',
    severity: 'critical',
    lasting: '2m',
    expr: `${sum('namespace', `pressroom_controller_leader{${OF_NAMESPACE}}`)} == 0 or absent(pressroom_controller_leader{${OF_NAMESPACE}})`,
    summary: 'No controller acts in {{ $labels.namespace }}.',
    description: 'Renders go on with the pods that there are, but no pool is scaled or mended.',
  }),
  alert({
    name: 'PressroomReconcileErrors',
    severity: 'warning',
    lasting: '15m',
    expr: `${sum('namespace', `increase(pressroom_reconcile_duration_seconds_count{${OF_NAMESPACE},outcome="error"}[15m])`)} > 2`,
    summary: 'The controller in {{ $labels.namespace }} fails to write what pools need.',
    description:
      '{{ $value | humanize }} attempts failed within 15 minutes. What was changed in a BrowserPool may not have been done.',
  }),
];
