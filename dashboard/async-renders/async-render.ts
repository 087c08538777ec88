// What the list and the detail of asynchronous renders derive from one.
import type { AsyncRenderView } from '../../api/console/contract/async-renders.ts';

export const isUnfinished = ({ status }: Pick<AsyncRenderView, 'status'>) =>
  status === 'queued' || status === 'running';

/** Of one attempt or all, in ms. Null for a render that has not ended or never started. */
export const attemptsMs = ({
  started_at,
  ended_at,
}: Pick<AsyncRenderView, 'started_at' | 'ended_at'>): number | null =>
  started_at === undefined || ended_at === undefined
    ? null
    : Math.max(0, Date.parse(ended_at) - Date.parse(started_at));

export const hasPdf = ({ status, expires_at }: AsyncRenderView, nowMs = Date.now()) =>
  status === 'succeeded' && Date.parse(expires_at) > nowMs;
