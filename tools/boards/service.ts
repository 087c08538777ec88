// The board "Service": are users served, and as fast as promised?
import type { Board, GrafanaPanel } from './grafana.ts';
import {
  CHOSEN,
  OURS,
  PAGES,
  PROMISED,
  quantile,
  quantiles,
  rate,
  sum,
  WINDOW,
} from './queries.ts';

const RENDERS = 'pressroom_renders_total';
const PHASES = 'pressroom_render_duration_seconds';
const WHOLE = 'pressroom_render_whole_duration_seconds';

const renders = (outcomes: string) => rate(`${RENDERS}{${CHOSEN},outcome=~"${outcomes}"}`);

/**
 * `spent`: the recorded share of renders that broke the promise; `objective`: the recorded share
 * that may not.
 */
const burn = (
  spent: string,
  objective: string,
): Pick<GrafanaPanel, 'kind' | 'unit' | 'queries' | 'limit'> => ({
  kind: 'line',
  unit: 'x',
  limit: 1,
  queries: ['1h', '6h', '3d'].map(window => ({
    expr: `${spent}:ratio_rate${window}{${CHOSEN}} / on (namespace, pool) (1 - ${objective}:ratio{${CHOSEN}})`,
    legend: `{{namespace}}/{{pool}} over ${window}`,
  })),
});

export const service: Board = {
  uid: 'pressroom-service',
  title: 'Pressroom / Service',
  description:
    'Are users served, and as fast as promised? Start here when an alert of the kind BudgetBurn fires.',
  rows: [
    {
      title: 'Objectives (recorded by the rules of the chart; without them these panels are empty)',
      panels: [
        {
          title: 'Availability, last 3 days',
          description:
            'Share of renders that did not fail on our side. Failures of the page itself (its status, its time-outs) do not count. Good: at or above the objective beside it. Below it: look at "Failed on our side" for the reason and open that section of the runbook.',
          kind: 'stat',
          unit: 'percentunit',
          width: 6,
          queries: [
            {
              expr: `1 - pressroom:renders_failed:ratio_rate3d{${CHOSEN}}`,
              legend: '{{namespace}}/{{pool}}',
            },
          ],
        },
        {
          title: 'Availability objective',
          description:
            'What the values of the chart promise (alerts.availabilityObjective). All burn rates on this board are reckoned from it.',
          kind: 'stat',
          unit: 'percentunit',
          width: 6,
          queries: [
            {
              expr: `pressroom:availability_objective:ratio{${CHOSEN}}`,
              legend: '{{namespace}}/{{pool}}',
            },
          ],
        },
        {
          title: 'Waited longer than promised, last hour',
          description:
            'Share of delivered renders that waited for a slot longer than alerts.queueSeconds. Good: near 0. When it grows, the pool is too small or grows too slowly: see the board Capacity.',
          kind: 'stat',
          unit: 'percentunit',
          width: 6,
          queries: [
            {
              expr: `pressroom:renders_queued_long:ratio_rate1h{${CHOSEN}}`,
              legend: '{{namespace}}/{{pool}}',
            },
          ],
        },
        {
          title: 'Took longer than promised, last hour',
          description:
            'Share of delivered renders that took longer in all than alerts.latencySeconds. The documents of the customers and the waits that they ask for are in it, so compare it with last week rather than with 0.',
          kind: 'stat',
          unit: 'percentunit',
          width: 6,
          queries: [
            {
              expr: `pressroom:renders_slow:ratio_rate1h{${CHOSEN}}`,
              legend: '{{namespace}}/{{pool}}',
            },
          ],
        },
        {
          title: 'Budget burn: failed renders',
          description:
            'How many times faster than allowed the error budget of 30 days is being used up. Good: below 1. At 14.4 over an hour 2 % of the budget are gone in that hour and somebody is paged; at 6 over six hours 5 %; at 1 over three days 10 % (a warning).',
          ...burn('pressroom:renders_failed', 'pressroom:availability_objective'),
        },
        {
          title: 'Budget burn: waits for a slot',
          description:
            'The same for renders that waited for a slot longer than promised. Above 1: see the board Capacity, first "Pods" and "Queue".',
          ...burn('pressroom:renders_queued_long', 'pressroom:queue_wait_objective'),
        },
        {
          title: 'Budget burn: whole renders',
          description:
            'The same for renders that took longer in all than promised. Above 1 while the waits are fine: "Time by phase" shows whether pages load slowly (their servers), Chrome prints slowly (too little CPU for the slots) or MongoDB answers slowly (admit, settle).',
          ...burn('pressroom:renders_slow', 'pressroom:render_time_objective'),
        },
      ],
    },
    {
      title: 'Renders',
      panels: [
        {
          title: 'Delivered',
          description:
            'PDFs a second. A sudden drop without failures beside it means that callers no longer reach us: look at the Ingress and at "Calls by outcome".',
          kind: 'stack',
          unit: 'reqps',
          queries: [
            { expr: sum('namespace, pool', renders('ok')), legend: '{{namespace}}/{{pool}}' },
          ],
        },
        {
          title: 'Failed on our side',
          description:
            'By reason; only these count against the objective. Good: none. no_worker, queue_full: too few pods, see Capacity. overloaded: too many bytes in flight for the API pods. database: see "MongoDB" on the third board. worker_lost, internal: the logs of API and workers under the request id.',
          kind: 'stack',
          unit: 'reqps',
          queries: [{ expr: sum('outcome', renders(OURS)), legend: '{{outcome}}' }],
        },
        {
          title: 'Failed by the page, or by the request',
          description:
            'By reason. These are answers to the caller, no faults of the service; a steady level is normal. A jump of page_unreachable or page_timeout over all customers may still be ours: the way out of the workers (DNS, NetworkPolicy, upstream proxy).',
          kind: 'stack',
          unit: 'reqps',
          queries: [
            {
              expr: sum('outcome', renders(`${PAGES}|validation_error|ssrf_blocked|client_closed`)),
              legend: '{{outcome}}',
            },
          ],
        },
        {
          title: 'Share that failed on our side',
          description:
            'Of the renders that were promised. Good: 0. The alerts look at the same share over longer windows.',
          kind: 'line',
          unit: 'percentunit',
          queries: [
            {
              expr: `${sum('namespace, pool', renders(OURS))} / ${sum('namespace, pool', renders(PROMISED))}`,
              legend: '{{namespace}}/{{pool}}',
            },
          ],
        },
        {
          title: 'Refused by the limit of a plan',
          description:
            'Calls answered 429 because the account had as many renders running as its plan allows. Not a fault. Which accounts they are is in the access log (code concurrency_limit): offer them a larger plan, or fewer callers at once.',
          kind: 'line',
          unit: 'reqps',
          queries: [
            {
              expr: sum('namespace, pool', renders('concurrency_limit')),
              legend: '{{namespace}}/{{pool}}',
            },
          ],
        },
        {
          title: 'Calls by outcome',
          description:
            'Everything that came to POST /v1/render, also what never became a render: keys that nobody knows (unauthorized), bodies that are wrong or too large. A rise of unauthorized: a customer uses a revoked key, or somebody tries keys.',
          kind: 'stack',
          unit: 'reqps',
          queries: [
            {
              expr: sum(
                'outcome',
                rate(`pressroom_http_requests_total{${CHOSEN},route="/v1/render"}`),
              ),
              legend: '{{outcome}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Duration of delivered renders',
      panels: [
        {
          title: 'Whole render',
          description:
            'From admission to the settled count. Good: steady. It includes the waits that callers ask for, so look at the median for the service and at p99 for the documents.',
          kind: 'line',
          unit: 's',
          queries: quantiles(WHOLE, CHOSEN),
        },
        {
          title: 'Wait for a slot',
          description:
            'Good: p95 below 10 ms, since slots are opened ahead. When it grows there are more renders than slots: see the board Capacity.',
          kind: 'line',
          unit: 's',
          queries: quantiles(PHASES, `${CHOSEN},phase="queue"`),
        },
        {
          title: 'Time by phase, p95',
          description:
            'Each step of a render: admit and settle are MongoDB (good: below 20 ms). load depends on the pages and their servers. print is Chrome: when it grows for everybody, the worker pods have too little CPU for their slots. post is metadata and the sandbox stamp.',
          kind: 'line',
          unit: 's',
          queries: [{ expr: quantile(0.95, PHASES, CHOSEN, 'phase'), legend: '{{phase}}' }],
        },
        {
          title: 'Where the time goes',
          description:
            'The mean render, piece by piece. The tallest piece is where an improvement pays.',
          kind: 'stack',
          unit: 's',
          width: 12,
          queries: [
            {
              expr: `${sum('phase', rate(`${PHASES}_sum{${CHOSEN}}`))} / ignoring (phase) group_left () ${sum('', rate(`${WHOLE}_count{${CHOSEN}}`))}`,
              legend: '{{phase}}',
            },
          ],
        },
        {
          title: 'Distribution of whole renders',
          description:
            'Share of delivered renders that were done within each time. Good: the line of your alerts.latencySeconds is at or above alerts.latencyObjective.',
          kind: 'line',
          unit: 'percentunit',
          width: 12,
          queries: [
            {
              expr: `${sum('le', rate(`${WHOLE}_bucket{${CHOSEN},le!="+Inf"}`))} / ignoring (le) group_left () ${sum('', rate(`${WHOLE}_count{${CHOSEN}}`))}`,
              legend: 'within {{le}} s',
            },
          ],
        },
      ],
    },
    {
      title: 'Around the renders',
      panels: [
        {
          title: 'Begun again elsewhere',
          description:
            'Renders whose worker or Chrome died and that were rendered once more. Customers saw only a delay. Good: none outside of upgrades; else see "Chrome deaths" on Capacity.',
          kind: 'bars',
          unit: 'short',
          queries: [
            {
              expr: `sum by (namespace, pool) (increase(pressroom_render_retries_total{${CHOSEN}}[${WINDOW}]))`,
              legend: '{{namespace}}/{{pool}}',
            },
          ],
        },
        {
          title: 'Delivered but not counted',
          description:
            'Customers have these PDFs, and their accounts do not count them. Good: none. The log of the API names the account of each; the cause is MongoDB, silent for nine minutes (given_up) or wiped back (lease_gone).',
          kind: 'bars',
          unit: 'short',
          queries: [
            {
              expr: `sum by (reason) (increase(pressroom_renders_uncounted_total{${CHOSEN}}[${WINDOW}]))`,
              legend: '{{reason}}',
            },
          ],
        },
        {
          title: 'Trial renders by outcome',
          description:
            'Renders without a key, which stand in no other number. rate_limited is the door at work. They start only while no customer waits.',
          kind: 'stack',
          unit: 'reqps',
          queries: [
            {
              expr: sum('outcome', rate(`pressroom_trial_renders_total{${CHOSEN}}`)),
              legend: '{{outcome}}',
            },
          ],
        },
        {
          title: 'Connections of pages that the guard refused',
          description:
            'By why. Pages that reach for private addresses are refused and counted here; a jump is worth a look at who renders what. requests, connections and bytes: the page wanted more than PRESSROOM_EGRESS_MAX_… allow. unresolved: the name does not exist, or the name servers do not answer.',
          kind: 'stack',
          unit: 'ops',
          width: 12,
          queries: [
            {
              expr: sum('reason', rate(`pressroom_egress_denied_total{${CHOSEN}}`)),
              legend: '{{reason}}',
            },
          ],
        },
        {
          title: 'Slots that the worker ended',
          description:
            'By why. chrome_died: see "Chrome deaths". renderer_crashed, memory, deadline and flooded are pages that asked for too much.',
          kind: 'stack',
          unit: 'ops',
          width: 12,
          queries: [
            {
              expr: sum('reason', rate(`pressroom_slot_ends_total{${CHOSEN}}`)),
              legend: '{{reason}}',
            },
          ],
        },
      ],
    },
  ],
};
