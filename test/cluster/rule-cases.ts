// For each alert of the chart: series with which it must fire, and series with which it must not.
// Other series have the values of a healthy service.
import {
  api,
  asyncOldest,
  BEFORE,
  type Course,
  condition,
  DAY,
  deaths,
  errors,
  forever,
  HEALTHY,
  HOUR,
  leader,
  mongodb,
  OF,
  ofPool,
  outcome,
  queuedWithin,
  settles,
  since,
  uncounted,
  until,
  wholeWithin,
} from './rule-series.ts';

export interface RuleCase {
  /** The title of the test. */
  title: string;
  /** Sample and evaluation interval in minutes (default: 1). */
  stepMin?: number;
  /** Time of the evaluation in minutes after the first sample. */
  atMin: number;
  /**
   * Overrides series of a healthy service. Text is in promtool notation; `gone` removes a series.
   */
  series: Record<string, Course | 'gone'>;
  /** Exactly these alerts fire. */
  firing: { alert: string; labels?: Record<string, string> }[];
}

/** Alerts on causes need no history. */
const SOON = 30;

const burn = (name: string, window: string) => ({ alert: name, labels: { ...OF, window } });
const AVAILABILITY = 'PressroomAvailabilityBudgetBurn';
const of = (alert: string, labels: Record<string, string> = OF) => ({ alert, labels });

const sized = (desired: number, ready: number): Record<string, Course> => ({
  [ofPool('pressroom_pool_desired_pods')]: desired,
  [ofPool('pressroom_pool_ready_pods')]: ready,
});

export const cases: RuleCase[] = [
  { title: 'do not fire in a healthy service', atMin: 2 * HOUR, series: {}, firing: [] },
  {
    title: 'page if a third of renders fails for some minutes',
    atMin: BEFORE + 8,
    series: { [outcome('internal')]: since(BEFORE, 30) },
    firing: [burn(AVAILABILITY, '1h')],
  },
  {
    title: 'count every failure reason of the service',
    atMin: BEFORE + 8,
    series: {
      [outcome('no_worker')]: since(BEFORE, 15),
      [outcome('overloaded')]: since(BEFORE, 15),
    },
    firing: [burn(AVAILABILITY, '1h')],
  },
  {
    title: 'do not fire for failing pages, plan limits and client disconnects',
    atMin: BEFORE + HOUR,
    series: {
      [outcome('page_status')]: since(BEFORE, 60),
      [outcome('concurrency_limit')]: since(BEFORE, 600),
      [outcome('client_closed')]: since(BEFORE, 60),
    },
    firing: [],
  },
  {
    title: 'detect failures among many rejected requests',
    atMin: BEFORE + 8,
    series: {
      [outcome('internal')]: since(BEFORE, 30),
      [outcome('concurrency_limit')]: forever(6_000),
    },
    firing: [burn(AVAILABILITY, '1h')],
  },
  {
    title: 'page if 1 % of renders fails for hours',
    stepMin: 4,
    atMin: 3 * DAY + 5 * HOUR,
    series: {
      [outcome('internal')]: since(3 * DAY, 0.6, 5 * HOUR),
    },
    firing: [burn(AVAILABILITY, '6h')],
  },
  {
    title: 'warn if 0.2 % of renders fails for days',
    stepMin: 4,
    atMin: 3 * DAY + 2 * HOUR,
    series: { [outcome('internal')]: forever(0.12) },
    firing: [burn(AVAILABILITY, '3d')],
  },
  {
    title: 'do not page for two failures in four renders',
    atMin: HOUR,
    series: {
      [outcome('ok')]: since(20, 1, 2),
      [outcome('internal')]: since(30, 1, 2),
      [outcome('page_status')]: 'gone',
    },
    firing: [],
  },
  {
    title: 'page for failures that last five minutes',
    atMin: BEFORE + 8,
    series: { [outcome('internal')]: since(BEFORE, 16, 5) },
    firing: [burn(AVAILABILITY, '1h')],
  },
  {
    title: 'resolve soon after failures end',
    atMin: BEFORE + 15,
    series: { [outcome('internal')]: since(BEFORE, 16, 5) },
    firing: [],
  },
  {
    title: 'page if half of renders exceeds the queue time threshold',
    atMin: BEFORE + 25,
    series: { [queuedWithin('1')]: until(BEFORE, 60, 30) },
    firing: [burn('PressroomQueueWaitBudgetBurn', '1h')],
  },
  {
    title: 'match bucket labels of Prometheus 3',
    atMin: BEFORE + 25,
    series: {
      [queuedWithin('1')]: 'gone',
      [queuedWithin('1.0')]: until(BEFORE, 60, 30),
      [wholeWithin('10')]: 'gone',
      [wholeWithin('10.0')]: forever(59),
    },
    firing: [burn('PressroomQueueWaitBudgetBurn', '1h')],
  },
  {
    title: 'page if all renders exceed the render duration threshold',
    atMin: BEFORE + HOUR,
    series: {
      [wholeWithin('10')]: until(BEFORE, 60),
    },
    firing: [burn('PressroomRenderTimeBudgetBurn', '1h')],
  },
  {
    title: 'fire if no API is scraped',
    atMin: 30,
    series: Object.fromEntries(
      Object.keys(HEALTHY)
        .filter(name => name.startsWith('pressroom_renders_total'))
        .map(name => [name, 'gone']),
    ),
    firing: [of('PressroomNotScraped', { ...OF, severity: 'critical' })],
  },
  {
    title: 'do not fire for one missing API pod',
    atMin: 30,
    series: { [outcome('ok')]: 'gone', [outcome('internal')]: 'gone' },
    firing: [],
  },
  {
    title: 'fire if MongoDB does not respond',
    atMin: SOON + 6,
    series: { [mongodb('admit', 'timeout')]: since(SOON, 60) },
    firing: [of('PressroomMongoDBFailing')],
  },
  {
    title: 'tolerate a MongoDB election',
    atMin: SOON + 3,
    series: {
      [mongodb('admit', 'timeout')]: since(SOON, 60, 1),
    },
    firing: [],
  },
  {
    title: 'fire if MongoDB is slow',
    atMin: SOON + 20,
    series: {
      [mongodb('admit', 'ok', 'bucket', '0.01')]: until(SOON, 60),
    },
    firing: [of('PressroomMongoDBSlow')],
  },
  {
    title: 'ignore slow lease renewals',
    atMin: HOUR,
    series: {
      [mongodb('renew', 'ok', 'bucket', '0.01')]: forever(0),
      [mongodb('renew', 'ok', 'bucket', '1')]: forever(60),
      [mongodb('renew', 'ok', 'bucket', '+Inf')]: forever(60),
    },
    firing: [],
  },
  {
    title: 'fire if settlements are delayed',
    atMin: 10,
    series: { [settles]: 3 },
    firing: [of('PressroomSettlementsWaiting')],
  },
  {
    title: 'fire if renders are not counted',
    atMin: SOON + 5,
    series: {
      [uncounted]: since(SOON, 2, 1),
    },
    firing: [of('PressroomRendersUncounted', { ...OF, reason: 'given_up' })],
  },
  {
    title: 'fire if a pool is at maxReplicas with queued renders',
    atMin: 15,
    series: { ...sized(10, 10), [api('pressroom_queue_depth')]: 4 },
    firing: [of('PressroomPoolAtMax')],
  },
  {
    title: 'do not fire for a pool at maxReplicas without queued renders',
    atMin: 30,
    series: sized(10, 10),
    firing: [],
  },
  {
    title: 'do not fire for queued renders while the pool can grow',
    atMin: 30,
    series: { [api('pressroom_queue_depth')]: 4 },
    firing: [],
  },
  {
    title: 'fire if asynchronous renders that may run wait for long',
    atMin: 15,
    series: { [asyncOldest]: 700 },
    firing: [of('PressroomAsyncRendersWaiting')],
  },
  {
    title: 'do not fire for asynchronous renders that wait for minutes',
    atMin: 30,
    series: { [asyncOldest]: 500 },
    firing: [],
  },
  {
    title: 'fire if pods do not become ready',
    atMin: 30,
    series: sized(5, 3),
    firing: [of('PressroomPodsNotReady')],
  },
  { title: 'allow pods time to start', atMin: 12, series: sized(5, 3), firing: [] },
  {
    title: 'fire if the load is unknown',
    atMin: 10,
    series: { [condition('MetricsAvailable', 'False')]: 1 },
    firing: [of('PressroomAutoscalerBlind')],
  },
  {
    title: 'ignore an unknown load of a pool with a fixed size',
    atMin: 30,
    series: {
      [condition('MetricsAvailable', 'False')]: 1,
      [ofPool('pressroom_pool_autoscaled')]: 0,
    },
    firing: [],
  },
  {
    title: 'fire for a pod whose Chrome crashes repeatedly',
    atMin: SOON + 20,
    series: { [deaths]: since(SOON, 1) },
    firing: [of('PressroomChromeCrashLoop', { ...OF, pod: 'workers-1' })],
  },
  {
    title: 'tolerate occasional Chrome crashes in many pods',
    atMin: SOON + HOUR,
    series: Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [
        `pressroom_chrome_deaths_total{namespace="pressroom",pool="pressroom",pod="workers-${index}",reason="exited"}`,
        since(SOON, 0.2),
      ]),
    ),
    firing: [],
  },
  {
    title: 'fire if Chrome has no sandbox',
    atMin: 10,
    series: { [condition('ChromeSandboxed', 'False')]: 1 },
    firing: [of('PressroomChromeUnsandboxed')],
  },
  {
    title: 'fire without a leader',
    atMin: 10,
    series: { [leader]: 0 },
    firing: [of('PressroomNoLeader', { namespace: 'pressroom' })],
  },
  {
    title: 'fire without any controller',
    atMin: 10,
    series: { [leader]: 'gone' },
    firing: [of('PressroomNoLeader', { namespace: 'pressroom' })],
  },
  {
    title: 'fire if reconciliations fail',
    atMin: SOON + 40,
    series: { [errors]: since(SOON, 0.5) },
    firing: [of('PressroomReconcileErrors', { namespace: 'pressroom' })],
  },
  {
    title: 'tolerate a single failed reconciliation',
    atMin: SOON + 20,
    series: {
      [errors]: since(SOON, 1, 1),
    },
    firing: [],
  },
  {
    title: 'ignore other releases, even in the same namespace',
    atMin: SOON + HOUR,
    series: Object.fromEntries(
      Object.entries({
        [outcome('internal')]: since(SOON, 60),
        [mongodb('admit', 'timeout')]: since(SOON, 60),
        [settles]: 5,
        [uncounted]: since(SOON, 1),
        [deaths]: since(SOON, 5),
        [condition('ChromeSandboxed', 'False')]: 1,
        [condition('MetricsAvailable', 'False')]: 1,
        [ofPool('pressroom_pool_desired_pods')]: 9,
        [ofPool('pressroom_pool_ready_pods')]: 2,
      }).map(([name, course]) => [name.replace('pool="pressroom"', 'pool="another"'), course]),
    ),
    firing: [],
  },
];
