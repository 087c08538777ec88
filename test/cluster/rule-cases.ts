// For each alert of the chart: series with which it must fire, and series with which it must not.
// What is not said is as in a service that is well.
import {
  api,
  BEFORE,
  type Course,
  condition,
  DAY,
  deaths,
  errors,
  forever,
  HOUR,
  leader,
  mongodb,
  OF,
  outcome,
  queuedWithin,
  settles,
  since,
  told,
  uncounted,
  until,
  WELL,
  wholeWithin,
} from './rule-series.ts';

export interface RuleCase {
  /** Completes "it …". */
  title: string;
  /** Between two samples and two evaluations, in minutes (default: 1); days go with fewer. */
  stepMin?: number;
  /** When it is looked, in minutes from the first sample. */
  atMin: number;
  /**
   * Over those of a service that is well; by series. A text is promtool's own notation, `gone`
   * takes the series away.
   */
  series: Record<string, Course | 'gone'>;
  /** Exactly these fire then. */
  firing: { alert: string; labels?: Record<string, string> }[];
}

/** Causes need no history. */
const SOON = 30;

const burn = (name: string, window: string) => ({ alert: name, labels: { ...OF, window } });
const AVAILABILITY = 'PressroomAvailabilityBudgetBurn';
const of = (alert: string, labels: Record<string, string> = OF) => ({ alert, labels });

const sized = (desired: number, ready: number): Record<string, Course> => ({
  [told('pressroom_pool_desired_pods')]: desired,
  [told('pressroom_pool_ready_pods')]: ready,
});

export const cases: RuleCase[] = [
  { title: 'is silent when all is well', atMin: 2 * HOUR, series: {}, firing: [] },
  {
    title: 'pages when a third of the renders fails for some minutes',
    atMin: BEFORE + 8,
    series: { [outcome('internal')]: since(BEFORE, 30) },
    firing: [burn(AVAILABILITY, '1h')],
  },
  {
    title: 'counts every reason that is ours',
    atMin: BEFORE + 8,
    series: {
      [outcome('no_worker')]: since(BEFORE, 15),
      [outcome('overloaded')]: since(BEFORE, 15),
    },
    firing: [burn(AVAILABILITY, '1h')],
  },
  {
    title: 'is silent when pages fail, plans are full and callers leave',
    atMin: BEFORE + HOUR,
    series: {
      [outcome('page_status')]: since(BEFORE, 60),
      [outcome('concurrency_limit')]: since(BEFORE, 600),
      [outcome('client_closed')]: since(BEFORE, 60),
    },
    firing: [],
  },
  {
    title: 'is not drowned by calls that plans refuse',
    atMin: BEFORE + 8,
    series: {
      [outcome('internal')]: since(BEFORE, 30),
      [outcome('concurrency_limit')]: forever(6_000),
    },
    firing: [burn(AVAILABILITY, '1h')],
  },
  {
    title: 'pages when one render in a hundred fails for hours',
    stepMin: 4,
    atMin: 3 * DAY + 5 * HOUR,
    series: {
      [outcome('internal')]: since(3 * DAY, 0.6, 5 * HOUR),
    },
    firing: [burn(AVAILABILITY, '6h')],
  },
  {
    title: 'warns when one render in five hundred fails for days',
    stepMin: 4,
    atMin: 3 * DAY + 2 * HOUR,
    series: { [outcome('internal')]: forever(0.12) },
    firing: [burn(AVAILABILITY, '3d')],
  },
  {
    title: 'wakes nobody for two of four renders at night',
    atMin: HOUR,
    series: {
      [outcome('ok')]: since(20, 1, 2),
      [outcome('internal')]: since(30, 1, 2),
      [outcome('page_status')]: 'gone',
    },
    firing: [],
  },
  {
    title: 'pages for failures that last for five minutes',
    atMin: BEFORE + 8,
    series: { [outcome('internal')]: since(BEFORE, 16, 5) },
    firing: [burn(AVAILABILITY, '1h')],
  },
  {
    title: 'ends soon after them',
    atMin: BEFORE + 15,
    series: { [outcome('internal')]: since(BEFORE, 16, 5) },
    firing: [],
  },
  {
    title: 'pages when half of the renders waits too long',
    atMin: BEFORE + 25,
    series: { [queuedWithin('1')]: until(BEFORE, 60, 30) },
    firing: [burn('PressroomQueueWaitBudgetBurn', '1h')],
  },
  {
    title: 'reads the bucket as Prometheus 3 writes it',
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
    title: 'pages when all renders take too long',
    atMin: BEFORE + HOUR,
    series: {
      [wholeWithin('10')]: until(BEFORE, 60),
    },
    firing: [burn('PressroomRenderTimeBudgetBurn', '1h')],
  },
  {
    title: 'says that nothing is scraped',
    atMin: 30,
    series: Object.fromEntries(
      Object.keys(WELL)
        .filter(name => name.startsWith('pressroom_renders_total'))
        .map(name => [name, 'gone']),
    ),
    firing: [of('PressroomNotScraped', { ...OF, severity: 'critical' })],
  },
  {
    title: 'does not say so of one pod that is gone',
    atMin: 30,
    series: { [outcome('ok')]: 'gone', [outcome('internal')]: 'gone' },
    firing: [],
  },
  {
    title: 'says that MongoDB does not answer',
    atMin: SOON + 6,
    series: { [mongodb('admit', 'timeout')]: since(SOON, 60) },
    firing: [of('PressroomMongoDBFailing')],
  },
  {
    title: 'bears an election of MongoDB',
    atMin: SOON + 3,
    series: {
      [mongodb('admit', 'timeout')]: since(SOON, 60, 1),
    },
    firing: [],
  },
  {
    title: 'says that MongoDB is slow',
    atMin: SOON + 20,
    series: {
      [mongodb('admit', 'ok', 'bucket', '0.01')]: until(SOON, 60),
    },
    firing: [of('PressroomMongoDBSlow')],
  },
  {
    title: 'does not mind that renewals are slow, for which nobody waits',
    atMin: HOUR,
    series: {
      [mongodb('renew', 'ok', 'bucket', '0.01')]: forever(0),
      [mongodb('renew', 'ok', 'bucket', '1')]: forever(60),
      [mongodb('renew', 'ok', 'bucket', '+Inf')]: forever(60),
    },
    firing: [],
  },
  {
    title: 'says that settlements wait',
    atMin: 10,
    series: { [settles]: 3 },
    firing: [of('PressroomSettlementsWaiting')],
  },
  {
    title: 'says that renders are not counted',
    atMin: SOON + 5,
    series: {
      [uncounted]: since(SOON, 2, 1),
    },
    firing: [of('PressroomRendersUncounted', { ...OF, reason: 'given_up' })],
  },
  {
    title: 'says that a pool is at its maximum and renders wait',
    atMin: 15,
    series: { ...sized(10, 10), [api('pressroom_queue_depth')]: 4 },
    firing: [of('PressroomPoolAtMax')],
  },
  {
    title: 'is silent when a pool is at its maximum and nobody waits',
    atMin: 30,
    series: sized(10, 10),
    firing: [],
  },
  {
    title: 'is silent when renders wait and the pool can grow',
    atMin: 30,
    series: { [api('pressroom_queue_depth')]: 4 },
    firing: [],
  },
  {
    title: 'says that pods do not become ready',
    atMin: 30,
    series: sized(5, 3),
    firing: [of('PressroomPodsNotReady')],
  },
  { title: 'gives pods time to start', atMin: 12, series: sized(5, 3), firing: [] },
  {
    title: 'says that the controller does not know the load',
    atMin: 10,
    series: { [condition('MetricsAvailable', 'False')]: 1 },
    firing: [of('PressroomAutoscalerBlind')],
  },
  {
    title: 'does not mind that for a pool of a fixed size',
    atMin: 30,
    series: { [condition('MetricsAvailable', 'False')]: 1, [told('pressroom_pool_autoscaled')]: 0 },
    firing: [],
  },
  {
    title: 'says in which pod Chrome crashes again and again',
    atMin: SOON + 20,
    series: { [deaths]: since(SOON, 1) },
    firing: [of('PressroomChromeCrashLoop', { ...OF, pod: 'workers-1' })],
  },
  {
    title: 'bears a Chrome that dies now and then, in many pods',
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
    title: 'says that Chrome has no sandbox',
    atMin: 10,
    series: { [condition('ChromeSandboxed', 'False')]: 1 },
    firing: [of('PressroomChromeUnsandboxed')],
  },
  {
    title: 'says that no controller leads',
    atMin: 10,
    series: { [leader]: 0 },
    firing: [of('PressroomNoLeader', { namespace: 'pressroom' })],
  },
  {
    title: 'says so too when no controller is there',
    atMin: 10,
    series: { [leader]: 'gone' },
    firing: [of('PressroomNoLeader', { namespace: 'pressroom' })],
  },
  {
    title: 'says that reconciles fail',
    atMin: SOON + 40,
    series: { [errors]: since(SOON, 0.5) },
    firing: [of('PressroomReconcileErrors', { namespace: 'pressroom' })],
  },
  {
    title: 'bears a reconcile that fails once',
    atMin: SOON + 20,
    series: {
      [errors]: since(SOON, 1, 1),
    },
    firing: [],
  },
  {
    title: 'says nothing of another release, even in the same namespace',
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
        [told('pressroom_pool_desired_pods')]: 9,
        [told('pressroom_pool_ready_pods')]: 2,
      }).map(([name, course]) => [name.replace('pool="pressroom"', 'pool="another"'), course]),
    ),
    firing: [],
  },
];
