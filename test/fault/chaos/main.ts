// `npm run chaos -- --minutes N --seed S`: runs of chaos, two minutes each, for the given time.
// Ends with 1 at the first that broke a promise. With `--jobs N`, one run of the whole time with as
// many asynchronous renders, such as `--minutes 10 --jobs 5000`.
import { parseArgs } from 'node:util';
import { findOrInstallChrome } from '../../../standalone/chrome.ts';
import { readWorkerConfig } from '../../../worker/config.ts';
import { runChaos } from './run-chaos.ts';
import { runJobChaos } from './run-job-chaos.ts';

const RUN_MS = 120_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string' },
    jobs: { type: 'string' },
    quiet: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
let seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const jobs = values.jobs === undefined ? undefined : Number(values.jobs);
const areJobs = jobs === undefined || (Number.isSafeInteger(jobs) && jobs > 0);
if (!(minutes > 0) || !Number.isSafeInteger(seed) || !areJobs) {
  console.error(
    '--minutes takes a number above 0, --seed a whole number, --jobs a whole number above 0.',
  );
  process.exit(2);
}

process.env['PRESSROOM_CHROME'] = await findOrInstallChrome(
  process.env,
  console.log,
  readWorkerConfig(process.env).chrome.uid,
);
const log = (line: string) => values.quiet || console.log(`  ${line}`);
/** Ends the process when a promise was broken. */
function expectNone(violations: readonly string[]): void {
  if (violations.length === 0) return;
  const lines = violations.map(line => `    ${line}`).join('\n');
  console.log(`  BROKEN. Repeat it with --seed ${seed}:\n${lines}`);
  process.exit(1);
}
const totalMs = minutes * 60_000;
if (jobs !== undefined) {
  console.log(`seed ${seed}, ${Math.round(totalMs / 1000)} s of chaos with ${jobs} jobs`);
  const { violations, ...figures } = await runJobChaos({ seed, forMs: totalMs, jobs, log });
  console.log(`  ${JSON.stringify(figures)}`);
  expectNone(violations);
}
for (let doneMs = 0; jobs === undefined && doneMs < totalMs; seed++) {
  const forMs = Math.min(RUN_MS, totalMs - doneMs);
  doneMs += forMs;
  console.log(`seed ${seed}, ${Math.round(forMs / 1000)} s of chaos`);
  const { violations, ends, warm, faults, members } = await runChaos(seed, forMs, log);
  console.log(
    `  MongoDB of ${members}; ${Object.values(faults).reduce((total, each) => total + each, 0)} faults; callers got ${JSON.stringify(ends)}, ${warm} of them in a warm page`,
  );
  expectNone(violations);
}
console.log('every promise held');
process.exit(0);
