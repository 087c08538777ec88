// The objectives: what is promised, how fast its budget is used up, and the alerts on that by
// several windows and rates (https://sre.google/workbook/alerting-on-slos/): 2 % of a 30 days'
// budget in an hour, 5 % in six hours, 10 % in three days.
import { alert, mine, OF_RELEASE, POOL } from './alert.ts';
import { OURS, PROMISED, sum } from './queries.ts';
import type { Alert, Recording } from './rules.ts';

const PHASES = 'pressroom_render_duration_seconds';
const WHOLE = 'pressroom_render_whole_duration_seconds';

interface Objective {
  /** Of the alert. */
  name: string;
  /** Of the recorded share of renders that broke the promise. */
  spent: string;
  /** Of the recorded renders that the promise is about. */
  counted: string;
  /** Of the recorded objective. */
  promise: string;
  ratioWord: string;
  /** How many renders a second broke the promise, and how many there were. */
  bad(window: string): string;
  all(window: string): string;
  summary: string;
  description: string;
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
    summary: 'Renders of {{ $labels.namespace }}/{{ $labels.pool }} fail on our side.',
    description: 'of the renders failed on our side',
  },
  {
    name: 'PressroomQueueWaitBudgetBurn',
    spent: 'pressroom:renders_queued_long',
    counted: 'pressroom:renders_queued',
    promise: 'pressroom:queue_wait_objective',
    ratioWord: 'OBJECTIVE_QUEUE_RATIO',
    bad: slower(PHASES, `${OF_RELEASE},phase="queue"`, 'OBJECTIVE_QUEUE_SECONDS'),
    all: rateOf(mine(`${PHASES}_count`, 'phase="queue"')),
    summary: 'Renders of {{ $labels.namespace }}/{{ $labels.pool }} wait too long for a slot.',
    description: 'of the delivered renders waited longer than OBJECTIVE_QUEUE_SECONDS s for a slot',
  },
  {
    name: 'PressroomRenderTimeBudgetBurn',
    spent: 'pressroom:renders_slow',
    counted: 'pressroom:renders_delivered',
    promise: 'pressroom:render_time_objective',
    ratioWord: 'OBJECTIVE_LATENCY_RATIO',
    bad: slower(WHOLE, OF_RELEASE, 'OBJECTIVE_LATENCY_SECONDS'),
    all: rateOf(mine(`${WHOLE}_count`)),
    summary: 'Renders of {{ $labels.namespace }}/{{ $labels.pool }} take too long.',
    description: 'of the delivered renders took longer than OBJECTIVE_LATENCY_SECONDS s in all',
  },
];

/**
 * `rate`: times the speed at which the budget would last for just 30 days. The short window ends
 * the alert soon after the trouble.
 */
const BURNS = [
  {
    long: '1h',
    short: '5m',
    rate: 14.4,
    lasting: '2m',
    severity: 'critical',
    gone: '2 % of the budget of 30 days in an hour',
  },
  {
    long: '6h',
    short: '30m',
    rate: 6,
    lasting: '10m',
    severity: 'critical',
    gone: '5 % of the budget of 30 days in six hours',
  },
  {
    long: '3d',
    short: '6h',
    rate: 1,
    lasting: '1h',
    severity: 'warning',
    gone: '10 % of the budget of 30 days in three days',
  },
] as const;
const WINDOWS = ['5m', '30m', '1h', '6h', '3d'];
const THREE_DAYS_S = 259_200;
const HOURS = { '1h': 1, '6h': 6 };

/** One bad render among two at night is half of them: nobody is woken for fewer than these. */
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
 * Windows of hours and days are read from the recorded five minutes: over the raw series of many
 * pods each look at three days would read millions of samples.
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
  ({ name, spent, ratioWord, bad, summary, description }) =>
    BURNS.map(({ long, short, rate, lasting, severity, gone }) => {
      const over = (window: string) =>
        `${mine(`${spent}:ratio_rate${window}`)} > ${rate} * (1 - ${ratioWord})`;
      // In the first hours after an installation the mean of what was recorded would be taken for
      // all of the window.
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
        description: `{{ $value | humanizePercentage }} ${description} within ${long}. At this rate ${gone} are used up.`,
      });
    }),
);
