// What tests of the queue share: jobs, a queue with room for all of them, and taking one where nobody is held back.
import type { createQueue, Place, Queued } from '../../api/queue/fair-queue.ts';

export interface Job extends Queued {
  id: number;
}

export type JobQueue = ReturnType<typeof createQueue<Job>>;

export const roomy = { maxLength: 1_000, maxBytes: 1e9 };

export const job = (accountId: string, id: number, { trial = false, bytes = 1 } = {}): Job => ({ accountId, id, trial, bytes });

/** Adds a job for which there is room. */
export function add(queue: JobQueue, wanted: Job, nowMs = 0): Place<Job> {
  const place = queue.add(wanted, nowMs);
  if (typeof place === 'string') throw new Error(`refused: ${place}`);
  return place;
}

/** Slots for all, so that nobody is held back. */
export const take = (queue: JobQueue, nowMs = 0) => queue.take(nowMs, { free: 100, slots: 100 });
