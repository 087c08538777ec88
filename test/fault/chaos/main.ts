// `npm run chaos -- --minutes N --seed S`: runs of chaos, two minutes each, for the given time.
// Ends with 1 at the first that broke a promise.
import { parseArgs } from 'node:util';
import { findOrInstallChrome } from '../../../standalone/chrome.ts';
import { readWorkerConfig } from '../../../worker/config.ts';
import { runChaos } from './run-chaos.ts';

const RUN_MS = 120_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string' },
    quiet: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
let seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
if (!(minutes > 0) || !Number.isSafeInteger(seed)) {
  console.error('--minutes takes a number above 0, --seed a whole number.');
  process.exit(2);
}

process.env['PRESSROOM_CHROME'] = await findOrInstallChrome(
  process.env,
  console.log,
  readWorkerConfig(process.env).chrome.uid,
);
const totalMs = minutes * 60_000;
for (let doneMs = 0; doneMs < totalMs; seed++) {
  const forMs = Math.min(RUN_MS, totalMs - doneMs);
  doneMs += forMs;
  console.log(`seed ${seed}, ${Math.round(forMs / 1000)} s of chaos`);
  const { violations, ends, warm, faults, members } = await runChaos(
    seed,
    forMs,
    line => values.quiet || console.log(`  ${line}`),
  );
  console.log(
    `  MongoDB of ${members}; ${Object.values(faults).reduce((total, each) => total + each, 0)} faults; callers got ${JSON.stringify(ends)}, ${warm} of them in a warm page`,
  );
  if (violations.length > 0) {
    console.log(
      `  BROKEN, once more with --seed ${seed}:\n${violations.map(line => `    ${line}`).join('\n')}`,
    );
    process.exit(1);
  }
}
console.log('every promise held');
process.exit(0);
