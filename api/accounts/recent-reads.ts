// A cache of recent reads by name, limited in size and time. Concurrent calls share one read.
import { LRUCache } from 'lru-cache';

/**
 * Caches each value for `forMs`, except failed reads and values for which `kept` is false. `nowMs`
 * is monotonic.
 */
export function createRecentReads<T>(
  { most, forMs, kept = () => true }: { most: number; forMs: number; kept?: (found: T) => boolean },
  nowMs: () => number,
) {
  const reads = new LRUCache<string, Promise<T>>({
    max: most,
    ttl: forMs,
    ttlResolution: 0,
    perf: { now: nowMs },
  });
  return {
    /** Removes the cached value unless it was read less than `minAgeMs` ago. */
    forget(name: string, minAgeMs = 0): void {
      if (forMs - reads.getRemainingTTL(name) >= minAgeMs) reads.delete(name);
    },
    /** Returns the cached value of this name, or calls `read`. Rejects when `read` does. */
    of(name: string, read: () => Promise<T>): Promise<T> {
      const known = reads.get(name);
      if (known) return known;
      const found = read();
      reads.set(name, found);
      // A later read may have replaced it.
      const drop = () => reads.peek(name) === found && reads.delete(name);
      found.then(value => !kept(value) && drop(), drop);
      return found;
    },
  };
}
