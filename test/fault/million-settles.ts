// `npm run settles [-- --count 1000000 --seed S]`: so many renders of one account admitted and
// settled on a real mongod, looked at from outside. Prints what it saw; exits with 1 when the count
// is wrong or the account's document grows. A million take a quarter of an hour on two quiet cores.
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
  throw new Error('--count is a whole number from 100 to 1000000000');
if (!Number.isSafeInteger(seed)) throw new Error('--seed is a whole number');

const say = (line: string) => console.log(line);
say(
  `${count} renders of one account, 32 callers on a plan of 32, two API processes' leases; seed ${seed}`,
);
const began = performance.now();
const { violations, tally, counted, looks, most, last, perSecond } = await settles({
  count,
  chance: createChance(seed),
  say,
});
const minutes = (performance.now() - began) / 60_000;

say(`took ${minutes.toFixed(1)} min`);
say(
  `settled ${tally.sent} (${tally.renewed} after renewals, ${tally.late} after their lease had expired), counted ${counted}`,
);
say(
  `not counted: ${tally.released} released, ${tally.abandoned} abandoned, ${tally.repeated} settled a second time`,
);
say(`admissions tried again: ${tally.refused} over the plan, ${tally.unknown} without an answer`);
say(
  `the most that ${looks} looks saw: ${most.leases} leases, ${most.expired} of them expired, ${most.bytes} bytes`,
);
say(
  `at the end: ${last.arrays['leases']} leases, ${last.bytes} bytes, ${last.bytesWithoutLeases} of them not leases (as before the first render)`,
);
const [first, end] = [perSecond[0]!, perSecond.at(-1)!];
say(
  `pairs/s: ${first.toFixed(0)} in the first tenth, ${end.toFixed(0)} in the last (${(end / first).toFixed(2)})`,
);

const crashed = await crashHistory();
say(
  `after ten minutes of crashes: ${crashed.kept} of ${crashed.expired} expired leases are kept; an admission takes ${crashed.admitRatio.toFixed(2)} times as long as with none (${crashed.admitMs.history.toFixed(2)} against ${crashed.admitMs.none.toFixed(2)} ms), 32 callers at once ${crashed.crowdRatio.toFixed(2)} times`,
);
for (const violation of violations) say(`VIOLATION: ${violation}`);
say(violations.length > 0 ? 'FAILED' : 'The count is exact and nothing grows.');
if (violations.length > 0) process.exitCode = 1;
