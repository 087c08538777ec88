// "Did you mean": finds the name in a list that is closest to a mistyped name.

/** Limits the work, which is quadratic in the length. */
const MAX_LENGTH = 64;

/** Edit distance with transpositions (optimal string alignment). */
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

/** `printBackground`, `Print-Background` and `print.background` become `print_background`. */
const toSnakeCase = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-.\s]/g, '_')
    .toLowerCase();

/**
 * The name in `names` closest to `name`: another spelling, a few typos, or one whole word of it
 * (`background`). Undefined when none is close.
 */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const given = toSnakeCase(name);
  const lastWord = name.slice(name.lastIndexOf('.') + 1);
  // Only the last part of a nested name counts: the shared `margin.` does not make `margin.foo`
  // close to `margin.top`.
  const allowed = Math.max(1, Math.floor(lastWord.length / 3));
  const ranked = names
    .map(candidate => ({ candidate, steps: editDistance(given, toSnakeCase(candidate)) }))
    .sort((a, b) => a.steps - b.steps);
  if (ranked[0] && ranked[0].steps <= allowed) return ranked[0].candidate;
  if (given.length < 4) return undefined;
  const holding = names.filter(candidate => `_${toSnakeCase(candidate)}_`.includes(`_${given}_`));
  return holding.length === 1 ? holding[0] : undefined;
}
