// Reports the state of a pool: its status, Events about changes, and log messages.
import type { Log } from '../common/log.ts';
import {
  type BrowserPool,
  type BrowserPoolStatus,
  GROUP,
  KIND,
  VERSION,
} from '../crds/browser-pool.ts';
import type { PoolMetrics } from './controller-metrics.ts';
import { countText } from './decide/messages.ts';
import type { Decision } from './decide/model.ts';
import type { Events } from './kubernetes/events.ts';
import { type Newest, newestOf, wrote } from './kubernetes/newest.ts';
import type { Kubernetes } from './kubernetes/resources.ts';
import { KubernetesError } from './kubernetes/transport.ts';
import type { PoolLoad } from './load/load-cache.ts';
import { PAGE_ENDS_MINUTES, pageEndsNote } from './load/page-ends.ts';
import { changedFor, needsWrite, reasonOf, WORSE } from './status.ts';

/** Delay before a rejected status is written again. */
const STATUS_RETRY_MS = 15_000;

/** Previous reports of a pool. */
export interface ReportHistory {
  statusWrittenAt: number;
  /** No write of the status before this, because the last one was rejected. */
  statusRetryAt: number;
  /** No Event about pages that hit limits before this. */
  pageEndsAfter: number;
  /** The pool returned by the last write of its status. The watch may lag behind it. */
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
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  sizeChanged(pool: BrowserPool, from: number | undefined, decision: Decision): void {
    const to = decision.pods;
    const { namespace, name } = pool.metadata;
    this.#deps.metrics.decided(pool, decision.reason);
    this.#deps.log.info(
      { namespace, pool: name, from, to, reason: decision.reason, why: decision.message },
      'scaled the pool',
    );
    const action = from === undefined ? 'Created' : to > from ? 'ScaledUp' : 'ScaledDown';
    this.#deps.events.report(pool, {
      type: 'Normal',
      reason: reasonOf(decision),
      action,
      note: `${from === undefined ? `Created with ${countText(to, 'pod')}.` : `Scaled from ${from} to ${countText(to, 'pod')}.`} ${decision.message}`,
    });
  }

  /** At most one Event per reporting window, so that each end is reported once. */
  pageEnds(history: ReportHistory, pool: BrowserPool, { pageEnds }: PoolLoad, now: number): void {
    const note = now < history.pageEndsAfter ? undefined : pageEndsNote(pageEnds);
    if (note === undefined) return;
    history.pageEndsAfter = now + PAGE_ENDS_MINUTES * 60_000;
    this.#deps.events.report(pool, {
      type: 'Warning',
      reason: 'PagesHitBounds',
      action: 'Observed',
      note,
    });
  }

  /**
   * Writes the status if it has changed. Returns whether it is up to date. A rejected status does
   * not block scaling: it is retried later.
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
      this.#deps.log.warn(
        { namespace, pool: name, err: error },
        'could not write the status of the pool; retrying later',
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
    // With its resourceVersion, so that the API server rejects a late write of a former leader, or
    // one based on a pool that has been recreated.
    const metadata = { name, namespace, resourceVersion };
    const written = await this.#deps.api.apply<BrowserPool>(
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
      this.#deps.log[isBad ? 'warn' : 'info'](
        { namespace, pool: name, condition: type, status, reason, why: message },
        'condition of the pool changed',
      );
      this.#deps.events.report(pool, {
        type: isBad ? 'Warning' : 'Normal',
        reason,
        action: 'Observed',
        note: `${type} is ${status}. ${message}`,
      });
    }
  }
}
