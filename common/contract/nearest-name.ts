// "Did you mean": the name in a list that a mistyped one most likely stands for.

/** Longer names are no typing mistakes, and the work below grows with the square of the length. */
const MAX_LENGTH = 64;

/**
 * Steps from `a` to `b`, each one letter inserted, dropped, replaced, or swapped with its neighbour
 * (optimal string alignment).
 */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(replaced, last[j]! + 1, row[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, beforeLast[j - 2]! + 1);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

/** `printBackground`, `Print-Background` and `print.background` all read as `print_background`. */
const spelledLikeOurs = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-.\s]/g, '_')
    .toLowerCase();

/**
 * The name in `names` nearest to `name`: another spelling, a few typing mistakes, or a whole word
 * of it (`background`). Undefined when none is near.
 */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const wanted = spelledLikeOurs(name);
  const lastWord = name.slice(name.lastIndexOf('.') + 1);
  // Inside an object only the field's own letters count: `margin.foo` is not near `margin.top` for
  // the seven letters they share.
  const allowed = Math.max(1, Math.floor(lastWord.length / 3));
  const ranked = names
    .map(candidate => ({ candidate, steps: editDistance(wanted, spelledLikeOurs(candidate)) }))
    .sort((a, b) => a.steps - b.steps);
  if (ranked[0] && ranked[0].steps <= allowed) return ranked[0].candidate;
  if (wanted.length < 4) return undefined;
  const holding = names.filter(candidate =>
    `_${spelledLikeOurs(candidate)}_`.includes(`_${wanted}_`),
  );
  return holding.length === 1 ? holding[0] : undefined;
}
