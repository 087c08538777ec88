// The numbers of renders. Those of trial callers stand apart: anybody can make them fail, and the
// service's objective is about customers.
import {
  type ErrorCode,
  RENDER_FAILED_REASONS,
  type RenderFailedReason,
} from '../../common/contract/errors.ts';
import type { Metrics } from '../../common/operations.ts';
import { FRESH_REASONS, type FreshReason } from '../page/isolation.ts';

const WINDOW_MS = 5 * 60_000;
/** Enough for a steady median, and bounded whatever the load. */
const MAX_SAMPLES = 1_000;

/** `now` is a monotonic clock in ms. */
export function createRecentTimes(now = () => performance.now()) {
  const samples: { at: number; ms: number }[] = [];
  return {
    add: (ms: number): void => {
      samples.push({ at: now(), ms });
      if (samples.length > MAX_SAMPLES) samples.shift();
    },
    /** Whole seconds from 1 to 30; 1 when there was no render recently. */
    retryAfterS: (): number => {
      const since = now() - WINDOW_MS;
      const recent = samples.filter(({ at }) => at >= since).map(({ ms }) => ms);
      recent.sort((a, b) => a - b);
      const median = recent[Math.floor(recent.length / 2)] ?? 0;
      return Math.min(30, Math.max(1, Math.ceil(median / 1_000)));
    },
  };
}

export type RenderOutcome = 'ok' | 'client_closed' | ErrorCode | RenderFailedReason;

/** The outcomes that every render can have. */
const COMMON: readonly RenderOutcome[] = [
  'ok',
  'client_closed',
  'validation_error',
  'ssrf_blocked',
  ...RENDER_FAILED_REASONS,
];
const PAID: readonly RenderOutcome[] = [
  ...COMMON,
  'unauthorized',
  'subscription_inactive',
  'concurrency_limit',
];
const TRIAL: readonly RenderOutcome[] = [...COMMON, 'rate_limited'];
/** Up to half a minute of waiting in the queue and a minute on the page. */
const PHASE_BUCKETS_S = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const WHOLE_BUCKETS_S = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

export interface RenderMeters {
  ended(outcome: RenderOutcome): void;
  /**
   * The durations of a successful render in ms, by phase and in total, which is more than their
   * sum.
   */
  phases(timings: Record<string, number>, wholeMs: number): void;
  /** How long a render held its lease, in ms. */
  ran(ms: number): void;
  /** A static document was rendered in a sealed page. */
  rendersWarm(): void;
  /** A render uses a fresh page. */
  rendersFresh(reason: FreshReason): void;
}

/**
 * `times`: the source of `Retry-After` for rejected customers. `phases`: all phases that exist.
 */
export function renderMetrics(
  metrics: Metrics,
  times: { add(ms: number): void },
  phases: readonly string[],
): Record<'paid' | 'trial', RenderMeters> {
  const paid = metrics.counterBy(
    'pressroom_renders_total',
    'Total renders by outcome.',
    'outcome',
    PAID,
  );
  const durations = metrics.histogram(
    'pressroom_render_duration_seconds',
    'Duration of successful renders by phase.',
    ['phase'],
    PHASE_BUCKETS_S,
  );
  // A rate misses the first increase of a series that did not exist before.
  for (const phase of phases) durations.zero({ phase });
  const whole = metrics.histogram(
    'pressroom_render_whole_duration_seconds',
    "Duration of successful renders from admission to settlement, including queue time and the page's waits.",
    [],
    WHOLE_BUCKETS_S,
  );
  const warm = metrics.counter(
    'pressroom_warm_renders_total',
    'Renders of static documents in a sealed page that may have served the account before.',
    [],
  );
  const fresh = metrics.counterBy(
    'pressroom_fresh_renders_total',
    'Renders in a fresh page, by the reason why no sealed page could be used.',
    'reason',
    FRESH_REASONS,
  );
  return {
    paid: {
      rendersWarm: () => warm.inc({}),
      rendersFresh: fresh,
      ended: paid,
      phases: (timings, wholeMs) => {
        for (const [phase, ms] of Object.entries(timings)) durations.observe({ phase }, ms / 1_000);
        whole.observe(wholeMs / 1_000);
      },
      ran: times.add,
    },
    trial: {
      ended: metrics.counterBy(
        'pressroom_trial_renders_total',
        'Total trial renders by outcome. No other render metric includes them.',
        'outcome',
        TRIAL,
      ),
      // A trial render waits until no other render does, so its times do not represent a
      // customer's.
      phases: () => {},
      ran: () => {},
      rendersWarm: () => {},
      rendersFresh: () => {},
    },
  };
}
