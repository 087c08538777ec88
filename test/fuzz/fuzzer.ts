// The runner of all fuzzers: a fuzzer tries one random case and throws when an invariant does not
// hold.
import { type Chance, createChance } from '../fault/harness/random.ts';

export interface Fuzzer {
  name: string;
  /** Tries one case. Throws an Error that shows the case when it violates a rule. */
  attempt(chance: Chance): void;
}

/** `seed` is enough to repeat the case. */
export interface Finding {
  fuzzer: string;
  seed: number;
  problem: string;
}

const MAX_FINDINGS = 5;
/** Cases between two checks of the time limit. */
const ROUND = 100;

/**
 * Runs cases with ascending seeds from `seed` until `isOver` returns true; stops at the fifth
 * finding.
 */
export function runFuzzer(
  fuzzer: Fuzzer,
  seed: number,
  isOver: (cases: number) => boolean,
): { cases: number; findings: Finding[] } {
  const findings: Finding[] = [];
  let cases = 0;
  while (findings.length < MAX_FINDINGS && (cases % ROUND !== 0 || !isOver(cases))) {
    const own = (seed + cases) % 2 ** 31;
    cases++;
    try {
      fuzzer.attempt(createChance(own));
    } catch (error) {
      findings.push({
        fuzzer: fuzzer.name,
        seed: own,
        problem: (error as Error).stack ?? String(error),
      });
    }
  }
  return { cases, findings };
}

/** Throws an Error with the input when a rule does not hold. */
export function holds(rule: boolean, what: string, tried: unknown): void {
  if (!rule)
    throw new Error(
      `${what}: ${typeof tried === 'string' ? JSON.stringify(tried) : JSON.stringify(tried)?.slice(0, 2_000)}`,
    );
}

/** Replaces, doubles, removes or inserts some characters of a text. */
export function mutated(
  chance: Chance,
  text: string,
  alphabet: readonly string[],
  most = 4,
): string {
  let result = text;
  for (let changes = chance.int(0, most); changes > 0; changes--) {
    const at = chance.int(0, result.length);
    const put = chance.pick([
      chance.pick(alphabet),
      '',
      result.slice(at, at + chance.int(1, 5)).repeat(2),
    ]);
    result = result.slice(0, at) + put + result.slice(at + chance.int(0, 2));
  }
  return result;
}
