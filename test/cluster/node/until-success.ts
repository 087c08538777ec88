// Waits for a cluster by polling twice a second, which hardly slows the cluster down.
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 500;

/**
 * Resolves with the result of `attempt` once it does not throw. Rejects with its last error after
 * `limitMs`.
 */
export async function untilSuccess<T>(attempt: () => T | Promise<T>, limitMs: number): Promise<T> {
  for (const end = performance.now() + limitMs; ; await sleep(PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
}
