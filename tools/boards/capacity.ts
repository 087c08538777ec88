// The dashboard "Capacity": slots and queue, the pool size and its reasons, and the health of
// workers.
import type { Board } from './grafana.ts';
import { CHOSEN, chosen, increase, max, maxBy, p95By, rate, sum, sumBy } from './queries.ts';

const POOL = 'namespace, pool';
const NAME = '{{namespace}}/{{pool}}';
/** During a leader change two controllers may report the same pool. */
const reported = (name: string, more = '') => max(POOL, chosen(name, more));

export const capacity: Board = {
  uid: 'pressroom-capacity',
  title: 'Pressroom / Capacity',
  description:
    'Slots and queue, the pool size and the reasons for it, and the health of workers and Chrome.',
  rows: [
    {
      title: 'Slots and queue',
      panels: [
        {
          title: 'Slots',
          description:
            'Slots of all workers by state. Healthy: claimed stays below capacity and some slots are ready. If claimed reaches capacity, renders queue: check "Pods" for pods that are starting. Many slots in starting, closing or restarting for long: the pods need more CPU.',
          kind: 'line',
          unit: 'short',
          queries: [
            sumBy('state', chosen('pressroom_slots')),
            { expr: sum('', chosen('pressroom_slots_capacity')), legend: 'capacity' },
          ],
        },
        {
          title: 'Slot utilization',
          description:
            'Claimed slots divided by capacity. Healthy: near scaling.targetUtilizationPercent (default 70 %) under steady load. Always near 100 %: maxReplicas is too low or pods do not start. Always far below: minReplicas or idleSlots are higher than needed.',
          kind: 'line',
          unit: 'percentunit',
          limit: 0.9,
          queries: [
            {
              expr: `${sum(POOL, chosen('pressroom_slots', 'state="claimed"'))} / ${sum(POOL, chosen('pressroom_slots_capacity'))}`,
              legend: NAME,
            },
          ],
        },
        {
          title: 'Queue',
          description:
            'Queued renders in all API pods. Healthy: 0, with short peaks in bursts. If it stays above 0 while "Pods" is at its maximum, raise scaling.maxReplicas.',
          kind: 'line',
          unit: 'short',
          queries: [sumBy(POOL, chosen('pressroom_queue_depth'))],
        },
        {
          title: 'Oldest queued render',
          description:
            'Queue time of the oldest queued render. Healthy: below 1 s. At PRESSROOM_QUEUE_TIMEOUT (30 s) renders fail with no_worker.',
          kind: 'line',
          unit: 's',
          limit: 30,
          queries: [maxBy(POOL, chosen('pressroom_queue_oldest_wait_seconds'))],
        },
        {
          title: 'Queue time, p95',
          description:
            'Queue time of delivered renders. Healthy: below 10 ms. It grows before renders fail: raise scaling.maxReplicas, or keep slots free with scaling.idleSlots.',
          kind: 'line',
          unit: 's',
          queries: [p95By(POOL, 'pressroom_render_duration_seconds', `${CHOSEN},phase="queue"`)],
        },
        {
          title: 'Slot claims by outcome',
          description:
            'Attempts of API pods to open a slot on a worker. A few refused are normal (another API was faster, or the worker drains). unreachable: pods have ended, or a NetworkPolicy blocks the API.',
          kind: 'stack',
          unit: 'ops',
          queries: [sumBy('outcome', rate(chosen('pressroom_slot_claims_total')))],
        },
      ],
    },
    {
      title: 'Asynchronous renders',
      panels: [
        {
          title: 'Asynchronous backlog',
          description:
            'Waiting renders that may run now within the limits of their accounts, and all waiting renders (counted up to 10,000). The pool follows the backlog. Many waiting with a small backlog is normal: accounts use all asynchronous renders of their plans. If the backlog stays high while "Pods" is at its maximum, raise scaling.maxReplicas.',
          kind: 'line',
          unit: 'short',
          queries: [
            { expr: max(POOL, chosen('pressroom_async_backlog')), legend: `backlog ${NAME}` },
            { expr: max(POOL, chosen('pressroom_async_waiting')), legend: `waiting ${NAME}` },
          ],
        },
        {
          title: 'Oldest asynchronous render',
          description:
            'Age of the oldest waiting render that may run now. Healthy: a few seconds, with peaks when the next render of a large batch starts. If it stays above 10 minutes, the pool is too small or renders do not start.',
          kind: 'line',
          unit: 's',
          limit: 600,
          queries: [maxBy(POOL, chosen('pressroom_async_oldest_wait_seconds'))],
        },
        {
          title: 'Asynchronous renders by status',
          description:
            'Renders that ended, by status, and interrupted attempts. Healthy: succeeded, and failed for faulty pages. expired: renders waited longer than their ttl. interrupted: API pods ended during renders, which are tried again.',
          kind: 'stack',
          unit: 'reqps',
          queries: [
            sumBy('status', rate(chosen('pressroom_async_renders_total'))),
            {
              expr: sum('', rate(chosen('pressroom_async_interruptions_total'))),
              legend: 'interrupted',
            },
          ],
        },
      ],
    },
    {
      title: 'Pool size',
      panels: [
        {
          title: 'Pods',
          description:
            'Desired and ready pods, and the limits of the pool. Healthy: ready follows desired within one pod start. Desired at the maximum with a queue: raise scaling.maxReplicas. Ready stays below desired: run kubectl get pods -l pressroom.dev/pool=NAME to see why (node capacity, image, quota).',
          kind: 'line',
          unit: 'short',
          width: 12,
          queries: [
            { expr: reported('pressroom_pool_desired_pods'), legend: `desired ${NAME}` },
            { expr: reported('pressroom_pool_ready_pods'), legend: `ready ${NAME}` },
            { expr: reported('pressroom_pool_max_pods'), legend: `maximum ${NAME}` },
            { expr: reported('pressroom_pool_min_pods'), legend: `minimum ${NAME}` },
          ],
        },
        {
          title: 'Load seen by the controller',
          description:
            'Busy slots and queued renders that the controller last read from Prometheus. Healthy: same shape as "Slots" and "Queue". A flat line while those change: the controller cannot read Prometheus, see the dashboard Controller and dependencies.',
          kind: 'stack',
          unit: 'short',
          width: 12,
          queries: [
            { expr: reported('pressroom_pool_busy_slots'), legend: `busy slots ${NAME}` },
            { expr: reported('pressroom_pool_queued_renders'), legend: `queued ${NAME}` },
          ],
        },
        {
          title: 'Size changes by reason',
          description:
            'Changes of the desired number of pods. load and idle follow the traffic. Many panic: bursts grow faster than pods start, raise idleSlots. load and idle alternate every few minutes: increase scaleDown.delaySeconds.',
          kind: 'bars',
          unit: 'short',
          width: 12,
          queries: [sumBy('reason', increase(chosen('pressroom_scale_decisions_total')))],
        },
        {
          title: 'Latest size change by reason, last 6 hours',
          description:
            'The newest row explains the current size: load, panic and from_zero (scaled up), idle (scaled down), fixed (spec.replicas), below_min and above_max (the limits changed), restored (the Deployment was scaled by another client). See the Events of the BrowserPool for details.',
          kind: 'table',
          unit: 'dateTimeFromNow',
          width: 12,
          queries: [
            {
              expr: `1000 * ${max('namespace, pool, reason', `max_over_time(timestamp(${increase(chosen('pressroom_scale_decisions_total'), '2m')} > 0)[6h:1m])`)}`,
              legend: '{{reason}}',
            },
          ],
        },
        {
          title: 'Pool conditions',
          description:
            'Status conditions of the BrowserPools. Healthy: Ready, ScalingActive, MetricsAvailable and ChromeSandboxed are True, ScalingLimited is False. Run kubectl describe bpool NAME to see the cause.',
          kind: 'table',
          unit: 'none',
          width: 12,
          queries: [
            {
              expr: `${max('namespace, pool, type, status', chosen('pressroom_pool_condition'))} == 1`,
              legend: '{{type}}',
            },
          ],
        },
        {
          title: 'Workers known to API pods',
          description:
            'Workers that each API pod is connected to. Healthy: equal to the ready worker pods, in all API pods. Fewer: check DNS of the headless Service and the NetworkPolicy between API and workers.',
          kind: 'line',
          unit: 'short',
          width: 12,
          queries: [
            { expr: max('namespace, pod', chosen('pressroom_workers_known')), legend: '{{pod}}' },
            { expr: sum('', chosen('pressroom_worker_draining')), legend: 'draining workers' },
          ],
        },
      ],
    },
    {
      title: 'Chrome, memory and CPU',
      panels: [
        {
          title: 'Chrome deaths',
          description:
            'Unexpected Chrome exits by reason. Healthy: none. exited, hung: check the worker log at that time. memory: a page exceeded PRESSROOM_RENDER_MEMORY. flooded: a page kept Chrome too busy to answer. These two end only that render. unusable, not_started: sandbox, /tmp or process limit, see the worker log.',
          kind: 'bars',
          unit: 'short',
          queries: [sumBy('reason', increase(chosen('pressroom_chrome_deaths_total')))],
        },
        {
          title: 'Chrome starts',
          description:
            'Chrome starts by reason. recycle is planned (after 2,000 renders) and fails no render. died follows an unexpected exit. bound follows a render that reached a limit or was aborted. account: PRESSROOM_CHROME_PER_ACCOUNT.',
          kind: 'bars',
          unit: 'short',
          queries: [sumBy('reason', increase(chosen('pressroom_chrome_starts_total')))],
        },
        {
          title: 'Running Chromes',
          description:
            'One serving Chrome per slot, and briefly a retiring one while it shuts down. Fewer serving than slots: a Chrome does not start, see "Chrome deaths".',
          kind: 'line',
          unit: 'short',
          queries: [sumBy('state', chosen('pressroom_chromes'))],
        },
        {
          title: 'Chrome memory',
          description:
            'Sum of all slots of each worker pod. Healthy: about 80 MB per idle slot plus the memory of the pages.',
          kind: 'line',
          unit: 'bytes',
          queries: [sumBy('pod', chosen('pressroom_chrome_memory_bytes'))],
        },
        {
          title: 'Node memory',
          description:
            'Resident memory of the Node process of each API and worker pod. Healthy: flat, below 250 MB. Steady growth over hours is a leak: report it with the release.',
          kind: 'line',
          unit: 'bytes',
          queries: [maxBy('pod', chosen('process_resident_memory_bytes'))],
        },
        {
          title: 'Bodies and PDFs in flight',
          description:
            'Used share of the byte budget of each API pod (PRESSROOM_BYTES_IN_FLIGHT). At 100 % requests fail with overloaded: add API pods, or raise the budget and the memory limit.',
          kind: 'line',
          unit: 'percentunit',
          limit: 0.9,
          queries: [
            {
              expr: `${max('pod', chosen('pressroom_in_flight_bytes'))} / ${max('pod', chosen('pressroom_in_flight_limit_bytes'))}`,
              legend: '{{pod}}',
            },
          ],
        },
        {
          title: 'Node CPU',
          description:
            'CPU of the Node process of each API and worker pod, without Chrome. An API pod near one core is saturated, because its event loop is one thread: let the HPA add API pods.',
          kind: 'line',
          unit: 'cores',
          queries: [maxBy('pod', rate(chosen('process_cpu_seconds_total')))],
        },
        {
          title: 'Event loop delay, p99',
          description:
            'Event loop delay of each API and worker pod. Healthy: below 50 ms. Higher: the pod gets too little CPU, raise its CPU request or add pods.',
          kind: 'line',
          unit: 's',
          queries: [maxBy('pod', chosen('nodejs_eventloop_lag_p99_seconds'))],
        },
        {
          title: 'Connections rejected by workers',
          description:
            'Rejected gateway connections by reason. full and draining are normal. signature, expired, pool: API and workers have different secrets, clocks or pools. silent, crowded, http: another client connects to the gateway, check the NetworkPolicy.',
          kind: 'stack',
          unit: 'ops',
          queries: [sumBy('reason', rate(chosen('pressroom_gateway_refused_total')))],
        },
      ],
    },
  ],
};
