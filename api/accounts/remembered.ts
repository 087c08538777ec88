// What a process remembers of accounts, keys and callers, by name: bounded, since names come from everywhere. Whether it still holds is for who asks to know.
export interface Remembered<T> {
  of(name: string): T | undefined;
  /** Undefined forgets. */
  learn(name: string, told: T | undefined): void;
}

/** One more than `most` forgets the one that was learnt longest ago. */
export function createRemembered<T>(most: number): Remembered<T> {
  const each = new Map<string, T>();
  return {
    of: name => each.get(name),
    learn(name, told) {
      each.delete(name);
      if (told === undefined) return;
      if (each.size >= most) each.delete(each.keys().next().value!);
      each.set(name, told);
    },
  };
}

export interface RecentReads<T> {
  /** What was read under this name lately, or what `read` gives now; calls that come at once share one read. Rejects as it does. */
  of(name: string, read: () => Promise<T>): Promise<T>;
  forget(name: string): void;
}

/** What was read is given for `forMs`, unless the read failed or found what is not `kept`. `nowMs` is monotonic. */
export function createRecentReads<T>(
  { most, forMs, kept = () => true }: { most: number; forMs: number; kept?: (found: T) => boolean },
  nowMs: () => number,
): RecentReads<T> {
  const remembered = createRemembered<{ atMs: number; found: Promise<T> }>(most);
  const forget = (name: string) => remembered.learn(name, undefined);
  return {
    forget,
    of(name, read) {
      const known = remembered.of(name);
      if (known && nowMs() - known.atMs < forMs) return known.found;
      const entry = { atMs: nowMs(), found: read() };
      // A later read may stand there by then.
      const drop = () => remembered.of(name) === entry && forget(name);
      entry.found.then(found => !kept(found) && drop(), drop);
      remembered.learn(name, entry);
      return entry.found;
    },
  };
}
