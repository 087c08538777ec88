// Limits the changes of one user through the management API: each writes an entry to the audit log,
// which is never deleted. Use of the dashboard stays far below the limit.
import { ApiError } from '../../../common/contract/errors.ts';
import { createWindowCount } from '../../history/window-count.ts';

export const MAX_CHANGES = 300;
const WINDOW_MS = 60_000;

/** Counts per user, in this process. Throws ApiError `rate_limited`. */
export function createChangeBound(): (user: string) => void {
  const changes = createWindowCount(MAX_CHANGES, WINDOW_MS);
  return user => {
    if (changes.take(user)) return;
    const retryAfterS = Math.max(1, Math.ceil(changes.leftMs() / 1_000));
    throw new ApiError(
      'rate_limited',
      `Too many changes: the limit is ${MAX_CHANGES} per minute. Try again in ${retryAfterS} s.`,
      { retryAfterS },
    );
  };
}
