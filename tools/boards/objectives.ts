// Service level objectives, their burn rates, and multiwindow burn-rate alerts
// (https://sre.google/workbook/alerting-on-slos/): 2 % of the 30-day error budget in one hour, 5 %
// in six hours, 10 % in three days.
import { alert, mine, OF_RELEASE, POOL } from './alert.ts';
import { OURS, PROMISED, sum } from './queries.ts';
import type { Alert, Recording } from './rules.ts';

const PHASES = 'pressroom_render_duration_seconds';
const WHOLE = 'pressroom_render_whole_duration_seconds';

interface Objective {
  /** Name of the alert. */
  name: string;
  /** Record name of the renders that missed the objective. */
  spent: string;
  /** Record name of all renders that count for the objective. */
  counted: string;
  /** Record name of the objective itself. */
  promise: string;
  ratioWord: string;
  /** Rates of the renders that missed the objective, and of all that count. */
  bad(window: string): string;
  all(window: string): string;
  summary: string;
  /** Continues a sentence that starts with a percentage. */
  description: string;
  nextStep: string;
}

const rateOf = (series: string) => (window: string) => sum(POOL, `rate(${series}[${window}])`);
/** Prometheus 3 writes `1.0` where the process wrote `1`. */
const within = (word: string) => `le=~"${word}(\\\\.0)?"`;
const slower = (histogram: string, where: string, word: string) => (window: string) =>
  `(${rateOf(`${histogram}_count{${where}}`)(window)} - ${rateOf(`${histogram}_bucket{${where},${within(word)}}`)(window)})`;

const OBJECTIVES: Objective[] = [
  {
    name: 'PressroomAvailabilityBudgetBurn',
    spent: 'pressroom:renders_failed',
    counted: 'pressroom:renders_promised',
    promise: 'pressroom:availability_objective',
    ratioWord: 'OBJECTIVE_AVAILABILITY',
    bad: rateOf(mine('pressroom_renders_total', `outcome=~"${OURS}"`)),
    all: rateOf(mine('pressroom_renders_total', `outcome=~"${PROMISED}"`)),
    summary: 'Renders of {{ $labels.namespace }}/{{ $labels.pool }} fail with service errors.',
    description: 'of the renders failed with a service error',
    nextStep: 'Check "Service errors by reason" on the dashboard Service.',
  },
  {
    name: 'PressroomQueueWaitBudgetBurn',
    spent: 'pressroom:renders_queued_long',
    counted: 'pressroom:renders_queued',
    promise: 'pressroom:queue_wait_objective',
    ratioWord: 'OBJECTIVE_QUEUE_RATIO',
    bad: slower(PHASES, `${OF_RELEASE},phase="queue"`, 'OBJECTIVE_QUEUE_SECONDS'),
    all: rateOf(mine(`${PHASES}_count`, 'phase="queue"')),
    summary: 'Renders of {{ $labels.namespace }}/{{ $labels.pool }} are queued too long.',
    description: 'of the delivered renders were queued longer than OBJECTIVE_QUEUE_SECONDS s',
    nextStep: 'Check "Slots" and "Pods" on the dashboard Capacity.',
  },
  {
    name: 'PressroomRenderTimeBudgetBurn',
    spent: 'pressroom:renders_slow',
    counted: 'pressroom:renders_delivered',
    promise: 'pressroom:render_time_objective',
    ratioWord: 'OBJECTIVE_LATENCY_RATIO',
    bad: slower(WHOLE, OF_RELEASE, 'OBJECTIVE_LATENCY_SECONDS'),
    all: rateOf(mine(`${WHOLE}_count`)),
    summary: 'Renders of {{ $labels.namespace }}/{{ $labels.pool }} are too slow.',
    description: 'of the delivered renders took longer than OBJECTIVE_LATENCY_SECONDS s',
    nextStep: 'Check "Mean duration by phase" on the dashboard Service.',
  },
];

/**
 * `rate`: multiple of the burn rate that uses up the budget in exactly 30 days. The short window
 * ends the alert soon after the problem.
 */
const BURNS = [
  {
    long: '1h',
    short: '5m',
    rate: 14.4,
    lasting: '2m',
    severity: 'critical',
    gone: '2 % of the 30-day error budget per hour',
  },
  {
    long: '6h',
    short: '30m',
    rate: 6,
    lasting: '10m',
    severity: 'critical',
    gone: '5 % of the 30-day error budget in six hours',
  },
  {
    long: '3d',
    short: '6h',
    rate: 1,
    lasting: '1h',
    severity: 'warning',
    gone: '10 % of the 30-day error budget in three days',
  },
] as const;
const WINDOWS = ['5m', '30m', '1h', '6h', '3d'];
const THREE_DAYS_S = 259_200;
const HOURS = { '1h': 1, '6h': 6 };

/** Minimum of failed renders for an alert: at low traffic one failure is a large share. */
const LEAST_BAD = 5;

export const objectives: Recording[] = [
  ...OBJECTIVES.map(({ promise, ratioWord }) => ({
    record: `${promise}:ratio`,
    expr: `(${ratioWord})`,
  })),
  { record: 'pressroom:queue_wait_objective:seconds', expr: '(OBJECTIVE_QUEUE_SECONDS)' },
  { record: 'pressroom:render_time_objective:seconds', expr: '(OBJECTIVE_LATENCY_SECONDS)' },
].map(recording => ({
  ...recording,
  labels: { namespace: 'RELEASE_NAMESPACE', pool: 'RELEASE_POOL' },
}));

/**
 * Longer windows use the recorded five-minute rates: three days of raw series of many pods would be
 * millions of samples per evaluation.
 */
export const burnRates: Recording[] = OBJECTIVES.flatMap(({ spent, counted, bad, all }) => {
  const over = (name: string, window: string) =>
    window === '5m'
      ? mine(`${name}:rate5m`)
      : `avg_over_time(${mine(`${name}:rate5m`)}[${window}])`;
  return [
    { record: `${spent}:rate5m`, expr: bad('5m') },
    { record: `${counted}:rate5m`, expr: all('5m') },
    ...WINDOWS.map(window => ({
      record: `${spent}:ratio_rate${window}`,
      expr: `${over(spent, window)} / ${over(counted, window)}`,
    })),
  ];
});

export const burnAlerts: Alert[] = OBJECTIVES.flatMap(
  ({ name, spent, ratioWord, bad, summary, description, nextStep }) =>
    BURNS.map(({ long, short, rate, lasting, severity, gone }) => {
      const over = (window: string) =>
        `${mine(`${spent}:ratio_rate${window}`)} > ${rate} * (1 - ${ratioWord})`;
      // Shortly after an installation the mean of the recorded rates would be extrapolated to the
      // whole window, so the shorter windows use the raw series.
      const seen =
        long === '3d'
          ? `avg_over_time(${mine(`${spent}:rate5m`)}[3d]) * ${THREE_DAYS_S}`
          : `${bad(long)} * ${HOURS[long] * 3_600}`;
      return alert({
        name,
        severity,
        lasting,
        labels: { window: long },
        expr: `${over(long)} and ${over(short)} and ${seen} >= ${LEAST_BAD}`,
        summary,
        description: `In the last ${long}, {{ $value | humanizePercentage }} ${description}. This uses ${gone}. ${nextStep}`,
      });
    }),
);
