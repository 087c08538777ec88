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
