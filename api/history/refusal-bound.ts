// How many refusals of one account are worth a line of the log: a few each second. All of them are
// counted.
import { createWindowCount } from './window-count.ts';

const KEPT_EACH_SECOND = 10;
const SECOND_MS = 1_000;

/** Gives whether one more refusal of this account is to be kept. `nowMs` is monotonic. */
export const createRefusalBound = (nowMs?: () => number): ((account: string) => boolean) =>
  createWindowCount(KEPT_EACH_SECOND, SECOND_MS, nowMs).take;
