// Polls a condition that has no event, every 5 ms and for 40 s at most by default: less than the time
// limit of a test, and more than a machine stands still whose disk is shared.
import { setTimeout as sleep } from 'node:timers/promises';

const LIMIT_MS = 40_000;

/** Resolves with the result of `look` once it does not throw. Rejects with its last error. */
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
