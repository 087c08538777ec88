// `npm run fuzz -- [--minutes N] [--seed S] [--only addresses|urls|contract|frames]`: each fuzzer
// for N minutes. Exits with 1 when there is a finding.
import { parseArgs } from 'node:util';
import { addresses } from './addresses.ts';
import { contract } from './contract.ts';
import { frames } from './frames.ts';
import { runFuzzer } from './fuzzer.ts';
import { urls } from './urls.ts';

const FUZZERS = [addresses, urls, contract, frames];

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    only: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const chosen = FUZZERS.filter(({ name }) => values.only === undefined || name === values.only);
if (!(minutes > 0)) throw new Error(`--minutes ${values.minutes}: accepted is a number above 0`);
if (!Number.isSafeInteger(seed) || seed < 0)
  throw new Error(`--seed ${values.seed}: accepted is a whole number from 0 on`);
if (chosen.length === 0)
  throw new Error(
    `--only ${values.only}: accepted is one of ${FUZZERS.map(({ name }) => name).join(', ')}`,
  );

for (const fuzzer of chosen) {
  const end = performance.now() + minutes * 60_000;
  console.log(`${fuzzer.name}: ${minutes} min from seed ${seed}`);
  const { cases, findings } = runFuzzer(fuzzer, seed, () => performance.now() >= end);
  for (const { seed: own, problem } of findings)
    console.log(
      `\nFINDING, again by --only ${fuzzer.name} --seed ${own} --minutes 0.001\n${problem}\n`,
    );
  console.log(
    `${fuzzer.name}: ${cases} cases, ${findings.length === 0 ? 'no finding' : `${findings.length} findings`}`,
  );
  if (findings.length > 0) process.exitCode = 1;
}
