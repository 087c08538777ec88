// Two minutes of chaos with a new seed each time. `npm run chaos` runs for any duration.
import { expect } from 'chai';
import { type ChaosReport, runChaos } from '../chaos/run-chaos.ts';
import { chanceOfThisRun } from '../harness/random.ts';

const RUN_MS = 120_000;
/** Includes the last calls and the quiet period; a busy machine needs more. */
const LONGEST_MS = 600_000;

describe('chaos', function () {
  this.timeout(LONGEST_MS);

  it('violates no invariant', async () => {
    const lines: string[] = [];
    const report = await runChaos(chanceOfThisRun('chaos').seed, RUN_MS, line => lines.push(line));
    expect(report.violations, `${lines.join('\n')}\n`).to.deep.equal([]);
    expect(pdfs(report)).to.be.greaterThan(0);
    expect(Object.keys(report.faults).length).to.be.greaterThan(5);
  });
});

const pdfs = ({ ends }: ChaosReport) => ends['200 ok'] ?? 0;
