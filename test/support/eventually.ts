// Waits for something to become true that no event tells of: asks again every few milliseconds, for
// 10 s at most unless told otherwise.
import { setTimeout as sleep } from 'node:timers/promises';

const LIMIT_MS = 10_000;

/** Resolves with what `look` gives once it no longer throws; rejects with its last error. */
export async function eventually<T>(look: () => T | Promise<T>, limitMs = LIMIT_MS): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await sleep(5);
  }
}
