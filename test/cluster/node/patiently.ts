// Waits for what takes a cluster seconds or minutes: asks twice a second, so that the asking does
// not slow down what is waited for.
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 500;

/**
 * Resolves with what `look` gives once it no longer throws; rejects with its last error after
 * `limitMs`.
 */
export async function patiently<T>(look: () => T | Promise<T>, limitMs: number): Promise<T> {
  for (const end = performance.now() + limitMs; ; await sleep(PAUSE_MS)) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
}
