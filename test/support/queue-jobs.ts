// Helpers of the queue tests: jobs, limits that no test reaches, and taking entries without
// throttling.
import type { FairQueue, Queued, QueueEntry } from '../../api/queue/fair-queue.ts';

export interface Job extends Queued {
  id: number;
}

export type JobQueue = FairQueue<Job>;

export const largeLimits = { maxLength: 1_000, maxBytes: 1e9 };

export const job = (accountId: string, id: number, { trial = false, bytes = 1 } = {}): Job => ({
  accountId,
  id,
  trial,
  bytes,
});

/** Adds a job. Throws when the queue rejects it. */
export function add(queue: JobQueue, job: Job, nowMs = 0): QueueEntry<Job> {
  const entry = queue.add(job, nowMs);
  if (typeof entry === 'string') throw new Error(`the queue rejected the job: ${entry}`);
  return entry;
}

/** Takes an entry with enough free slots that no account is throttled. */
export const take = (queue: JobQueue, nowMs = 0) => queue.take(nowMs, { free: 100, slots: 100 });
