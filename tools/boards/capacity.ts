// The board "Capacity": are there enough slots, why is the pool as large as it is, and do the
// workers hold?
import type { Board } from './grafana.ts';
import { CHOSEN, increase, max, quantile, rate, sum } from './queries.ts';

const POOL = 'namespace, pool';
const NAME = '{{namespace}}/{{pool}}';
const chosen = (name: string, more = '') => `${name}{${CHOSEN}${more && `,${more}`}}`;
/** Two controllers may tell of a pool for a moment while they change over. */
const reported = (name: string, more = '') => max(POOL, chosen(name, more));

export const capacity: Board = {
  uid: 'pressroom-capacity',
  title: 'Pressroom / Capacity',
  description:
    'Are there enough slots, why is the pool as large as it is, and do the workers hold?',
  rows: [
    {
      title: 'Slots and queue',
      panels: [
        {
          title: 'Slots',
          description:
            'What the slots of all workers do. Good: claimed stays below capacity, and some are ready. When claimed touches capacity, renders wait: see "Pods" for whether more are on their way. Many in starting, closing or restarting for long: the pods have too little CPU.',
          kind: 'line',
          unit: 'short',
          queries: [
            { expr: sum('state', chosen('pressroom_slots')), legend: '{{state}}' },
            { expr: sum('', chosen('pressroom_slots_capacity')), legend: 'capacity' },
          ],
        },
        {
          title: 'Share of the slots in use',
          description:
            'Good: around scaling.targetUtilizationPercent (70 % by default) under steady load. Always near 100 %: the maximum is too low or pods do not start. Always far below: the minimum or idleSlots are higher than needed.',
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
            'Renders that wait for a slot in all API pods. Good: 0, with short peaks in a burst. It stays up while "Pods" is at its maximum: raise scaling.maxReplicas.',
          kind: 'line',
          unit: 'short',
          queries: [{ expr: sum(POOL, chosen('pressroom_queue_depth')), legend: NAME }],
        },
        {
          title: 'Oldest wait',
          description:
            'How long the render that waits longest has waited. Good: below a second. At PRESSROOM_QUEUE_TIMEOUT (30 s) renders begin to fail with no_worker.',
          kind: 'line',
          unit: 's',
          limit: 30,
          queries: [
            { expr: max(POOL, chosen('pressroom_queue_oldest_wait_seconds')), legend: NAME },
          ],
        },
        {
          title: 'Wait for a slot, p95',
          description:
            'Of the renders that were delivered. Good: below 10 ms. It grows before renders fail: raise scaling.maxReplicas, or keep slots free with scaling.idleSlots.',
          kind: 'line',
          unit: 's',
          queries: [
            {
              expr: quantile(
                0.95,
                'pressroom_render_duration_seconds',
                `${CHOSEN},phase="queue"`,
                POOL,
              ),
              legend: NAME,
            },
          ],
        },
        {
          title: 'Claims of slots by outcome',
          description:
            'Attempts of the API pods to open a slot on a worker. refused now and then is normal (another API was faster, or the worker drains). unreachable: pods that are gone, or the NetworkPolicy between API and workers.',
          kind: 'stack',
          unit: 'ops',
          queries: [
            {
              expr: sum('outcome', rate(chosen('pressroom_slot_claims_total'))),
              legend: '{{outcome}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Size of the pool',
      panels: [
        {
          title: 'Pods',
          description:
            'Wanted by the controller, ready, and the bounds of the pool. Good: ready follows wanted within a pod start. Wanted at maximum with a queue: raise scaling.maxReplicas. Ready stays below wanted: kubectl get pods -l pressroom.dev/pool=NAME shows why (no room on the nodes, image, quota).',
          kind: 'line',
          unit: 'short',
          width: 12,
          queries: [
            { expr: reported('pressroom_pool_desired_pods'), legend: `wanted ${NAME}` },
            { expr: reported('pressroom_pool_ready_pods'), legend: `ready ${NAME}` },
            { expr: reported('pressroom_pool_max_pods'), legend: `maximum ${NAME}` },
            { expr: reported('pressroom_pool_min_pods'), legend: `minimum ${NAME}` },
          ],
        },
        {
          title: 'Load that the controller decides by',
          description:
            'Busy slots and waiting renders, as it last read them from Prometheus. Good: it looks like "Slots" and "Queue". A line that stands still while those move: the controller cannot read Prometheus (third board).',
          kind: 'stack',
          unit: 'short',
          width: 12,
          queries: [
            { expr: reported('pressroom_pool_busy_slots'), legend: `busy slots ${NAME}` },
            { expr: reported('pressroom_pool_queued_renders'), legend: `waiting ${NAME}` },
          ],
        },
        {
          title: 'Size changes by reason',
          description:
            'Decisions that changed the number of wanted pods. load and idle follow the day. Many panic: bursts that come faster than pods start; raise idleSlots. load and idle in turns every few minutes: lengthen scaleDown.delaySeconds.',
          kind: 'bars',
          unit: 'short',
          width: 12,
          queries: [
            {
              expr: sum('reason', increase(chosen('pressroom_scale_decisions_total'))),
              legend: '{{reason}}',
            },
          ],
        },
        {
          title: 'Last size change by reason, last 6 hours',
          description:
            'The newest row says why the pool has the size it has: load, panic, from_zero (more was needed), idle (less was), fixed (spec.replicas), below_min and above_max (the bounds were changed), restored (somebody else scaled the Deployment). Events of the BrowserPool tell each in a sentence.',
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
          title: 'Conditions of the pools',
          description:
            'As in the status of the BrowserPool. Good: Ready, ScalingActive, MetricsAvailable and ChromeSandboxed are True, ScalingLimited is False. kubectl describe bpool NAME says why in a sentence.',
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
          title: 'Workers that the API pods know',
          description:
            'For each API pod. Good: as many as pods are ready, the same in all API pods. Fewer: DNS of the headless Service, or the NetworkPolicy between API and workers.',
          kind: 'line',
          unit: 'short',
          width: 12,
          queries: [
            { expr: max('namespace, pod', chosen('pressroom_workers_known')), legend: '{{pod}}' },
            { expr: sum('', chosen('pressroom_worker_draining')), legend: 'workers that drain' },
          ],
        },
      ],
    },
    {
      title: 'Chrome and memory',
      panels: [
        {
          title: 'Chrome deaths',
          description:
            'By why. Good: none. exited, hung: look at the worker log at that time. memory: a page outgrew PRESSROOM_RENDER_MEMORY. flooded: a page kept its browser too busy to answer. Both end that render alone. unusable, not_started: the sandbox, /tmp or the pod limit; the worker log says which.',
          kind: 'bars',
          unit: 'short',
          queries: [
            {
              expr: sum('reason', increase(chosen('pressroom_chrome_deaths_total'))),
              legend: '{{reason}}',
            },
          ],
        },
        {
          title: 'Chrome starts',
          description:
            'By why. recycle is planned (after 2,000 renders) and fails no render. died follows a death. bound follows a render that hit a limit or was given up. account: PRESSROOM_CHROME_PER_ACCOUNT.',
          kind: 'bars',
          unit: 'short',
          queries: [
            {
              expr: sum('reason', increase(chosen('pressroom_chrome_starts_total'))),
              legend: '{{reason}}',
            },
          ],
        },
        {
          title: 'Chromes that run',
          description:
            'One serving for each slot, and a retiring one beside it while it ends. Fewer serving than slots: a Chrome does not start, see "Chrome deaths".',
          kind: 'line',
          unit: 'short',
          queries: [{ expr: sum('state', chosen('pressroom_chromes')), legend: '{{state}}' }],
        },
        {
          title: 'Memory of the Chromes',
          description:
            'For each worker pod, all slots together. Good: about 80 MB for each slot that waits, and what the pages need.',
          kind: 'line',
          unit: 'bytes',
          queries: [
            { expr: sum('pod', chosen('pressroom_chrome_memory_bytes')), legend: '{{pod}}' },
          ],
        },
        {
          title: 'Memory of the Node processes',
          description:
            'For each pod of API and workers. Good: flat, below 250 MB. A line that rises for hours is a leak: report it with the release.',
          kind: 'line',
          unit: 'bytes',
          queries: [
            { expr: max('pod', chosen('process_resident_memory_bytes')), legend: '{{pod}}' },
          ],
        },
        {
          title: 'Bodies and PDFs in flight',
          description:
            'Share of what each API pod may hold (PRESSROOM_BYTES_IN_FLIGHT). At 100 % calls are refused as overloaded: more API pods, or a larger limit and more memory.',
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
          title: 'CPU of the Node processes',
          description:
            'For each pod of API and workers; Chrome is not in it. An API pod near one core is full: its event loop is one thread. Let the HPA add API pods.',
          kind: 'line',
          unit: 'cores',
          queries: [
            { expr: max('pod', rate(chosen('process_cpu_seconds_total'))), legend: '{{pod}}' },
          ],
        },
        {
          title: 'Event loop delay, p99',
          description:
            'For each pod of API and workers. Good: below 50 ms. Higher: the pod gets less CPU than it asks for; raise its request, or add pods.',
          kind: 'line',
          unit: 's',
          queries: [
            { expr: max('pod', chosen('nodejs_eventloop_lag_p99_seconds')), legend: '{{pod}}' },
          ],
        },
        {
          title: 'Connections that the workers refused',
          description:
            'By why. full and draining are normal. signature, expired, pool: API and workers have different secrets, clocks or pools. silent, crowded, http: somebody else knocks at the gateway; look at the NetworkPolicy.',
          kind: 'stack',
          unit: 'ops',
          queries: [
            {
              expr: sum('reason', rate(chosen('pressroom_gateway_refused_total'))),
              legend: '{{reason}}',
            },
          ],
        },
      ],
    },
  ],
};
