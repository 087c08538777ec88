// Limits the rejected renders that the render log stores per account and second. All of them are
// counted.
import { createWindowCount } from './window-count.ts';

const KEPT_EACH_SECOND = 10;
const SECOND_MS = 1_000;

/** Returns whether to store one more rejected render of the account. `nowMs` is monotonic. */
export const createRefusalBound = (nowMs?: () => number): ((account: string) => boolean) =>
  createWindowCount(KEPT_EACH_SECOND, SECOND_MS, nowMs).take;
