// How many changes one person makes through the management API: each leaves a line in the audit
// log, which is kept for ever. Nobody who clicks comes near it.
import { ApiError } from '../../../common/contract/errors.ts';
import { createWindowCount } from '../../history/window-count.ts';

export const MAX_CHANGES = 300;
const WINDOW_MS = 60_000;

/**
 * Counts a change of this person, in this process. Throws ApiError `rate_limited`. `nowMs` is
 * monotonic.
 */
export function createChangeBound(nowMs?: () => number): (user: string) => void {
  const changes = createWindowCount(MAX_CHANGES, WINDOW_MS, nowMs);
  return user => {
    if (changes.take(user)) return;
    const retryAfterS = Math.max(1, Math.ceil(changes.leftMs() / 1_000));
    throw new ApiError(
      'rate_limited',
      `You change too much at once: at most ${MAX_CHANGES} times a minute. Wait ${retryAfterS} s.`,
      {
        retryAfterS,
      },
    );
  };
}
