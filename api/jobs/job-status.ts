// The statuses of an asynchronous render and their transitions. Pure.
import type { JobStatus } from '../store/store.ts';

/** `running` to `queued`: the attempt was interrupted, and the job is tried again. */
const NEXT: Record<JobStatus, readonly JobStatus[]> = {
  queued: ['running', 'canceled', 'expired'],
  running: ['queued', 'succeeded', 'failed', 'canceled', 'expired'],
  succeeded: [],
  failed: [],
  canceled: [],
  expired: [],
};

const STATUSES = Object.keys(NEXT) as JobStatus[];

/** True for a status that never changes again. */
export const isFinalStatus = (status: JobStatus): boolean => NEXT[status].length === 0;

export const FINAL_STATUSES: readonly JobStatus[] = STATUSES.filter(isFinalStatus);

/** The statuses that may change to this one. */
export const statusesBefore = (status: JobStatus): JobStatus[] =>
  STATUSES.filter(before => NEXT[before].includes(status));
