// What was read a moment ago, by name: bounded in number and time. Calls that come at once share one read.
import { LRUCache } from 'lru-cache';

export interface RecentReads<T> {
  /** What was read under this name lately, or what `read` returns now. Rejects as it does. */
  of(name: string, read: () => Promise<T>): Promise<T>;
  forget(name: string): void;
}

/** Keeps what was read for `forMs`, unless the read failed or found what is not `kept`. `nowMs` is monotonic. */
export function createRecentReads<T>(
  { most, forMs, kept = () => true }: { most: number; forMs: number; kept?: (found: T) => boolean },
  nowMs: () => number,
): RecentReads<T> {
  const reads = new LRUCache<string, Promise<T>>({
    max: most,
    ttl: forMs,
    ttlResolution: 0,
    perf: { now: nowMs },
  });
  return {
    forget: name => void reads.delete(name),
    of(name, read) {
      const known = reads.get(name);
      if (known) return known;
      const found = read();
      reads.set(name, found);
      // A later read may stand there by then.
      const drop = () => reads.peek(name) === found && reads.delete(name);
      found.then(value => !kept(value) && drop(), drop);
      return found;
    },
  };
}
