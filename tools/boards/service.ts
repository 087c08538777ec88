// The dashboard "Service": success and speed of renders against the objectives.
import type { Board, GrafanaPanel } from './grafana.ts';
import {
  CHOSEN,
  chosen,
  increase,
  OURS,
  PAGES,
  PROMISED,
  p95By,
  quantiles,
  rate,
  sum,
  sumBy,
} from './queries.ts';

const RENDERS = 'pressroom_renders_total';
const PHASES = 'pressroom_render_duration_seconds';
const WHOLE = 'pressroom_render_whole_duration_seconds';

const renders = (outcomes: string) => rate(chosen(RENDERS, `outcome=~"${outcomes}"`));

/** Options of a panel with the current value of a ratio. */
const shareNow = (expr: string): Pick<GrafanaPanel, 'kind' | 'unit' | 'queries' | 'width'> => ({
  kind: 'stat',
  unit: 'percentunit',
  width: 6,
  queries: [{ expr, legend: '{{namespace}}/{{pool}}' }],
});

/**
 * Options of a burn-rate panel. `spent`: record of the renders that missed the objective;
 * `objective`: record of the objective.
 */
const burn = (
  spent: string,
  objective: string,
): Pick<GrafanaPanel, 'kind' | 'unit' | 'queries' | 'limit'> => ({
  kind: 'line',
  unit: 'x',
  limit: 1,
  queries: ['1h', '6h', '3d'].map(window => ({
    expr: `${chosen(`${spent}:ratio_rate${window}`)} / on (namespace, pool) (1 - ${chosen(`${objective}:ratio`)})`,
    legend: `{{namespace}}/{{pool}} over ${window}`,
  })),
});

export const service: Board = {
  uid: 'pressroom-service',
  title: 'Pressroom / Service',
  description:
    'Success and speed of renders against the objectives. Start here when a BudgetBurn alert fires.',
  rows: [
    {
      title: 'Objectives (empty without the recording rules of the chart)',
      panels: [
        {
          title: 'Availability, last 3 days',
          description:
            'Share of renders without a service error. Errors of the page (its status, timeouts) do not count. Healthy: at or above the objective. Below: find the reason in "Service errors by reason" and open that section of the runbook.',
          ...shareNow(`1 - ${chosen('pressroom:renders_failed:ratio_rate3d')}`),
        },
        {
          title: 'Availability objective',
          description:
            'The objective in the values of the chart (alerts.availabilityObjective). The burn rate of failed renders is relative to it.',
          ...shareNow(chosen('pressroom:availability_objective:ratio')),
        },
        {
          title: 'Queue time over target, last hour',
          description:
            'Share of delivered renders that were queued longer than alerts.queueWaitSeconds. Healthy: near 0. If it grows, the pool is too small or scales too slowly: see the dashboard Capacity.',
          ...shareNow(chosen('pressroom:renders_queued_long:ratio_rate1h')),
        },
        {
          title: 'Duration over target, last hour',
          description:
            'Share of delivered renders that took longer than alerts.renderTimeSeconds. It depends on the documents and the requested waits, so compare it with last week rather than with 0.',
          ...shareNow(chosen('pressroom:renders_slow:ratio_rate1h')),
        },
        {
          title: 'Budget burn: failed renders',
          description:
            'Burn rate of the 30-day error budget; 1 uses it up in exactly 30 days. Healthy: below 1. Alerts fire at 14.4 over 1 h (2 % of the budget, critical), 6 over 6 h (5 %, critical) and 1 over 3 d (10 %, warning).',
          ...burn('pressroom:renders_failed', 'pressroom:availability_objective'),
        },
        {
          title: 'Budget burn: queue time',
          description:
            'Burn rate for renders with a queue time over the target. Healthy: below 1. Above: check "Pods" and "Queue" on the dashboard Capacity.',
          ...burn('pressroom:renders_queued_long', 'pressroom:queue_wait_objective'),
        },
        {
          title: 'Budget burn: render duration',
          description:
            'Burn rate for renders with a duration over the target. Healthy: below 1. Above with a normal queue time: "Duration by phase, p95" shows whether pages load slowly (their servers), Chrome prints slowly (too little CPU for the slots) or MongoDB is slow (admit, settle).',
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
            'Delivered PDFs per second. A sudden drop without errors means that requests no longer arrive: check the Ingress and "Requests by outcome".',
          kind: 'stack',
          unit: 'reqps',
          queries: [sumBy('namespace, pool', renders('ok'))],
        },
        {
          title: 'Service errors by reason',
          description:
            'Renders that failed because of the service; only these count against the objective. Healthy: none. no_worker, queue_full: too few pods, see Capacity. overloaded: the byte budget of the API pods is used up. database: see MongoDB on the dashboard Controller and dependencies. worker_lost, internal: search the logs for the request ID.',
          kind: 'stack',
          unit: 'reqps',
          queries: [sumBy('outcome', renders(OURS))],
        },
        {
          title: 'Page and request errors by reason',
          description:
            'Renders that failed because of the page or the request. A steady level is normal. A jump of page_unreachable or page_timeout for all accounts: check the network access of the workers (DNS, NetworkPolicy, upstream proxy).',
          kind: 'stack',
          unit: 'reqps',
          queries: [
            sumBy('outcome', renders(`${PAGES}|validation_error|ssrf_blocked|client_closed`)),
          ],
        },
        {
          title: 'Service error ratio',
          description:
            'Share of renders that failed with a service error. Healthy: 0. The alerts use the same ratio over longer windows.',
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
          title: 'Concurrency limit rejections',
          description:
            'Requests rejected with 429 because the account was at the concurrency limit of its plan. Not a service error. Find the accounts in the access log (code concurrency_limit) and offer them a larger plan.',
          kind: 'line',
          unit: 'reqps',
          queries: [sumBy('namespace, pool', renders('concurrency_limit'))],
        },
        {
          title: 'Requests by outcome',
          description:
            'All requests to POST /v1/render, including those rejected before rendering: invalid keys (unauthorized), invalid or too large bodies. A rise of unauthorized: a customer uses a revoked key, or a client guesses keys.',
          kind: 'stack',
          unit: 'reqps',
          queries: [
            sumBy('outcome', rate(chosen('pressroom_http_requests_total', 'route="/v1/render"'))),
          ],
        },
      ],
    },
    {
      title: 'Render duration',
      panels: [
        {
          title: 'Render duration',
          description:
            'Delivered renders from admission to settlement. Healthy: steady. It includes requested waits: p50 reflects the service, p99 the documents.',
          kind: 'line',
          unit: 's',
          queries: quantiles(WHOLE, CHOSEN),
        },
        {
          title: 'Queue time',
          description:
            'Healthy: p95 below 10 ms, since slots are opened in advance. If it grows, there are more renders than slots: see the dashboard Capacity.',
          kind: 'line',
          unit: 's',
          queries: quantiles(PHASES, `${CHOSEN},phase="queue"`),
        },
        {
          title: 'Duration by phase, p95',
          description:
            'Phases of a render. admit and settle are MongoDB (healthy: below 20 ms). load depends on the pages and their servers. print is Chrome: if it grows for all accounts, the worker pods have too little CPU for their slots. post is metadata and the sandbox watermark.',
          kind: 'line',
          unit: 's',
          queries: [p95By('phase', PHASES, CHOSEN)],
        },
        {
          title: 'Mean duration by phase',
          description:
            'Mean duration of a render, split by phase. Start optimizing with the largest phase.',
          kind: 'stack',
          unit: 's',
          width: 12,
          queries: [
            {
              expr: `${sum('phase', rate(chosen(`${PHASES}_sum`)))} / ignoring (phase) group_left () ${sum('', rate(chosen(`${WHOLE}_count`)))}`,
              legend: '{{phase}}',
            },
          ],
        },
        {
          title: 'Render duration distribution',
          description:
            'Share of delivered renders that finished within each time. Healthy: the line for alerts.renderTimeSeconds is at or above alerts.renderTimeObjective.',
          kind: 'line',
          unit: 'percentunit',
          width: 12,
          queries: [
            {
              expr: `${sum('le', rate(chosen(`${WHOLE}_bucket`, 'le!="+Inf"')))} / ignoring (le) group_left () ${sum('', rate(chosen(`${WHOLE}_count`)))}`,
              legend: 'within {{le}} s',
            },
          ],
        },
      ],
    },
    {
      title: 'Retries, trial and egress',
      panels: [
        {
          title: 'Retried renders',
          description:
            'Renders that were retried because their worker or Chrome died. Callers see only a delay. Healthy: none except during upgrades. Otherwise see "Chrome deaths" on the dashboard Capacity.',
          kind: 'bars',
          unit: 'short',
          queries: [sumBy('namespace, pool', increase(chosen('pressroom_render_retries_total')))],
        },
        {
          title: 'Uncounted renders',
          description:
            'Delivered renders that were not counted for their account. Healthy: none. given_up: MongoDB did not respond for nine minutes. lease_gone: the database was restored. The API log names the accounts.',
          kind: 'bars',
          unit: 'short',
          queries: [sumBy('reason', increase(chosen('pressroom_renders_uncounted_total')))],
        },
        {
          title: 'Trial renders by outcome',
          description:
            'Renders without an API key, which no other panel includes. They start only while most slots are free. rate_limited is normal: the trial limits are working.',
          kind: 'stack',
          unit: 'reqps',
          queries: [sumBy('outcome', rate(chosen('pressroom_trial_renders_total')))],
        },
        {
          title: 'Connections blocked by the egress guard',
          description:
            'Blocked connections of pages by reason. address, port: the page tried to reach a private address or a closed port; on a jump, check which account renders it. requests, connections, bytes: the page exceeded PRESSROOM_EGRESS_MAX_…. unresolved: the name does not exist, or the name servers do not answer.',
          kind: 'stack',
          unit: 'ops',
          width: 12,
          queries: [sumBy('reason', rate(chosen('pressroom_egress_denied_total')))],
        },
        {
          title: 'Slots ended by workers',
          description:
            'Slots that a worker ended early, by reason. chrome_died: see "Chrome deaths". renderer_crashed, memory, deadline and flooded: the page exceeded a limit.',
          kind: 'stack',
          unit: 'ops',
          width: 12,
          queries: [sumBy('reason', rate(chosen('pressroom_slot_ends_total')))],
        },
      ],
    },
  ],
};
