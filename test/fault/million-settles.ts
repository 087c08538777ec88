// `npm run settles [-- --count 1000000 --seed S]`: admits and settles renders of one account on a
// real mongod. Prints a report; exits with 1 when the count is wrong or the account's document
// grows. A million renders take 15 minutes on two idle cores.
import { parseArgs } from 'node:util';
import { crashHistory } from './crash-history.ts';
import { createChance } from './harness/random.ts';
import { settles } from './settles.ts';

const { values } = parseArgs({
  options: { count: { type: 'string', default: '1000000' }, seed: { type: 'string' } },
});
const count = Number(values.count);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
if (!Number.isInteger(count) || count < 100 || count > 1e9)
  throw new Error('--count must be an integer from 100 to 1000000000');
if (!Number.isSafeInteger(seed)) throw new Error('--seed must be an integer');

const print = (line: string) => console.log(line);
print(
  `${count} renders of one account, 32 callers on a plan of 32, two API processes' leases; seed ${seed}`,
);
const began = performance.now();
const { violations, tally, counted, looks, most, last, perSecond } = await settles({
  count,
  chance: createChance(seed),
  report: print,
});
const minutes = (performance.now() - began) / 60_000;

print(`took ${minutes.toFixed(1)} min`);
print(
  `settled ${tally.sent} (${tally.renewed} after renewals, ${tally.late} after their lease had expired), counted ${counted}`,
);
print(
  `not counted: ${tally.released} released, ${tally.abandoned} abandoned, ${tally.repeated} settled a second time`,
);
print(`admissions retried: ${tally.rejected} over the plan, ${tally.unknown} without a response`);
print(
  `maximum of ${looks} snapshots: ${most.leases} leases, ${most.expired} of them expired, ${most.bytes} bytes`,
);
print(
  `at the end: ${last.arrays['leases']} leases, ${last.bytes} bytes, ${last.bytesWithoutLeases} of them not leases (as before the first render)`,
);
const [first, end] = [perSecond[0]!, perSecond.at(-1)!];
print(
  `pairs/s: ${first.toFixed(0)} in the first tenth, ${end.toFixed(0)} in the last (${(end / first).toFixed(2)})`,
);

const crashed = await crashHistory();
print(
  `after ten minutes of crashes: ${crashed.kept} of ${crashed.expired} expired leases are kept; an admission takes ${crashed.admitRatio.toFixed(2)} times as long as without them (${crashed.admitMs.history.toFixed(2)} ms, ${crashed.admitMs.none.toFixed(2)} ms), with 32 callers ${crashed.crowdRatio.toFixed(2)} times`,
);
for (const violation of violations) print(`VIOLATION: ${violation}`);
print(violations.length > 0 ? 'FAILED' : 'The count is exact and the document does not grow.');
if (violations.length > 0) process.exitCode = 1;
