// How many changes one person makes through the management API: each leaves a line in the audit log, which is kept for ever. Nobody who clicks comes near it.
import { ApiError } from '../../contract/errors.ts';

const MAX_CHANGES = 300;
const WINDOW_MS = 60_000;

/** Counts a change of this person, in this process. Throws ApiError `rate_limited`. `nowMs` is monotonic. */
export function createChangeBound(nowMs = () => performance.now()): (user: string) => void {
  let endsMs = nowMs() + WINDOW_MS;
  let counts = new Map<string, number>();
  return user => {
    if (nowMs() >= endsMs) {
      endsMs = nowMs() + WINDOW_MS;
      counts = new Map();
    }
    const before = counts.get(user) ?? 0;
    if (before >= MAX_CHANGES) {
      const retryAfterS = Math.max(1, Math.ceil((endsMs - nowMs()) / 1_000));
      throw new ApiError('rate_limited', `You change too much at once: at most ${MAX_CHANGES} times a minute. Wait ${retryAfterS} s.`, {
        retryAfterS,
      });
    }
    counts.set(user, before + 1);
  };
}
