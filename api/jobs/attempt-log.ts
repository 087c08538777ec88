// The attempts of a job as its document logs them: at most MAX_ATTEMPTS, since one that does not
// count is not logged. Pure, and the expressions of the writes that change the log.
import type { ApiError } from '../../common/contract/errors.ts';
import type { Document, JobDocument, JobError, LoggedAttempt } from '../store/store.ts';

type Logged = Pick<JobDocument, 'attemptLog'>;

/** Attempts that began and count. */
export const attemptsOf = ({ attemptLog = [] }: Logged): number => attemptLog.length;

const log: Document = { $ifNull: ['$attemptLog', []] };
const hasEnded: Document = { $ne: [{ $type: '$$this.endedAt' }, 'missing'] };

/** With an attempt that begins now. */
export const withAttempt: Document = { $concatArrays: [log, [{ startedAt: '$$NOW' }]] };

/** Without the current attempt. */
export const withoutAttempt: Document = {
  $filter: { input: log, as: 'this', cond: hasEnded },
};

/** With the end of the current attempt, now. Without an error it was interrupted. */
export const withEndedAttempt = (error: LoggedAttempt['error']): Document => ({
  $map: {
    input: log,
    in: {
      $cond: [
        hasEnded,
        '$$this',
        { $mergeObjects: ['$$this', { endedAt: '$$NOW', ...(error && { error }) }] },
      ],
    },
  },
});

/** Without the message. */
export const codeOf = ({
  code,
  reason,
}: Partial<ApiError> & Pick<ApiError, 'code'>): Pick<JobError, 'code' | 'reason'> => ({
  code,
  ...(reason && { reason }),
});

export interface JobAttempt extends LoggedAttempt {
  outcome: 'running' | 'interrupted' | 'succeeded' | 'failed' | 'canceled' | 'expired';
}

/** In their order. The last attempt of a job that has ended ended with it. */
export function attemptHistory({
  attemptLog = [],
  endedAt,
  status,
  error,
  lastInterrupted,
}: Logged & Pick<JobDocument, 'endedAt' | 'status' | 'error' | 'lastInterrupted'>): JobAttempt[] {
  return attemptLog.map(attempt => {
    if (attempt.endedAt) return { ...attempt, outcome: attempt.error ? 'failed' : 'interrupted' };
    if (!endedAt || status === 'queued') return { ...attempt, outcome: 'running' };
    if (lastInterrupted) return { ...attempt, endedAt, outcome: 'interrupted' };
    return { ...attempt, endedAt, outcome: status, ...(error && { error }) };
  });
}
