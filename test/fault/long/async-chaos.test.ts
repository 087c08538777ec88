// @proves POST /v1/renders, usage
// Two minutes of chaos with asynchronous renders. `npm run chaos -- --jobs N` runs for any duration.
import { expect } from 'chai';
import { runJobChaos } from '../chaos/run-job-chaos.ts';
import { chanceOfThisRun } from '../harness/random.ts';

const RUN_MS = 120_000;
const JOBS = 600;
/** Includes the jobs that wait at the end; a busy machine needs more. */
const LONGEST_MS = 900_000;

describe('chaos with asynchronous renders', function () {
  this.timeout(LONGEST_MS);

  it('loses none and counts each once', async () => {
    const lines: string[] = [];
    const { seed } = chanceOfThisRun('chaos with asynchronous renders');
    const report = await runJobChaos({
      seed,
      forMs: RUN_MS,
      jobs: JOBS,
      log: line => lines.push(line),
    });
    expect(report.violations, `${lines.join('\n')}\n`).to.deep.equal([]);
    expect(report.accepted).to.equal(JOBS);
    expect(Object.keys(report.faults).length).to.be.greaterThan(5);
    console.log(`      ${JSON.stringify(report)}`);
  });
});
