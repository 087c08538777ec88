// /healthz and /readyz for people and monitors (orchestrators ask the operations port). Each check
// has its own limit and cache.
import type { Context, Middleware } from '../http/state.ts';

export interface HealthChecks {
  /** Rejects when the database did not answer in time. */
  database(timeoutMs: number): Promise<void>;
  /** Workers that are connected, do not drain and have a Chrome, and their slots. */
  workers(): { ready: number; slots: number } | Promise<{ ready: number; slots: number }>;
}

/**
 * Probes cannot load the system: a check runs at most once in CACHE_MS and delays a probe by at
 * most LIMIT_MS.
 */
const LIMIT_MS = 1_000;
const CACHE_MS = 1_000;

interface Report {
  good: boolean;
  shown: Record<string, unknown>;
}

/**
 * Runs `check` at most once in CACHE_MS; one that rejects or takes longer than LIMIT_MS is shown as
 * `failed`.
 */
function cached(
  check: () => Promise<Report>,
  failed: Report['shown'],
  nowMs: () => number,
): () => Promise<Report> {
  let last: { at: number; report: Promise<Report> } | undefined;
  const unavailable: Report = { good: false, shown: failed };
  const bounded = () =>
    new Promise<Report>(resolve => {
      const timer = setTimeout(resolve, LIMIT_MS, unavailable);
      void check()
        .catch(() => unavailable)
        .then(resolve)
        .finally(() => clearTimeout(timer));
    });
  return () => {
    if (!last || nowMs() - last.at >= CACHE_MS) last = { at: nowMs(), report: bounded() };
    return last.report;
  };
}

const json = (ctx: Context, status: number, body: unknown): void => {
  ctx.status = status;
  ctx.set('Cache-Control', 'no-store');
  ctx.body = body;
};

/** 200 while the process is running. */
export const healthz: Middleware = ctx => json(ctx, 200, { status: 'ok' });

/**
 * 200 when the database responds and at least one worker can render, else 503; the body contains
 * the result of each check.
 */
export function readyz(checks: HealthChecks, nowMs = () => performance.now()): Middleware {
  const checkDatabase = async () => {
    await checks.database(LIMIT_MS);
    return { good: true, shown: { status: 'ok' } };
  };
  const checkWorkers = async () => {
    const { ready, slots } = await checks.workers();
    return { good: slots > 0, shown: { ready, slots } };
  };
  const database = cached(checkDatabase, { status: 'unavailable' }, nowMs);
  const workers = cached(checkWorkers, { ready: 0, slots: 0 }, nowMs);
  return async ctx => {
    const [ofDatabase, ofWorkers] = await Promise.all([database(), workers()]);
    const good = ofDatabase.good && ofWorkers.good;
    const shown = { database: ofDatabase.shown, workers: ofWorkers.shown };
    json(ctx, good ? 200 : 503, { status: good ? 'ready' : 'unavailable', checks: shown });
  };
}
