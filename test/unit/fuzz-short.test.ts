import { expect } from 'chai';
import { chanceOfThisRun } from '../fault/harness/random.ts';
import { addresses } from '../fuzz/addresses.ts';
import { contract } from '../fuzz/contract.ts';
import { frames } from '../fuzz/frames.ts';
import { type Fuzzer, runFuzzer } from '../fuzz/fuzzer.ts';
import { urls } from '../fuzz/urls.ts';

// `npm run fuzz` does the same for minutes.
const SHORT: [fuzzer: Fuzzer, cases: number][] = [
  [addresses, 10_000],
  [urls, 10_000],
  [contract, 3_000],
  [frames, 10_000],
];

describe('a short run of the fuzzer', () => {
  for (const [fuzzer, count] of SHORT) {
    it(`reports no finding: ${fuzzer.name}`, function () {
      this.timeout(120_000);
      const { seed } = chanceOfThisRun(`the fuzzer of ${fuzzer.name}`);
      const { cases, findings } = runFuzzer(fuzzer, seed, done => done >= count);
      expect(findings).to.deep.equal([]);
      expect(cases).to.equal(count);
    });
  }

  it('reports a planted finding with the seed that repeats it', () => {
    const broken: Fuzzer = {
      name: 'broken',
      attempt: chance => {
        if (chance.seed === 1_042) throw new Error('it happened');
      },
    };
    const { findings } = runFuzzer(broken, 1_000, done => done >= 100);
    expect(findings.map(({ fuzzer, seed }) => ({ fuzzer, seed }))).to.deep.equal([
      { fuzzer: 'broken', seed: 1_042 },
    ]);
    expect(findings[0]!.problem).to.contain('it happened');
  });
});
