// Reports on a pool: its status, Events about what changed, and lines in the log.
import type { Log } from '../common/log.ts';
import {
  type BrowserPool,
  type BrowserPoolStatus,
  GROUP,
  KIND,
  VERSION,
} from '../crds/browser-pool.ts';
import type { PoolMetrics } from './controller-metrics.ts';
import type { Decision } from './decide/model.ts';
import type { Events } from './kubernetes/events.ts';
import { type Newest, newestOf, wrote } from './kubernetes/newest.ts';
import type { Kubernetes } from './kubernetes/resources.ts';
import { KubernetesError } from './kubernetes/transport.ts';
import type { PoolLoad } from './load/load-cache.ts';
import { PAGE_ENDS_MINUTES, pageEndsNote } from './load/page-ends.ts';
import { changedFor, needsWrite, reasonWord, WORSE } from './status.ts';

/** How soon a status that was refused is written again. */
const STATUS_RETRY_MS = 15_000;

/** What was reported of a pool before. */
export interface ReportHistory {
  statusWrittenAt: number;
  /** No write of the status before this, since one was refused. */
  statusRetryAt: number;
  /** The next Event about pages that hit bounds is written not before this. */
  pageEndsAfter: number;
  /** The pool as returned by the last write of its status: the watch may not have it yet. */
  written: Newest<BrowserPool> | undefined;
}

export const noReports = (): ReportHistory => ({
  statusWrittenAt: Number.NEGATIVE_INFINITY,
  statusRetryAt: Number.NEGATIVE_INFINITY,
  pageEndsAfter: Number.NEGATIVE_INFINITY,
  written: undefined,
});

interface Deps {
  api: Kubernetes;
  events: Events;
  metrics: PoolMetrics;
  log: Log;
}

export class Reporter {
  readonly #api: Kubernetes;
  readonly #events: Events;
  readonly #metrics: PoolMetrics;
  readonly #log: Log;

  constructor({ api, events, metrics, log }: Deps) {
    this.#api = api;
    this.#events = events;
    this.#metrics = metrics;
    this.#log = log;
  }

  sizeChanged(pool: BrowserPool, from: number | undefined, decision: Decision): void {
    const to = decision.pods;
    const { namespace, name } = pool.metadata;
    this.#metrics.decided(pool, decision.reason);
    this.#log.info(
      { namespace, pool: name, from, to, reason: decision.reason, why: decision.message },
      'the size of a pool changes',
    );
    const action = from === undefined ? 'Created' : to > from ? 'ScaledUp' : 'ScaledDown';
    this.#events.report(pool, {
      type: 'Normal',
      reason: reasonWord(decision),
      action,
      note: `${from === undefined ? '' : `${from} to `}${to} pods. ${decision.message}`,
    });
  }

  /** At most once in the time that the numbers cover, so that each end is in one Event. */
  pageEnds(history: ReportHistory, pool: BrowserPool, { pageEnds }: PoolLoad, now: number): void {
    const note = now < history.pageEndsAfter ? undefined : pageEndsNote(pageEnds);
    if (note === undefined) return;
    history.pageEndsAfter = now + PAGE_ENDS_MINUTES * 60_000;
    this.#events.report(pool, {
      type: 'Warning',
      reason: 'PagesHitBounds',
      action: 'Observed',
      note,
    });
  }

  /**
   * Writes the status when it has changed. A refused status does not keep the pool from its size:
   * it is retried later. True when it is up to date.
   */
  async status(
    history: ReportHistory,
    pool: BrowserPool,
    status: BrowserPoolStatus,
    now: number,
  ): Promise<boolean> {
    if (now < history.statusRetryAt) return false;
    try {
      await this.#writeStatus(history, pool, status, now);
      return true;
    } catch (error) {
      if (!(error instanceof KubernetesError) || error.status === 409) throw error;
      history.statusRetryAt = now + STATUS_RETRY_MS;
      const { namespace, name } = pool.metadata;
      this.#log.warn(
        { namespace, pool: name, err: error },
        'the status of a pool could not be written; trying again in a while',
      );
      return false;
    }
  }

  async #writeStatus(
    history: ReportHistory,
    pool: BrowserPool,
    status: BrowserPoolStatus,
    now: number,
  ): Promise<void> {
    const newest = newestOf(pool, history.written);
    const before = newest.status;
    if (!needsWrite(before, status, now - history.statusWrittenAt)) return;
    const { name, namespace, resourceVersion } = newest.metadata;
    // With its version: a late write of a leader that was frozen, or of a look at a pool that was
    // created again, is refused.
    const metadata = { name, namespace, resourceVersion };
    const written = await this.#api.apply<BrowserPool>(
      'browserpools',
      { apiVersion: `${GROUP}/${VERSION}`, kind: KIND, metadata, status },
      'status',
    );
    history.statusWrittenAt = now;
    history.written = wrote(written, pool, history.written);
    this.#conditionsChanged(pool, before, status);
  }

  #conditionsChanged(
    pool: BrowserPool,
    before: BrowserPoolStatus | undefined,
    after: BrowserPoolStatus,
  ): void {
    const { namespace, name } = pool.metadata;
    for (const { type, status, reason, message } of changedFor(before, after)) {
      const isBad = WORSE[type] === status;
      this.#log[isBad ? 'warn' : 'info'](
        { namespace, pool: name, condition: type, status, reason, why: message },
        'a condition of a pool changes',
      );
      this.#events.report(pool, {
        type: isBad ? 'Warning' : 'Normal',
        reason,
        action: 'Observed',
        note: `${type} is ${status}. ${message}`,
      });
    }
  }
}
