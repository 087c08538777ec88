// What tests of the queue share: jobs, a queue with room for all of them, and taking one where
// nobody is throttled.
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

/** Adds a job for which there is room. */
export function add(queue: JobQueue, wanted: Job, nowMs = 0): QueueEntry<Job> {
  const entry = queue.add(wanted, nowMs);
  if (typeof entry === 'string') throw new Error(`refused: ${entry}`);
  return entry;
}

/** Slots for all, so that nobody is throttled. */
export const take = (queue: JobQueue, nowMs = 0) => queue.take(nowMs, { free: 100, slots: 100 });
