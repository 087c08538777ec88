// The series that the chart's rules use, and their values in a healthy service.

/** A constant gauge, or a counter as a sequence of minutes with an increase per minute. */
export type Course = number | [minutes: number, perMinute: number][];

export const OF = { namespace: 'pressroom', pool: 'pressroom' };
const P = 'namespace="pressroom",pool="pressroom"';
export const api = (name: string, more = '') => `${name}{${P},pod="api-1"${more && `,${more}`}}`;
export const worker = (name: string, more: string) => `${name}{${P},pod="workers-1",${more}}`;
export const ofPool = (name: string, more = '') => `${name}{${P}${more && `,${more}`}}`;
export const own = (name: string, more = '') =>
  `${name}{namespace="pressroom",pod="controller-1"${more && `,${more}`}}`;

export const outcome = (name: string) => api('pressroom_renders_total', `outcome="${name}"`);
export const queue = (ending: string) =>
  api(`pressroom_render_duration_seconds_${ending}`, 'phase="queue"');
export const queuedWithin = (le: string) =>
  api('pressroom_render_duration_seconds_bucket', `phase="queue",le="${le}"`);
export const WHOLE = api('pressroom_render_whole_duration_seconds_count');
export const wholeWithin = (le: string) =>
  api('pressroom_render_whole_duration_seconds_bucket', `le="${le}"`);
export const mongodb = (operation: string, end: string, ending = 'count', le = '') =>
  api(
    `pressroom_mongodb_operation_duration_seconds_${ending}`,
    `operation="${operation}",outcome="${end}"${le && `,le="${le}"`}`,
  );
export const condition = (type: string, status: string) =>
  ofPool('pressroom_pool_condition', `type="${type}",status="${status}"`);
export const deaths = worker('pressroom_chrome_deaths_total', 'reason="exited"');
export const uncounted = api('pressroom_renders_uncounted_total', 'reason="given_up"');
export const settles = api('pressroom_lease_writes_waiting', 'operation="settle"');
export const asyncOldest = api('pressroom_async_oldest_wait_seconds');
export const errors = own('pressroom_reconcile_duration_seconds_count', 'outcome="error"');
export const leader = own('pressroom_controller_leader');

export const HOUR = 60;
export const DAY = 24 * HOUR;
export const forever = (perMinute: number): Course => [[4 * DAY, perMinute]];
/** Time of normal operation before an incident. */
export const BEFORE = 3 * HOUR;
/** `perMinute` from `startMin` on for `minutes`, nothing before. */
export const since = (startMin: number, perMinute: number, minutes = 2 * HOUR): Course => [
  [startMin, 0],
  [minutes, perMinute],
];
/** `perMinute` until `endMin`, then `then`. */
export const until = (endMin: number, perMinute: number, then = 0): Course => [
  [endMin, perMinute],
  [2 * HOUR, then],
];

/** 60 renders per minute, all delivered in time, with two of ten pods. */
export const HEALTHY: Record<string, Course> = {
  [outcome('ok')]: forever(60),
  [outcome('internal')]: forever(0),
  [outcome('page_status')]: forever(1),
  [queue('count')]: forever(60),
  [queuedWithin('1')]: forever(60),
  [WHOLE]: forever(60),
  [wholeWithin('10')]: forever(59),
  [mongodb('admit', 'ok')]: forever(60),
  [mongodb('admit', 'timeout')]: forever(0),
  [mongodb('admit', 'ok', 'bucket', '0.01')]: forever(60),
  [mongodb('admit', 'ok', 'bucket', '1')]: forever(60),
  [mongodb('admit', 'ok', 'bucket', '+Inf')]: forever(60),
  [api('pressroom_queue_depth')]: 0,
  [ofPool('pressroom_pool_desired_pods')]: 2,
  [ofPool('pressroom_pool_ready_pods')]: 2,
  [ofPool('pressroom_pool_max_pods')]: 10,
  [condition('MetricsAvailable', 'False')]: 0,
  [ofPool('pressroom_pool_autoscaled')]: 1,
  [condition('ChromeSandboxed', 'False')]: 0,
  [deaths]: forever(0),
  [uncounted]: forever(0),
  [settles]: 0,
  [asyncOldest]: 0,
  [errors]: forever(0),
  [leader]: 1,
};
