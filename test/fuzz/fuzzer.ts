// What the fuzzers share: a fuzzer tries one case that chance chooses, and throws when something
// that must always hold does not.
import { type Chance, createChance } from '../fault/harness/random.ts';

export interface Fuzzer {
  name: string;
  /** Tries one case. Throws an Error whose message shows it when it breaks a rule. */
  attempt(chance: Chance): void;
}

/** `seed` alone repeats the case. */
export interface Finding {
  fuzzer: string;
  seed: number;
  problem: string;
}

const MAX_FINDINGS = 5;
/** How many cases pass between two looks at the clock. */
const ROUND = 100;

/**
 * Runs cases from `seed` on, each by a seed of its own, until `isOver` says so; stops at the fifth
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

/** Throws with what was tried when a rule does not hold. */
export function holds(rule: boolean, what: string, tried: unknown): void {
  if (!rule)
    throw new Error(
      `${what}: ${typeof tried === 'string' ? JSON.stringify(tried) : JSON.stringify(tried)?.slice(0, 2_000)}`,
    );
}

/**
 * A text with some of its characters replaced, doubled, left out, or with others put in between.
 */
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
