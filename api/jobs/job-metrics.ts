// Metrics of asynchronous renders: those that wait, run in this process and ended in it.
import type { Metrics } from '../../common/operations.ts';
import type { Backlog } from './job-backlog.ts';
import { FINAL_STATUSES } from './job-status.ts';

interface Sources {
  running(): number;
  /** Running jobs that wait for a slot. */
  ready(): number;
  backlog(): Backlog;
}

export function jobMetrics(metrics: Metrics, { running, ready, backlog }: Sources) {
  const read = (name: string, help: string, value: () => number) =>
    metrics.gauge(name, help, [], gauge => gauge.set(value()));
  read(
    'pressroom_async_backlog',
    'Waiting asynchronous renders that may run now, within the limits of their accounts, and those that this process has prepared. Combine processes with max().',
    () => backlog().runnable + ready(),
  );
  read(
    'pressroom_async_waiting',
    'Waiting asynchronous renders of all accounts, counted up to 10,000. Combine processes with max().',
    () => backlog().waiting,
  );
  read(
    'pressroom_async_oldest_wait_seconds',
    'Age of the oldest waiting asynchronous render that may run now. Combine processes with max().',
    () => backlog().oldestWaitMs / 1_000,
  );
  read('pressroom_async_running', 'Asynchronous renders that this process runs.', running);
  const interruptions = metrics.counter(
    'pressroom_async_interruptions_total',
    'Attempts of asynchronous renders whose process ended, found by this process.',
  );
  return {
    /** With a final status. */
    ended: metrics.counterBy(
      'pressroom_async_renders_total',
      'Asynchronous renders that ended in this process, by status.',
      'status',
      FINAL_STATUSES,
    ),
    interrupted: () => interruptions.inc(),
  };
}
export type JobMetrics = ReturnType<typeof jobMetrics>;
